"""Whatever is wrong with a config: one clear line, or the right result.

Never a traceback, a hang or a silent difference. The examples are the same in every run.
"""

import json
import math
import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchorjax import config, tasks
from anchorjax.errors import ConfigError
from tests.support import fuzzing, tiny
from tests.support.fuzzing import NUMBERS, SCALARS, TEXTS, VALUES, refused_or_right
from tests.support.sweeps import experiment

TINY = config.to_dict(experiment())
GROUPS = ('task', 'model', 'optimizer', 'train', 'grid')
FIELDS = [(g, f) for g in GROUPS for f in TINY[g]]


def scaled(value):
    """Numbers ten, or a million million times what is there, with its type."""
    factors = st.sampled_from((0.1, 0.5, 2, 10, 1000, 10**12))
    if isinstance(value, tuple):
        return factors.flatmap(lambda _: st.tuples(*map(scaled, value)))
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return factors.map(lambda f: type(value)(value * f)) if number else st.just(value)


LOOPS = st.lists(
    st.tuples(
        st.sampled_from([f'{g}.{f}' for g, f in FIELDS]) | st.sampled_from(TEXTS),
        st.lists(VALUES, max_size=3).map(tuple) | st.just(tuple(range(1, 400))),
    ),
    max_size=3,
).map(tuple)
SCALED = st.sampled_from(FIELDS).flatmap(
    lambda w: st.tuples(st.just(w), scaled(TINY[w[0]][w[1]]))
)
OTHER = st.one_of(
    st.tuples(st.sampled_from(FIELDS), VALUES),
    st.tuples(st.sampled_from(FIELDS), st.just(tuple(range(1000)) * 2)),
    st.tuples(st.tuples(st.sampled_from(GROUPS), st.sampled_from(TEXTS)), SCALARS),
    st.tuples(
        st.sampled_from([(g,) for g in (*GROUPS, 'name', 'loop', 'extra', 'x\n')]),
        VALUES,
    ),
    st.tuples(st.just(('loop',)), LOOPS),
    st.tuples(
        st.just(('grid', 'seed')), st.integers(1, 5000).map(lambda n: tuple(range(n)))
    ),
    st.tuples(st.sampled_from([*FIELDS, *((g,) for g in GROUPS)]), st.just('missing')),
)


CHANGES = st.booleans().flatmap(lambda mild: SCALED if mild else OTHER)


def changed(values: dict, path: tuple, value) -> dict:
    """A copy in which the value at a path is another one, or 'missing'."""
    first, *rest = path
    if rest:
        inner = values.get(first)
        return values | {
            first: changed(inner if isinstance(inner, dict) else {}, rest, value)
        }
    left = {k: v for k, v in values.items() if k != first}
    return left if value == 'missing' else left | {first: value}


def require_valid(e: config.Experiment) -> None:
    """It can be written, planned, and its names are folders."""
    assert config.from_json(json.loads(json.dumps(config.to_dict(e)))) == e
    rows, cohorts = e.record_steps, e.cohorts()
    assert rows[-1] == e.train.num_steps and len(rows) <= 10**5 + 1
    members = sum(cohort.size for cohort in cohorts)
    assert members == math.prod(map(len, e.axes.values())) <= 10**5
    for name in (e.name, *(cohort.name for cohort in cohorts)):
        assert name.isprintable() and 0 < len(name.encode()) <= 200
        assert pathlib.PurePath(name).name == name != '..'
    assert tasks.make(e.task).num_train >= e.train.batch_size


def test_a_changed_config_is_one_line_or_valid():
    outcomes = []

    @fuzzing.fuzz(150)
    @given(st.lists(CHANGES, min_size=1, max_size=2))
    def fuzzed(changes):
        values = TINY
        for path, value in changes:
            values = changed(values, path, value)
        with refused_or_right():
            outcomes.append('refused')
            made = config.from_dict(values)
            require_valid(made)
            outcomes[-1] = 'valid'

    fuzzed()
    assert min(outcomes.count(o) for o in ('refused', 'valid')) >= 20


ODD = [
    *(
        '0x' + 'f' * 5000,
        '(' * 5000,
        '[' * 90 + ']' * 90,
        '-' * 5000,
        '9' * 5000,
        '1,' * 2000,
    ),
    *('{}', '{1: 2}', '{"a": 1}', '{1, 2}', "b'x'", '1j', '...', '0.3,0.5'),
]
WORDS = st.one_of(
    st.sampled_from((*TEXTS, *ODD)),
    st.sampled_from([str(n) for n in NUMBERS if n != 10**400]),
    VALUES.map(lambda v: ascii(v)[:5000]),
    st.text(max_size=20),
)


def test_overrides_of_any_text_are_one_line_or_valid():
    named = st.sampled_from(
        ['.'.join(w) for w in FIELDS] + ['name', 'loop', 'grid', 'grid.x']
    )

    @fuzzing.fuzz(100)
    @given(
        st.lists(st.tuples(named | st.text(max_size=9), WORDS), min_size=1, max_size=2)
    )
    def fuzzed(words):
        made = tiny.get_config()
        with refused_or_right():
            for path, text in words:
                config.override(made, path, text)
            require_valid(config.resolve(made))

    fuzzed()


@pytest.mark.parametrize(
    ('changes', 'line'),
    [
        (
            {'train__num_steps': 10**12},
            'train.num_steps = 1000000000000: must be at most',
        ),
        (
            {'train__num_steps': 10**9, 'train__eval_every': 1},
            'train.eval_every = 1: must be large enough that the curves have at most 100,000 rows',
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
            'loop = 1002: must be at most 1,000',
        ),
        ({'name': '../../x'}, "name = '../../x': must be at most 100 of A-Z"),
        (
            {'task__holdout': 1e308},
            'task.holdout = 1e+308: must be at most 3e+38 in size',
        ),
        (
            {'optimizer__schedule_steps': 10**12},
            'optimizer.schedule_steps = 1000000000000',
        ),
    ],
)
def test_what_would_hang_is_refused_with_its_bound(changes, line):
    with pytest.raises(ConfigError) as caught:
        experiment(**changes)
    assert line in str(caught.value)
