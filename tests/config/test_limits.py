"""What a declared field accepts, and the line that names the rest."""

import dataclasses
import math
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorjax.errors import ConfigError
from anchorjax.limits import (
    above,
    at_least,
    at_most,
    below,
    check_fields,
    check_value,
    declared_fields,
)

Share = Annotated[float, above(0), at_most(1)]
Momentum = Annotated[float, at_least(0), below(1)]
Count = Annotated[int, at_least(1), at_most(1_000)]
Norm = Literal['post', 'pre']

ACCEPTED = [
    (int, 0),
    (int, -(2**63)),
    (int, 2**63 - 1),
    (float, 0.5),
    (float, -0.0),
    (float, 3e38),
    (float, 5e-324),
    (bool, True),
    (str, ''),
    (str, 'é, γ and 日本'),
    (str, 'x' * 1_000),
    (Norm, 'pre'),
    (Count, 1),
    (Count, 1_000),
    (Share, 1e-300),
    (Share, 1.0),
    (Momentum, 0.0),
    (Momentum, 0.999),
    (tuple[int, ...], ()),
    (tuple[int, ...], (3, 1, 3)),
    (tuple[int, int], (3, 1)),
    (tuple[tuple[int, int], ...], ((4, 3), (3, 4))),
    (tuple[Share, ...], (0.5, 1.0)),
    (tuple[Norm, bool], ('post', False)),
]

REFUSED = [
    (int, 1.0, 'x = 1.0: must be of type int'),
    (int, True, 'x = True: must be of type int'),
    (int, None, 'x = None: must be of type int'),
    (int, '1', "x = '1': must be of type int"),
    (int, [1], 'x = [1]: must be of type int'),
    (int, np.int32(1), 'must be of type int'),
    (int, 2**63, f'x = {2**63}: must be in [-2^63, 2^63)'),
    (int, -(2**63) - 1, 'must be in [-2^63, 2^63)'),
    (float, True, 'x = True: must be of type float'),
    (float, '0.5', "x = '0.5': must be of type float"),
    (float, np.float64(0.5), 'must be of type float'),
    (float, float('nan'), 'x = nan: must be finite'),
    (float, float('inf'), 'x = inf: must be finite'),
    (float, float('-inf'), 'x = -inf: must be finite'),
    (float, 1e39, 'x = 1e+39: must be at most 3e+38 in size (float32)'),
    (float, -1e39, 'x = -1e+39: must be at most 3e+38 in size (float32)'),
    (bool, 1, 'x = 1: must be of type bool'),
    (str, 3, 'x = 3: must be of type str'),
    (Norm, 'Post', "x = 'Post': must be one of ('post', 'pre')"),
    (Norm, None, "x = None: must be one of ('post', 'pre')"),
    (Norm, ['post'], "x = ['post']: must be one of ('post', 'pre')"),
    (Count, 0, 'x = 0: must be at least 1, at most 1,000'),
    (Count, 1_001, 'x = 1001: must be at least 1, at most 1,000'),
    (Count, 1.0, 'x = 1.0: must be of type int'),
    (Share, 0.0, 'x = 0.0: must be above 0, at most 1'),
    (Share, 1.0000001, 'x = 1.0000001: must be above 0, at most 1'),
    (Share, float('nan'), 'x = nan: must be finite'),
    (Momentum, -1e-9, 'x = -1e-09: must be at least 0, below 1'),
    (Momentum, 1.0, 'x = 1.0: must be at least 0, below 1'),
    (tuple[int, ...], 3, 'x = 3: must be a tuple'),
    (tuple[int, ...], [3], 'x = [3]: must be a tuple'),
    (tuple[int, ...], (3, 1.5), 'x[1] = 1.5: must be of type int'),
    (tuple[int, int], (3,), 'x = (3,): must be a tuple of 2'),
    (tuple[int, int], (3, 1, 2), 'x = (3, 1, 2): must be a tuple of 2'),
    (tuple[tuple[int, int], ...], ((4, 3), (3, '4')), "x[1][1] = '4': must be of"),
    (tuple[Share, ...], (0.5, 0.0), 'x[1] = 0.0: must be above 0, at most 1'),
]


@pytest.mark.parametrize(('hint', 'value'), ACCEPTED)
def test_a_value_of_the_type_and_in_range_comes_back(hint, value):
    checked = check_value(value, hint, 'x')
    assert checked == value and type(checked) is type(value)


@pytest.mark.parametrize(
    ('hint', 'value', 'line'), REFUSED, ids=[line for _, _, line in REFUSED]
)
def test_any_other_value_is_one_line(hint, value, line):
    with pytest.raises(ConfigError) as caught:
        check_value(value, hint, 'x')
    message = str(caught.value)
    assert line in message and '\n' not in message


@pytest.mark.parametrize(
    ('hint', 'value', 'expected'),
    [(float, 2, 2.0), (Share, 1, 1.0), (tuple[float, ...], (1, 0.5), (1.0, 0.5))],
)
def test_an_int_may_stand_for_a_float(hint, value, expected):
    checked = check_value(value, hint, 'x')
    assert repr(checked) == repr(expected)


@settings(deadline=None, max_examples=200)
@given(st.integers(), st.integers(-50, 50), st.integers(-50, 50))
def test_ints_are_held_to_their_bounds(value, low, high):
    hint = Annotated[int, at_least(low), at_most(high)]
    if low <= value <= high:
        assert check_value(value, hint, 'x') == value
        return
    with pytest.raises(ConfigError) as caught:
        check_value(value, hint, 'x')
    allowed = f'at least {low}, at most {high}'
    if not -(2**63) <= value < 2**63:
        allowed = 'in [-2^63, 2^63)'
    assert str(caught.value) == f'x = {value}: must be {allowed}'


# Without -0.0, which typing takes for the same bound as 0.0.
LIMITS = st.floats(-9, 9).map(lambda x: x + 0.0)


@settings(deadline=None, max_examples=200)
@given(st.floats(), LIMITS, LIMITS)
def test_floats_are_held_to_their_bounds(value, low, high):
    hint = Annotated[float, above(low), below(high)]
    if low < value < high:
        assert check_value(value, hint, 'x') == value
        return
    with pytest.raises(ConfigError) as caught:
        check_value(value, hint, 'x')
    message = str(caught.value)
    assert message.startswith(f'x = {value!r}: must be ')
    if math.isfinite(value) and abs(value) <= 3e38:
        assert message.endswith(f'above {low:g}, below {high:g}')


def test_the_fields_of_a_dataclass_are_checked_by_their_names():
    @dataclasses.dataclass(frozen=True)
    class Config:
        depth: Count = 2
        rates: tuple[Share, ...] = (0.5,)

        def __post_init__(self) -> None:
            check_fields(self, 'model')

    assert list(declared_fields(Config)) == ['depth', 'rates']
    mistakes: list[tuple[dict[str, Any], str]] = [
        ({'depth': 0}, 'model.depth = 0: must be at least 1, at most 1,000'),
        ({'rates': (0.5, 2.0)}, 'model.rates[1] = 2.0: must be above 0, at most 1'),
        ({'depth': '2'}, "model.depth = '2': must be of type int"),
    ]
    for fields, line in mistakes:
        with pytest.raises(ConfigError) as caught:
            Config(**fields)
        assert str(caught.value) == line
    with pytest.raises(ConfigError):
        dataclasses.replace(Config(), depth=1_001)
