"""What a declared field accepts, and the line that names the rest."""

import dataclasses
from typing import Annotated, Literal

import numpy as np
import pytest

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
    # type, value, what it becomes
    (int, np.int32(3), 3),
    (float, 0.5, 0.5),
    (float, 2, 2.0),
    (bool, True, True),
    (Norm, 'pre', 'pre'),
    (Share, 1, 1.0),
    (Momentum, 0.0, 0.0),
    (int | None, None, None),
    (int | None, np.int32(3), 3),
    (tuple[tuple[int, int], ...], ((4, 3), (3, 4)), ((4, 3), (3, 4))),
    (tuple[float, ...], (1, 0.5), (1.0, 0.5)),
    (tuple[Norm, bool], ('post', False), ('post', False)),
]
REFUSED = [
    (int, 1.0, 'x = 1.0: must be of type int'),
    (int, True, 'x = True: must be of type int'),
    (float, True, 'x = True: must be of type float'),
    (float, float('nan'), 'x = nan: must be finite in float32'),
    (float, 10**400, 'x = 10000'),
    (float, -(10**39), 'x = -1000000000000000000000000000000000000000: must be finite'),
    (Count | None, 0, 'x = 0: must be at least 1, at most 1,000'),
    (Norm, 'Post', "x = 'Post': must be one of ('post', 'pre')"),
    (Share, 0.0, 'x = 0.0: must be above 0, at most 1'),
    (Momentum, 1.0, 'x = 1.0: must be at least 0, below 1'),
    (tuple[int, ...], [3], 'x = [3]: must be a tuple'),
    (tuple[int, ...], (3, 1.5), 'x[1] = 1.5: must be of type int'),
    (tuple[int, int], (3,), 'x = (3,): must be a tuple of 2'),
    (tuple[tuple[int, int], ...], ((4, 3), (3, '4')), "x[1][1] = '4': must be of"),
]


@dataclasses.dataclass(frozen=True)
class Config:
    depth: Count = 2
    rates: tuple[Share, ...] = (0.5,)

    def __post_init__(self) -> None:
        check_fields(self, 'model')


@pytest.mark.parametrize(('hint', 'value', 'expected'), ACCEPTED)
def test_a_value_of_the_type_and_in_range_is_accepted(hint, value, expected):
    assert repr(check_value(value, hint, 'x')) == repr(expected)


@pytest.mark.parametrize(('hint', 'value', 'line'), REFUSED)
def test_any_other_value_is_one_line(hint, value, line):
    with pytest.raises(ConfigError) as caught:
        check_value(value, hint, 'x')
    assert str(caught.value).startswith(line)


def test_a_dataclass_is_valid_or_does_not_exist():
    assert list(declared_fields(Config)) == ['depth', 'rates']
    assert repr(Config(rates=(1,)).rates) == '(1.0,)'
    line = r'model.rates\[1\] = 2.0: must be above 0, at most 1'
    with pytest.raises(ConfigError, match=line):
        Config(rates=(0.5, 2.0))
    with pytest.raises(ConfigError, match=r'model.depth = 1001: must be at least 1'):
        dataclasses.replace(Config(), depth=1_001)
