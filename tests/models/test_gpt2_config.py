"""The sizes of GPT-2, what they cost and what decays."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import traverse_util

from anchorjax import config, models
from anchorjax.errors import ConfigError
from anchorjax.models import GPT2Config
from anchorjax.sweeps import cost
from tests.support import cases


def test_sizes_by_name():
    for size, fields in GPT2Config.sizes.items():
        c = config.default(model='gpt2', size=size)
        assert config.resolve(c).model == GPT2Config(**fields)
    line = r"size = 'large': must be one of \('tiny', 'small', 'medium'\)"
    with pytest.raises(ConfigError, match=line):
        config.default(model='gpt2', size='large')
    with pytest.raises(ConfigError, match=r"size = 'tiny': must be one of \(\)"):
        config.default(model='transformer', size='tiny')


@pytest.mark.parametrize(
    ('size', 'official'), [('small', 124_439_808), ('medium', 354_823_168)]
)
def test_the_official_number_of_parameters(size, official):
    c = config.default(model='gpt2', size=size)
    c.task.vocab = 50_257
    c.optimizer.warmup_steps = 0
    experiment = config.resolve(c)
    assert cost.num_parameters(experiment) == official
    # Twice the parameters of all matrices but the position table, for each token.
    model, matrices = experiment.model, 0
    tree = models.abstract_params(model, 50_257)
    for path, leaf in traverse_util.flatten_dict(tree).items():
        if path[-1].startswith('W_') and path[-1] != 'W_pos':
            matrices += leaf.size
    operations = model.forward_operations(1, 50_257, 1, last_only=False)
    attention = 4 * model.depth * model.width
    assert operations == 2 * matrices + attention


def compile_step(experiment: config.Experiment, length: int) -> Any:
    """A training step that scores every position, without the optimizer."""
    shape = jax.ShapeDtypeStruct((16, length), jnp.int32)
    params = models.abstract_params(experiment.model, 20)
    module = experiment.model.module(20, gamma=0.0)

    def compute_loss(params: Any, tokens_BT: jax.Array) -> jax.Array:
        logits = module.apply({'params': params}, tokens_BT, False).logits
        return jax.nn.logsumexp(logits, -1).mean()

    return jax.jit(jax.grad(compute_loss)).lower(params, shape).compile()


@pytest.mark.slow
@pytest.mark.parametrize(('depth', 'remat'), [(2, False), (6, False), (6, True)])
def test_the_formulas_are_near_what_the_compiler_counts(depth, remat):
    length = 64
    experiment = cases.tiny_gpt2(
        model__depth=depth, model__width=64, model__remat=remat, model__max_len=length
    )
    model = experiment.model
    compiled = compile_step(experiment, length)
    operations = 3 * 16 * model.forward_operations(length, 20, 16, last_only=False)
    counted = compiled.cost_analysis()['flops']
    forward_again = 4 / 3 if remat else 1
    assert 0.9 * forward_again < counted / operations < 1.35 * forward_again
    if not remat:  # which saves little on a CPU
        estimate = model.activation_bytes(length, 20, 16)
        needed = compiled.memory_analysis().temp_size_in_bytes
        assert 0.8 < needed / estimate < 1.5
