"""The sizes of GPT-2, what they cost, what decays, and mistakes in a config."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import traverse_util

from anchorjax import api, config, models, tasks
from anchorjax.errors import ConfigError
from anchorjax.models.gpt2 import SIZES
from anchorjax.sweeps import cost
from anchorjax.sweeps.plan import make_plan
from anchorjax.training.devices import make_mesh
from tests.support import cases
from tests.support.copy_task import CopyConfig
from tests.support.first_steps import make_decaying_step, measure_first_step

# Loss in nats and gradient norm of step 0, and W_embed[2, 3] before and after it.
GOLDEN = (3.48645, 5.90822, -0.569571, -0.559002)
MISTAKES = [
    ('heads', 3, 'model.heads = 3: must be a divisor of model.width, 8'),
    ('depth', 0, 'model.depth = 0: must be at least 1, at most 1,000'),
    ('fan', 'both', "model.fan = 'both': must be one of ('in', 'out')"),
    ('dtype', 'float16', "model.dtype = 'float16': must be one of ('float32', 'bf"),
    ('attention', 'flash', "model.attention = 'flash': must be one of ('fused', "),
    ('attention', 'cudnn', "model.dtype = 'float32': must be 'bfloat16' with model."),
    ('residual_init', 'none', "model.residual_init = 'none': must be one of ('scal"),
    ('embed_init', 0.02, "model.embed_init = 0.02: must be one of ('gamma', 'fixed')"),
    ('decayed', 'some', "model.decayed = 'some': must be one of ('all_but_biases', "),
    ('remat', 1, 'model.remat = 1: must be of type bool'),
    ('eps', 0.0, 'model.eps = 0.0: must be above 0'),
    ('max_len', 3, 'task.seq_len = 4: must be at most model.max_len, 3'),
]


@pytest.mark.parametrize(('field', 'value', 'line'), MISTAKES)
def test_a_mistake_is_one_line(field, value, line):
    c = config.default(model='gpt2')
    c.model.update(depth=2, width=8, heads=2, max_len=5)
    c.task.seq_len = 4
    with c.model.ignore_type():
        c.model[field] = value
    with pytest.raises(ConfigError) as caught:
        config.resolve(c)
    assert line in str(caught.value) and '\n' not in str(caught.value)


@pytest.mark.parametrize('heads', [2, 32])
def test_flash_attention_needs_heads_that_fit(heads):
    c = config.default(model='gpt2')  # of width 768: heads of 384, or of 24
    c.model.update(attention='cudnn', dtype='bfloat16', heads=heads)
    if heads == 32:
        assert config.resolve(c).model.head_dim == 24
        return
    line = f'model.heads = {heads}: must be such that .* at most 128, .* it is 384'
    with pytest.raises(ConfigError, match=line):
        config.resolve(c)


def test_sizes_by_name():
    for size, expected in SIZES.items():
        c = config.default(model='gpt2', size=size)
        assert config.resolve(c).model == expected
    assert config.resolve(config.default(model='gpt2')).model == SIZES['small']
    line = r"size = 'large': must be one of \('tiny', 'small', 'medium'\)"
    with pytest.raises(ConfigError, match=line):
        config.default(model='gpt2', size='large')
    with pytest.raises(ConfigError, match=r"size = 'tiny': must be one of \(\)"):
        config.default(model='transformer', size='tiny')


@pytest.mark.parametrize(
    ('size', 'official'), [('small', 124_439_808), ('medium', 354_823_168)]
)
def test_a_dry_run_counts_the_official_parameters(size, official, tmp_path):
    c = config.default(model='gpt2', size=size)
    c.task.vocab = 50_257
    c.optimizer.warmup_steps = 0
    experiment = config.resolve(c)
    assert cost.num_parameters(experiment) == official
    assert f'{official:,}' in make_plan(experiment, tmp_path).text
    # Twice the parameters of all matrices but the position table, for each token.
    matrices = 0
    tree = models.abstract_params(experiment.model, 50_257)
    for path, leaf in traverse_util.flatten_dict(tree).items():
        if path[-1].startswith('W_') and path[-1] != 'W_pos':
            matrices += leaf.size
    operations = models.MODELS['gpt2'].forward_operations(
        experiment.model, 1, 50_257, 1, last_only=False
    )
    attention = 4 * experiment.model.depth * experiment.model.width
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
@pytest.mark.parametrize('depth', [2, 6])
@pytest.mark.parametrize('remat', [False, True])
def test_the_formulas_are_near_what_the_compiler_counts(depth, remat):
    length = 64
    experiment = cases.tiny_gpt2(
        model__depth=depth, model__width=64, model__remat=remat, model__max_len=length
    )
    row = models.MODELS['gpt2']
    compiled = compile_step(experiment, length)
    operations = (
        3 * 16 * row.forward_operations(experiment.model, length, 20, 16, False)
    )
    counted = compiled.cost_analysis()['flops']
    forward_again = 4 / 3 if remat else 1
    assert 0.9 * forward_again < counted / operations < 1.35 * forward_again
    if not remat:  # which saves little on a CPU
        estimate = row.activation_bytes(experiment.model, length, 20, 16)
        needed = compiled.memory_analysis().temp_size_in_bytes
        assert 0.8 < needed / estimate < 1.5


@pytest.mark.parametrize(
    ('decayed', 'kept'),
    [
        ('all', ()),
        ('all_but_biases', ('b_', 'bias')),
        ('matrices', ('b_', 'bias', 'scale')),
    ],
)
def test_weight_decay_shrinks_what_the_config_says(decayed, kept):
    experiment = cases.tiny_gpt2(model__decayed=decayed, optimizer__shape='constant')
    params = cases.random_params(experiment)
    take_step = make_decaying_step(experiment, params)
    without = traverse_util.flatten_dict(take_step(0))
    shrunk = traverse_util.flatten_dict(take_step(20))
    num_kept = 0
    for path, p in traverse_util.flatten_dict(params).items():
        expected = 0.01 * 20 * p
        if path[-1].startswith(kept or 'none'):
            expected, num_kept = np.zeros_like(p), num_kept + 1
        difference = without[path] - shrunk[path]
        np.testing.assert_allclose(difference, expected, rtol=1e-3, atol=1e-6)
    # A block has six biases and two LayerNorms; one LayerNorm is last.
    assert num_kept == {'all': 0, 'all_but_biases': 17, 'matrices': 22}[decayed]


def test_first_step():
    experiment = cases.tiny_gpt2(optimizer__shape='constant')
    numbers = measure_first_step(experiment, 'W_embed')
    np.testing.assert_allclose(numbers, GOLDEN, rtol=1e-4)


def make_sweep(task: str, **model: Any) -> config.Experiment:
    """Four members, two gammas and two seeds, that train in seconds."""
    c = config.default(task=task, model='gpt2', size='tiny')
    c.name = 'gpt2'
    c.model.update(width=16, max_len=6, **model)
    c.train.update(batch_size=32, num_steps=60, eval_every=30)
    c.train.update(resume_every=0.0, lanes=2)
    c.optimizer.warmup_steps = 5
    c.grid.update(gamma=(0.3, 0.8), learning_rate=(1e-2,), seed=(0, 1))
    if task == 'anchors':
        c.task.update(seq_len=4, split='random', num_examples=640, probe_examples=32)
    return config.resolve(c)


@pytest.mark.slow
def test_a_grid_trains_side_by_side_and_every_member_learns(tmp_path):
    run = api.train(make_sweep('anchors'), tmp_path / 'run', mesh=make_mesh(1))
    assert bool(run.results.trained.all())
    loss = run.curves.train_loss
    assert (loss.isel(step=-1) < loss.isel(step=0)).all()
    trained = run.params(gamma=0.8, seed=1)
    assert trained['W_embed'].shape == (201, 16) and 'W_U' not in trained


@pytest.mark.slow
def test_a_grid_in_bfloat16_with_remat_learns_to_answer_in_sequences(
    tmp_path, monkeypatch
):
    monkeypatch.setitem(tasks.TASKS, 'copy', CopyConfig)
    losses = {}
    for dtype in ('float32', 'bfloat16'):
        experiment = make_sweep('copy', dtype=dtype, remat=dtype == 'bfloat16')
        run = api.train(experiment, tmp_path / dtype, mesh=make_mesh(1))
        assert bool(run.results.trained.all())
        losses[dtype] = run.curves.train_loss.isel(step=-1).values.ravel()
        chance = np.log(experiment.task.num_letters)
        assert (losses[dtype] < 0.8 * chance).all()
    np.testing.assert_allclose(losses['bfloat16'], losses['float32'], rtol=0.2)
    assert (losses['bfloat16'] != losses['float32']).all()
