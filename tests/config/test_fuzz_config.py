"""Whatever is wrong with a config: one clear line, or the right result.

Never a traceback, a hang or a silent difference. Every run has the same examples.
"""

import json
import math
import pathlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchorjax import config
from anchorjax.errors import ConfigError
from tests.support import fuzzing, tiny
from tests.support.fuzzing import NUMBERS, SCALARS, TEXTS, VALUES, refused_or_right
from tests.support.sweeps import experiment

TINY = config.to_dict(experiment())
GROUPS = ('task', 'model', 'optimizer', 'train', 'grid')
FIELDS = []
for group in GROUPS:
    FIELDS += [(group, field) for field in TINY[group]]
FACTORS = st.sampled_from((0.1, 0.5, 2, 10, 1000, 10**12))
MISSING = object()  # instead of a value: the field is left out


def scale(draw: st.DrawFn, value: Any) -> Any:
    """Every number times a factor, with its type."""
    if isinstance(value, tuple):
        return tuple(scale(draw, inner) for inner in value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return type(value)(value * draw(FACTORS))


@st.composite
def scaled_fields(draw: st.DrawFn) -> tuple[tuple, Any]:
    """(path, value) of a field with other numbers in it."""
    group, field = draw(st.sampled_from(FIELDS))
    return (group, field), scale(draw, TINY[group][field])


PLACES = st.sampled_from(FIELDS)
TUPLES = st.lists(VALUES, max_size=3).map(tuple)
AXIS_PATHS = st.sampled_from([*('.'.join(place) for place in FIELDS), *TEXTS])
AXES = st.tuples(AXIS_PATHS, TUPLES | st.just(tuple(range(1, 400))))
LOOPS = st.lists(AXES, max_size=3).map(tuple)
TOP = st.sampled_from([(name,) for name in (*GROUPS, 'name', 'loop', 'extra', 'x\n')])
UNKNOWN = st.tuples(st.sampled_from(GROUPS), st.sampled_from(TEXTS))
MANY_SEEDS = st.integers(1, 5000).map(lambda number: tuple(range(number)))
OTHER_CHANGES = st.one_of(
    st.tuples(PLACES, VALUES),
    st.tuples(PLACES, st.just(tuple(range(1000)) * 2)),
    st.tuples(UNKNOWN, SCALARS),
    st.tuples(TOP, VALUES),
    st.tuples(st.just(('loop',)), LOOPS),
    st.tuples(st.just(('grid', 'seed')), MANY_SEEDS),
    st.tuples(PLACES | TOP, st.just(MISSING)),
)


@st.composite
def changes(draw: st.DrawFn) -> tuple[tuple, Any]:
    """(path, value): half of them mild."""
    return draw(scaled_fields() if draw(st.booleans()) else OTHER_CHANGES)


def replace_at(values: Any, path: tuple, value: Any) -> dict:
    """A copy with another value at a path, or none."""
    values = dict(values) if isinstance(values, dict) else {}
    first, *rest = path
    if rest:
        values[first] = replace_at(values.get(first), rest, value)
    elif value is MISSING:
        values.pop(first, None)
    else:
        values[first] = value
    return values


def require_valid(made: config.Experiment) -> None:
    """It can be written, planned, and its names are folders."""
    assert config.from_json(json.loads(json.dumps(config.to_dict(made)))) == made
    rows, cohorts = made.record_steps, made.cohorts()
    assert rows[-1] == made.train.num_steps and len(rows) <= 10**5 + 1
    num_members = sum(cohort.size for cohort in cohorts)
    assert num_members == math.prod(len(values) for values in made.axes.values())
    assert num_members <= 10**5
    for name in (made.name, *(cohort.folder_name for cohort in cohorts)):
        assert name.isprintable() and 0 < len(name.encode()) <= 200
        assert pathlib.PurePath(name).name == name != '..'
    assert made.task.make().num_train >= made.train.batch_size


def test_a_changed_config_is_one_line_or_valid():
    outcomes = []

    @fuzzing.fuzz(150)
    @given(st.lists(changes(), min_size=1, max_size=2))
    def check(drawn):
        values = TINY
        for path, value in drawn:
            values = replace_at(values, path, value)
        with refused_or_right():
            outcomes.append('refused')
            require_valid(config.from_dict(values))
            outcomes[-1] = 'valid'

    check()
    assert outcomes.count('refused') >= 20
    assert outcomes.count('valid') >= 20


HOSTILE_WORDS = (
    '0x' + 'f' * 5000,
    '(' * 5000,
    '[' * 90 + ']' * 90,
    '-' * 5000,
    '9' * 5000,
    '1,' * 2000,
    '{}',
    '{1: 2}',
    '{"a": 1}',
    '{1, 2}',
    "b'x'",
    '1j',
    '...',
    '0.3,0.5',
)
NUMBER_WORDS = [str(number) for number in NUMBERS if number != 10**400]
WORDS = st.one_of(
    st.sampled_from((*TEXTS, *HOSTILE_WORDS)),
    st.sampled_from(NUMBER_WORDS),
    VALUES.map(lambda value: ascii(value)[:5000]),
    st.text(max_size=20),
)


def test_overrides_of_any_text_are_one_line_or_valid():
    paths = ['.'.join(place) for place in FIELDS] + ['name', 'loop', 'grid', 'grid.x']
    override = st.tuples(st.sampled_from(paths) | st.text(max_size=9), WORDS)

    @fuzzing.fuzz(100)
    @given(st.lists(override, min_size=1, max_size=2))
    def check(overrides):
        values = tiny.get_config()
        with refused_or_right():
            for path, text in overrides:
                config.override(values, path, text)
            require_valid(config.resolve(values))

    check()


@pytest.mark.parametrize(
    ('fields', 'line'),
    [
        (
            {'train__num_steps': 10**12},
            'train.num_steps = 1000000000000: must be at least 1, at most '
            '1,000,000,000',
        ),
        (
            {'train__num_steps': 10**9, 'train__eval_every': 1},
            'train.eval_every = 1: must be larger: the curves may have 100,000 rows, '
            'not 1,000,000,000',
        ),
        (
            {'model__width': 10**9},
            'model.width = 1000000000: must be at least 1, at most 65,536',
        ),
        (
            {'grid__seed': tuple(range(10**5))},
            'grid = 200000: must be at most 100,000 members',
        ),
        (
            {'loop': (('model.width', tuple(range(1, 1003))),)},
            'loop = 1002: must be at most 1,000 combinations',
        ),
        ({'name': '../../x'}, "name = '../../x': must be at most 100 of A-Z"),
        ({'name': 'é'}, "name = 'é': must be at most 100 of A-Z"),
        (
            {'task__holdout': 1e308},
            'task.holdout = 1e+308: must be at most 3e+38 in size',
        ),
        (
            {'optimizer__schedule_steps': 10**12},
            'optimizer.schedule_steps = 1000000000000: must be at least 0, at most '
            '1,000,000,000',
        ),
    ],
)
def test_what_would_hang_is_refused_with_its_bound(fields, line):
    with pytest.raises(ConfigError) as caught:
        experiment(**fields)
    assert line in str(caught.value)
