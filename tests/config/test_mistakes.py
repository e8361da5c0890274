"""A mistake in a config is one line: the field, its value and what is allowed."""

import pytest

from anchorjax import config, tasks
from anchorjax.errors import ConfigError
from tests.support import tiny
from tests.support.sweeps import experiment

# One of each kind: a type, a range, a choice, and what fields demand of each other.
MISTAKES = [
    # field, value, how its line begins
    ('grid__gamma', (0.3, 0.3), 'grid.gamma = (0.3, 0.3): must be at least one value,'),
    ('grid__gamma', (0.3, '0.5'), "grid.gamma[1] = '0.5': must be of type float"),
    ('grid__learning_rate', (0.0,), 'grid.learning_rate[0] = 0.0: must be above 0'),
    ('grid__decay_window', ((8, 3),), 'grid.decay_window = (8, 3): must be the bounds'),
    ('task__name', 'anchor', f"task.name = 'anchor': must be one of {(*tasks.TASKS,)}"),
    ('task__unseen', ((4, 7),), 'task.unseen = ((4, 7),): must be pairs made of the'),
    ('task__shifts', (5, 1, -2, -30), 'task.keys[0] = 20: must be at least 60: every'),
    ('task__vocab', 90, 'task.vocab = 90: must be above 109, the largest token or'),
    ('task__seq_len', 5, 'task.seq_len = 5: must be at most model.max_len, 4'),
    ('model__depth', 0, 'model.depth = 0: must be at least 1'),
    ('optimizer__warmup_steps', 41, 'optimizer.warmup_steps = 41: must be at most the'),
    ('train__batch_size', 271, 'train.batch_size = 271: must be at most the 270 train'),
    ('train__batch_devices', 3, 'train.batch_devices = 3: must be a divisor of train'),
    ('train__snapshot_steps', (41,), 'train.snapshot_steps = (41,): must be steps f'),
    ('name', '../../x', "name = '../../x': must be at most 100 of A-Z a-z"),
    ('static_axes', ('model.depth', (1, 2)), "static_axes[0] = 'model.depth': must be"),
    ('static_axes', (('grid.gamma', (0.3,)),), "static_axes[0]: 'grid.gamma' cannot"),
    ('static_axes', (('model.depth', (1, 0)),), 'model.depth = 0: must be at least 1'),
    ('static_axes', (('model.depth', (1, 1)),), 'static_axes (model.depth) = (1, 1): '),
]


# What float32, in which networks are trained, has no number for.
NOT_IN_FLOAT32 = [
    ('grid__gamma', (0.3, 0.30000001), 'grid.gamma = (0.3, 0.30000001): must be'),
    ('grid__learning_rate', (1e-46,), 'grid.learning_rate[0] = 1e-46: must be at'),
    ('optimizer__b2', 1 - 1e-9, 'optimizer.b2 = 0.999999999: must be at least 0, b'),
    ('model__eps', 1e-50, 'model.eps = 1e-50: must be at least'),
    ('static_axes', (('optimizer.b1', (0.9, 0.9 + 1e-11)),), 'static_axes (optimizer'),
]


@pytest.mark.parametrize(('field', 'value', 'line'), MISTAKES + NOT_IN_FLOAT32)
def test_a_bad_value_is_one_line(field, value, line):
    with pytest.raises(ConfigError) as caught:
        experiment(**{field: value})
    assert str(caught.value).startswith(line)


def test_sizes_cannot_follow_a_width_along_an_axis():
    c = tiny.get_config()
    c.model.mlp_dim = 0
    c.static_axes = (('model.width', (8, 16)),)
    with pytest.raises(ConfigError, match=r'model.mlp_dim = 0: must be given'):
        config.resolve(c)
    c.static_axes = (('model.width', (8, 16)), ('model.mlp_dim', (24, 48)))
    sizes = []
    sweep = config.resolve(c)
    for cohort in sweep.cohorts():
        model = sweep.for_cohort(cohort).model
        sizes.append((model.width, model.mlp_dim))
    assert sizes == [(8, 24), (8, 48), (16, 24), (16, 48)]


@pytest.mark.parametrize(
    ('path', 'text', 'line'),
    [
        ('grid.gama', '0.3', "grid.gama: no such field, did you mean 'gamma'?"),
        ('grid.num_steps', '4', "grid.num_steps: no such field, did you mean 'train."),
        (
            'grid.batch_size',
            '128, 256',
            'grid.batch_size: no such field, as an axis: '
            """--config.static_axes="(('train.batch_size', (128, 256)),)\"""",
        ),
        ('model.name', 'gpt2', "model.name = 'gpt2': must be 'transformer', as anot"),
        ('grid.gamma', 'nan', "grid.gamma = 'nan': must be values with commas between"),
        ('train.num_steps', 'x', "train.num_steps = 'x': must be a whole number, like"),
        ('optimizer.b1', '1' * 400, 'optimizer.b1 = 111'),
        ('train.num_steps', '-' * 5_000 + '1', "train.num_steps = '---"),
        ('train.num_steps', '(' * 500 + ')' * 500, "train.num_steps = '((("),
        ('static_axes', '{[]: 1}', "static_axes = '{[]: 1}': must be () for none"),
    ],
)
def test_a_bad_override_is_one_line(path, text, line):
    with pytest.raises(ConfigError) as caught:
        config.override(tiny.get_config(), path, text)
    assert str(caught.value).startswith(line)
    assert len(str(caught.value)) < 600
