"""The sizes of GPT-2, what they cost and what decays."""

import numpy as np
import pytest
from flax import traverse_util

from anchorjax import config
from anchorjax.errors import ConfigError
from anchorjax.models.gpt2 import GPT2Config
from anchorjax.sweeps import cost
from tests.support import cases
from tests.support.first_steps import make_decaying_step


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


def test_weight_decay_shrinks_all_but_biases():
    """PAPERS 1.6: as in P1's code; the scales of LayerNorm decay, too."""
    experiment = cases.tiny_gpt2(model__depth=1, optimizer__shape='constant')
    params = cases.random_params(experiment)
    take_step = make_decaying_step(experiment, params)
    without = traverse_util.flatten_dict(take_step(0))
    shrunk = traverse_util.flatten_dict(take_step(20))
    num_kept = 0
    for path, p in traverse_util.flatten_dict(params).items():
        expected = 0.01 * 20 * p
        if path[-1].startswith(('b_', 'bias')):
            expected, num_kept = np.zeros_like(p), num_kept + 1
        difference = without[path] - shrunk[path]
        np.testing.assert_allclose(difference, expected, rtol=1e-3, atol=1e-6)
    assert num_kept == (6 + 2) + 1  # of the block, and of the last LayerNorm
