"""Every mistake in a config is one line that names the field, its value and what is allowed."""

import json

import ml_collections
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorjax import cli, config, models
from anchorjax.errors import ConfigError
from tests.support import tiny
from tests.support.sweeps import experiment

PAIRS = ((3, 4, -6),)
MISTAKES = [
    # field, value, what its line must say
    ('grid__gamma', (0.3, '0.5'), 'grid.gamma[1] = '),
    ('grid__gamma', (), 'grid.gamma = (): must be at least one value'),
    ('grid__gamma', (0.3, 0.3), 'all distinct'),
    ('grid__gamma', 0.3, 'grid.gamma = 0.3: must be a tuple'),
    ('grid__gamma', (float('nan'),), 'grid.gamma[0] = nan: must be finite'),
    ('grid__seed', (1.5,), 'grid.seed[0] = 1.5: must be of type int'),
    ('grid__seed', (-1,), 'grid.seed = (-1,): must be in'),
    ('grid__learning_rate', (0.0,), 'grid.learning_rate = (0.0,): must be positive'),
    ('grid__weight_decay', (-0.1,), 'grid.weight_decay = (-0.1,): must be at least 0'),
    (
        'task__unseen',
        ((4, 7),),
        'task.unseen = ((4, 7),): must be pairs made of the anchors',
    ),
    ('task__unseen', (), 'task.unseen = (): must be at least one pair'),
    (
        'task__noninferential',
        ((3, 4),),
        'task.noninferential[0] = (3, 4): must be a tuple of 3',
    ),
    ('task__noninferential', PAIRS * 2, 'must be distinct pairs'),
    ('task__anchors', (1, 2, 3, 30), 'outside the key range (20, 100)'),
    ('task__shifts', (1, 2), 'must be 4 shifts, one per anchor'),
    ('task__seq_len', 2, 'task.seq_len = 2: must be at least 3'),
    ('task__seq_len', 5, 'task.seq_len = 5: must be at most model.max_len, 4'),
    ('task__split', 'cod', "task.split = 'cod': must be one of"),
    ('task__holdout', 0.001, 'task.holdout = 0.001: must be a share that leaves'),
    ('task__holdout', 1.0, 'task.holdout = 1.0: must be a share that leaves'),
    ('task__vocab', 90, 'task.vocab = 90: must be above every token and label'),
    ('task__name', 'anchor', "task.name = 'anchor': must be one of ('anchors',)"),
    (
        'model__name',
        'mlp',
        f"model.name = 'mlp': must be one of {tuple(models.MODELS)}",
    ),
    ('model__depth', 0, 'model.depth = 0: must be at least 1'),
    ('model__biases', 1, 'model.biases = 1: must be of type bool'),
    ('optimizer__warmup_steps', 41, 'optimizer.warmup_steps = 41: must be at most'),
    (
        'optimizer__floor',
        0.1,
        'optimizer.floor = 0.1: must be at most every grid.learning_rate',
    ),
    ('optimizer__b1', 1.0, 'optimizer.b1 = 1.0: must be in [0, 1)'),
    ('train__lanes', 0, 'train.lanes = 0: must be at least 1, or -1 for auto'),
    ('train__lanes', -2, 'train.lanes = -2: must be at least 1, or -1 for auto'),
    ('train__num_steps', 0, 'train.num_steps = 0: must be at least 1'),
    (
        'train__batch_size',
        271,
        'train.batch_size = 271: must be at most the 270 training examples',
    ),
    (
        'train__snapshot_steps',
        (41,),
        'train.snapshot_steps = (41,): must be steps from 0 to 40',
    ),
    ('train__precision', 'half', "train.precision = 'half': must be in"),
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
    ('loop', (('task.unseen', (((4, 3),), ((4, 3), (3, 4)))),), 'with the same probes'),
]


@pytest.mark.parametrize(('field', 'value', 'line'), MISTAKES)
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
        ('grid.gamma', 'nan', "grid.gamma = 'nan': must be a tuple like"),
        (
            'train.num_steps',
            '{[]: 1}',
            "train.num_steps = '{[]: 1}': must be a int like 40",
        ),
    ],
)
def test_a_bad_override_is_one_line(path, text, line):
    with pytest.raises(ConfigError) as caught:
        config.override(tiny.get_config(), path, text)
    assert line in str(caught.value)


def test_a_key_split_must_leave_training_and_heldout_keys():
    with pytest.raises(
        ConfigError, match=r"task.split = 'paper': must be one that leaves every"
    ):
        experiment(task__split='paper', task__seq_len=3)
    with pytest.raises(
        ConfigError, match=r"task.split = 'code': must be one that leaves every"
    ):
        experiment(task__split='code', task__keys=(20, 21))


def test_an_axis_is_a_tuple_and_never_a_list():
    values = config.to_dict(experiment())
    with pytest.raises(ConfigError, match=r'grid.gamma = \[0.3\]: must be a tuple'):
        config.from_dict(values | {'grid': values['grid'] | {'gamma': [0.3]}})


def test_overrides_read_tuples_of_any_length():
    c = tiny.get_config()
    config.override(c, 'grid.gamma', '0.3,0.5,1')
    config.override(c, 'grid.seed', '7')
    e = config.resolve(c)
    assert (e.grid.gamma, e.grid.seed) == ((0.3, 0.5, 1.0), (7,))


@pytest.mark.parametrize(
    ('spec', 'line'),
    [
        ('configs/phse.py', '--config configs/phse.py: no such Python file'),
        ('configs/phase.py:papre', "'papre'"),
        ('tests/support/tiny.py:broken', 'Did you mean "width" instead of "widht"'),
        ('README.md', '--config README.md: no such Python file'),
    ],
)
def test_a_bad_file_or_preset_is_a_config_error(spec, line):
    with pytest.raises(ConfigError) as caught:
        cli.load(spec)
    assert line in str(caught.value)


def test_unknown_names_have_a_hint_and_missing_ones_are_named():
    values = config.to_dict(experiment())
    with pytest.raises(
        ConfigError, match=r"model.widht: no such field, did you mean 'width'?"
    ):
        config.from_dict(values | {'model': values['model'] | {'widht': 8}})
    with pytest.raises(
        ConfigError, match=r"modle: no such field, did you mean 'model'?"
    ):
        config.from_dict(values | {'modle': {}})
    with pytest.raises(ConfigError, match=r'train\.lanes is missing'):
        config.from_dict(
            values
            | {'train': {k: v for k, v in values['train'].items() if k != 'lanes'}}
        )


def test_json_gives_the_experiment_back():
    e = experiment(
        loop=(('model.depth', (1, 2)),),
        task__unseen=((4, 3), (3, 4)),
        task__noninferential=(),
    )
    assert config.from_json(json.loads(json.dumps(config.to_dict(e)))) == e
    assert hash(e) == hash(config.resolve(ml_collections.ConfigDict(config.to_dict(e))))


FIELDS = [
    (g, f)
    for g in ('task', 'model', 'optimizer', 'train', 'grid')
    for f in tiny.get_config()[g]
]
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 300),
    st.floats(),
    st.sampled_from(['', 'x', 'paper']),
)
VALUES = st.recursive(
    SCALARS, lambda v: st.lists(v, max_size=3).map(tuple) | st.lists(v, max_size=3)
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.sampled_from([*FIELDS, ('loop', None), ('name', None), ('task', None)]), VALUES
)
def test_any_value_anywhere_is_refused_cleanly_or_valid(where, value):
    values, (group, field) = config.to_dict(experiment()), where
    values[group] = values[group] | {field: value} if field else value
    try:
        e = config.from_dict(values)
    except ConfigError as error:
        assert '\n' not in str(error)
    else:
        assert config.from_dict(config.to_dict(e)) == e
