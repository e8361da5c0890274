"""The sizes of GPT-2, what they cost and what decays."""

import pytest

from anchorjax import config
from anchorjax.errors import ConfigError
from anchorjax.models.gpt2 import GPT2Config
from anchorjax.sweeps import cost


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
