"""A mistake in a config is one line: the field, its value and what is allowed."""

import pytest

from anchorjax import config, models, tasks
from anchorjax.errors import ConfigError
from tests.support import tiny
from tests.support.sweeps import experiment

EXCEPTION = (3, 4, -6)
MISTAKES = [
    # field, value, what its line must say
    ('grid__gamma', (0.3, '0.5'), "grid.gamma[1] = '0.5': must be of type float"),
    ('grid__gamma', (), 'grid.gamma = (): must be at least one value'),
    ('grid__gamma', (0.3, 0.3), 'grid.gamma = (0.3, 0.3): must be at least one value'),
    ('grid__gamma', (0.3, 0.3), 'all distinct'),
    ('grid__gamma', 0.3, 'grid.gamma = 0.3: must be a tuple'),
    ('grid__gamma', (float('nan'),), 'grid.gamma[0] = nan: must be finite'),
    (
        'grid__gamma',
        (0.3, 101.0),
        'grid.gamma[1] = 101.0: must be at least -100, at most 100',
    ),
    ('grid__seed', (1.5,), 'grid.seed[0] = 1.5: must be of type int'),
    (
        'grid__seed',
        (-1,),
        'grid.seed[0] = -1: must be at least 0, at most 2,147,483,647',
    ),
    (
        'grid__learning_rate',
        (0.0,),
        'grid.learning_rate[0] = 0.0: must be at least 1e-30, at most 1e+30',
    ),
    (
        'grid__weight_decay',
        (-0.1,),
        'grid.weight_decay[0] = -0.1: must be at least 0, at most 1e+30',
    ),
    (
        'task__unseen',
        ((4, 7),),
        'task.unseen = ((4, 7),): must be pairs made of the anchors (1, 2, 3, 4)',
    ),
    ('task__unseen', ((4, 3), (4, 3)), 'must be distinct pairs'),
    (
        'task__noninferential',
        ((3, 4),),
        'task.noninferential[0] = (3, 4): must be a tuple of 3',
    ),
    ('task__noninferential', (EXCEPTION, EXCEPTION), 'must be distinct pairs'),
    ('task__anchors', (1, 2, 3, 30), 'outside the key range (20, 100)'),
    ('task__shifts', (1, 2), 'must be 4 shifts, one per anchor'),
    ('task__num_anchors', 5, 'must be at most 4, the anchors that there are'),
    ('task__num_anchors', -1, 'must be at least 0'),
    ('task__seq_len', 2, 'task.seq_len = 2: must be at least 3, at most 65,536'),
    ('task__seq_len', 5, 'task.seq_len = 5: must be at most model.max_len, 4'),
    ('task__order', 'key', "task.order = 'key': must be one of ('key_first', 'anchors"),
    ('task__split', 'cod', "task.split = 'cod': must be one of ('code', 'paper'"),
    ('task__holdout', 0.001, 'task.holdout = 0.001: must be a share that leaves'),
    ('task__holdout', 1.0, 'task.holdout = 1.0: must be a share that leaves'),
    ('task__holdout', 1.5, 'task.holdout = 1.5: must be at least 0, at most 1'),
    ('task__train_share', 0.0, 'task.train_share = 0.0: must be above 0, at most 1'),
    (
        'optimizer__schedule_steps',
        20,
        'optimizer.schedule_steps = 20: must be at least train.num_steps, 40, or 0',
    ),
    ('task__shifts', (5, 1, -2, -30), 'task.keys[0] = 20: must be at least 60: every'),
    ('task__unseen', (3,), 'task.unseen[0] = 3: must be a tuple of 2'),
    ('task__vocab', 90, 'task.vocab = 90: must be above 109, the largest token or'),
    (
        'task__name',
        'anchor',
        f"task.name = 'anchor': must be one of {tuple(tasks.TASKS)}",
    ),
    (
        'model__name',
        'mlp',
        f"model.name = 'mlp': must be one of {tuple(models.MODELS)}",
    ),
    ('model__depth', 0, 'model.depth = 0: must be at least 1, at most 1,000'),
    ('model__biases', 1, 'model.biases = 1: must be of type bool'),
    ('optimizer__warmup_steps', 41, 'optimizer.warmup_steps = 41: must be at most'),
    (
        'optimizer__floor',
        0.1,
        'optimizer.floor = 0.1: must be at most every grid.learning_rate',
    ),
    ('optimizer__b1', 1.0, 'optimizer.b1 = 1.0: must be at least 0, below 1'),
    ('optimizer__eps', 0.0, 'optimizer.eps = 0.0: must be above 0'),
    ('train__lanes', 0, 'train.lanes = 0: must be at least 1, or -1 for auto'),
    ('train__lanes', -2, 'train.lanes = -2: must be at least 1, or -1 for auto'),
    (
        'train__num_steps',
        0,
        'train.num_steps = 0: must be at least 1, at most 1,000,000,000',
    ),
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
        'train.snapshot_steps = (41,): must be steps from 0 to 40',
    ),
    (
        'train__precision',
        'half',
        f"train.precision = 'half': must be one of {config.PRECISIONS}",
    ),
    (
        'loop',
        (('model.dept', (1,)),),
        "no static field 'model.dept', did you mean 'model.depth'?",
    ),
    ('loop', (('grid.gamma', (0.3,)),), "no static field 'grid.gamma'"),
    ('loop', (('model.depth', (1, 0)),), 'model.depth = 0: must be at least 1'),
    ('loop', (('model.depth', (1, '2')),), "model.depth = '2': must be of type int"),
    ('loop', (('model.depth', ([1], [2])),), 'model.depth = [1]: must be of type int'),
    ('loop', (('model.depth', ()),), 'must be a tuple of at least one value'),
    ('loop', (('model.depth', (1, 1)),), 'must be distinct'),
    (
        'loop',
        ('model.depth', (1, 2)),
        "must be (path, values), e.g. ('model.depth', (2, 3))",
    ),
    (
        'loop',
        (('model.depth', (1,)), ('model.depth', (2,))),
        "two axes are called 'depth'",
    ),
    ('loop', (('train.num_steps', (10, 20)),), 'all cohorts share this one'),
    (
        'loop',
        (('train.converged_loss', (0.02, 0.05)),),
        "loop[0] = 'train.converged_loss': must be another field: all cohorts share",
    ),
    (
        'loop',
        (('task.name', ('anchors',)),),
        "loop[0] = 'task.name': must be another field: all cohorts share this one",
    ),
    (
        'loop',
        (('model.name', ('transformer',)),),
        "loop[0] = 'model.name': must be another field: all cohorts share this one",
    ),
]


@pytest.mark.parametrize(
    ('field', 'value', 'line'), MISTAKES, ids=[line for _, _, line in MISTAKES]
)
def test_a_bad_value_is_one_line(field, value, line):
    with pytest.raises(ConfigError) as caught:
        experiment(**{field: value})
    message = str(caught.value)
    assert line in message and '\n' not in message


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
            "model.name = 'gpt2': must be 'transformer', as another has other fields: "
            'config.default(model=...) in a config file',
        ),
        (
            'grid.gamma',
            'nan',
            "grid.gamma = 'nan': must be values with commas between, like",
        ),
        (
            'grid.seed',
            '0x' + 'f' * 5_000,
            'must be values with commas between, like (0, 1)',
        ),
        (
            'train.snapshot_steps',
            'a,b',
            "= 'a,b': must be () for none, or Python values with commas between",
        ),
        (
            'train.num_steps',
            '{[]: 1}',
            "train.num_steps = '{[]: 1}': must be a whole number, like 40",
        ),
        ('optimizer.b1', '1' * 400, '111: must be finite'),
    ],
)
def test_a_bad_override_is_one_line(path, text, line):
    with pytest.raises(ConfigError) as caught:
        config.override(tiny.get_config(), path, text)
    message = str(caught.value)
    assert line in message and '\n' not in message
