"""A mistake in a config is one line: the field, its value and what is allowed."""

import pytest

from anchorjax import config, models, tasks
from anchorjax.errors import ConfigError
from tests.support import tiny
from tests.support.sweeps import experiment

MISTAKES = [
    # field, value, how its line begins
    ('grid__gamma', (), 'grid.gamma = (): must be at least one value'),
    ('grid__gamma', (0.3, 0.3), 'grid.gamma = (0.3, 0.3): must be at least one value,'),
    ('grid__gamma', 0.3, 'grid.gamma = 0.3: must be a tuple'),
    ('grid__gamma', (0.3, '0.5'), "grid.gamma[1] = '0.5': must be of type float"),
    ('grid__seed', (2**31,), 'grid.seed[0] = 2147483648: must be at least 0, at most'),
    ('grid__learning_rate', (0.0,), 'grid.learning_rate[0] = 0.0: must be above 0'),
    ('grid__weight_decay', (-0.1,), 'grid.weight_decay[0] = -0.1: must be at least 0'),
    ('task__unseen', ((4, 7),), 'task.unseen = ((4, 7),): must be pairs made of the'),
    (
        'task__unseen',
        ((4, 3), (4, 3)),
        'task.unseen = ((4, 3), (4, 3)): must be dist',
    ),
    ('task__num_anchors', 5, 'task.num_anchors = 5: must be at most 4, the anchors'),
    ('task__holdout', 0.001, 'task.holdout = 0.001: must be a share that leaves'),
    ('task__shifts', (1, 2), 'task.shifts = (1, 2): must be 4 shifts, one per anchor'),
    ('task__shifts', (5, 1, -2, -30), 'task.keys[0] = 20: must be at least 60: every'),
    ('task__vocab', 90, 'task.vocab = 90: must be above 109, the largest token or'),
    ('task__keys', (20, 21), 'task.holdout = 0.1: must be a share that leaves'),
    ('task__seq_len', 5, 'task.seq_len = 5: must be at most model.max_len, 4'),
    ('task__name', 'anchor', f"task.name = 'anchor': must be one of {(*tasks.TASKS,)}"),
    ('model__name', 'mlp', f"model.name = 'mlp': must be one of {(*models.MODELS,)}"),
    ('model__depth', 0, 'model.depth = 0: must be at least 1'),
    ('model__biases', 1, 'model.biases = 1: must be of type bool'),
    (
        'optimizer__schedule_steps',
        20,
        'optimizer.schedule_steps = 20: must be at least train.num_steps, 40, or 0',
    ),
    ('optimizer__warmup_steps', 41, 'optimizer.warmup_steps = 41: must be at most the'),
    (
        'optimizer__floor',
        0.1,
        'optimizer.floor = 0.1: must be at most every grid.learning_rate, 0.01',
    ),
    ('optimizer__b1', 1.0, 'optimizer.b1 = 1.0: must be at least 0, below 1'),
    ('train__lanes', 0, 'train.lanes = 0: must be at least 1, or -1 for auto'),
    ('train__num_steps', 2**31, 'train.num_steps = 2147483648: must be at least 1, at'),
    (
        'train__batch_size',
        271,
        'train.batch_size = 271: must be at most the 270 training examples',
    ),
    (
        'train__batch_devices',
        3,
        'train.batch_devices = 3: must be a divisor of train.batch_size, 16',
    ),
    (
        'train__snapshot_steps',
        (41,),
        'train.snapshot_steps = (41,): must be steps f',
    ),
    ('name', '../../x', "name = '../../x': must be at most 100 of A-Z a-z"),
    (
        'loop',
        ('model.depth', (1, 2)),
        "loop[0] = 'model.depth': must be (path, v",
    ),
    (
        'loop',
        (('model.dept', (1,)),),
        "loop[0]: 'model.dept' cannot be an axis, did you mean 'model.depth'?",
    ),
    (
        'loop',
        (('grid.gamma', (0.3,)),),
        "loop[0]: 'grid.gamma' cannot be an axis",
    ),
    ('loop', (('model.depth', (1, 0)),), 'model.depth = 0: must be at least 1'),
    ('loop', (('model.depth', ([1], [2])),), 'model.depth = [1]: must be of type int'),
    ('loop', (('model.depth', ()),), 'loop[0] (model.depth) = (): must be a tuple of'),
    (
        'loop',
        (('model.depth', (1, 1)),),
        'loop (model.depth) = (1, 1): must be distinct',
    ),
    (
        'loop',
        (('model.depth', (1,)), ('model.depth', (2,))),
        "loop = 'depth': must be the name of one axis",
    ),
    (
        'loop',
        (('train.num_steps', (10, 20)),),
        "loop[0]: 'train.num_steps' cannot be an axis, ",
    ),
    (
        'grid__decay_window',
        ((), (3,)),
        'grid.decay_window = (3,): must be the bounds of at most two pieces',
    ),
    (
        'grid__decay_window',
        ((8, 3),),
        'grid.decay_window = (8, 3): must be the bounds of at most two pieces',
    ),
    (
        'grid__decay_window',
        ((0, 41),),
        'grid.decay_window = (0, 41): must be within train.num_steps, 40',
    ),
]


@pytest.mark.parametrize(('field', 'value', 'line'), MISTAKES)
def test_a_bad_value_is_one_line(field, value, line):
    with pytest.raises(ConfigError) as caught:
        experiment(**{field: value})
    assert str(caught.value).startswith(line)


def test_sizes_cannot_follow_a_width_in_the_loop():
    c = tiny.get_config()
    c.model.mlp_dim = 0
    c.loop = (('model.width', (8, 16)),)
    with pytest.raises(ConfigError, match=r'model.mlp_dim = 0: must be given'):
        config.resolve(c)
    c.loop = (('model.width', (8, 16)), ('model.mlp_dim', (24, 48)))
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
        ('gird.gamma', '0.3', "gird.gamma: no such field, did you mean 'grid'?"),
        ('grid', '1', "grid = '1': must be given field by field"),
        ('grid.gamma.x', '1', 'grid.gamma.x: no such field'),
        (
            'model.name',
            'gpt2',
            "model.name = 'gpt2': must be 'transformer', as anot",
        ),
        ('grid.gamma', 'nan', "grid.gamma = 'nan': must be values with commas between"),
        ('train.snapshot_steps', 'a,b', "train.snapshot_steps = 'a,b': must be () for"),
        ('train.num_steps', 'x', "train.num_steps = 'x': must be a whole number, like"),
        ('optimizer.b1', '1' * 400, 'optimizer.b1 = 111'),
    ],
)
def test_a_bad_override_is_one_line(path, text, line):
    with pytest.raises(ConfigError) as caught:
        config.override(tiny.get_config(), path, text)
    assert str(caught.value).startswith(line)
