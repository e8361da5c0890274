"""Members as numbers for a regression: standardized factors and some products.

Lengths, batches, rates, decays, widths and numbers of anchors count in doublings, gamma
as it is. A factor with names has a column for every level but its first.
"""

import itertools
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from analysis.designs import factors

# Pairs whose products are columns, too, if both factors vary.
INTERACTIONS = (
    ('gamma', 'batch_size'),
    ('gamma', 'seq_len'),
    ('batch_size', 'seq_len'),
    ('gamma', 'weight_decay'),
)
# How the initialization enters: by gamma, or by the gamma that has the same standard
# deviation width ** -gamma at width 64.
GAMMA, STD = 'gamma', 'std'
_REFERENCE_WIDTH = 64
_ABSENT = ('exception', factors.NUISANCE)  # constant in a block; see factors.NUISANCE
_TOO_CLOSE = 0.95  # correlation above which a regression cannot tell two factors apart


class Encoding(NamedTuple):
    """How the members of a block become a matrix; F columns, the last one is 1."""

    initialization: str  # GAMMA or STD
    mains: tuple[str, ...]  # 'batch_size', 'split=random', ...
    means: np.ndarray  # of the mains
    stds: np.ndarray
    products: tuple[tuple[str, str], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns but the last."""
        return *self.mains, *(' × '.join(pair) for pair in self.products)


def make_encoding(members: pd.DataFrame, initialization: str = GAMMA) -> Encoding:
    """The encoding of these members, of all factors that vary among them."""
    mains = []
    for name in factors.list_varying(members):
        factor = factors.BY_NAME[name]
        if name in _ABSENT:
            continue
        if factor.scale != 'names':
            mains.append(name)
            continue
        for level in factors.order_levels(factor, members[name])[1:]:
            mains.append(f'{name}={level}')
    raw = _measure_mains(members, tuple(mains), initialization)
    products = [pair for pair in INTERACTIONS if set(pair) <= set(mains)]
    stds = raw.std(0)
    stds[stds == 0] = 1.0
    return Encoding(initialization, tuple(mains), raw.mean(0), stds, tuple(products))


def encode(encoding: Encoding, members: pd.DataFrame) -> np.ndarray:
    """The matrix [member, F]."""
    standardized = encode_mains(encoding, members)
    columns = list(standardized.T)
    for first, second in encoding.products:
        first_column = columns[encoding.mains.index(first)]
        second_column = columns[encoding.mains.index(second)]
        columns.append(first_column * second_column)
    columns.append(np.ones(len(members)))
    return np.stack(columns, axis=1)


def encode_mains(encoding: Encoding, members: pd.DataFrame) -> np.ndarray:
    """The standardized factors alone, [member, main]."""
    raw = _measure_mains(members, encoding.mains, encoding.initialization)
    return (raw - encoding.means) / encoding.stds


class Confounded(NamedTuple):
    """Two columns of an encoding that the members do not tell apart, and why."""

    first: str
    second: str
    why: str


def find_confounded(encoding: Encoding, members: pd.DataFrame) -> list[Confounded]:
    """Every two columns that hardly vary apart, or are of the same members.

    A column of a named level is confounded with another factor if one level of that has
    exactly the members that the named level has, or that it lacks.
    """
    return _find_correlated(encoding, members) + _find_same_members(encoding, members)


def count_settings(column: str, members: pd.DataFrame, settings: np.ndarray) -> int:
    """Settings at the level of a column that is second best supported.

    Of a product of two factors: at the combination of the two best supported levels of
    each that has the fewest.
    """
    levels = []
    for main in column.split(' × '):
        name, _, _ = main.partition('=')
        levels.append(_find_two_levels(members[name], settings))
    numbers = []
    for point in itertools.product(*levels):
        is_at = np.ones(len(members), bool)
        for main, level in zip(column.split(' × '), point, strict=True):
            name, _, _ = main.partition('=')
            is_at &= (members[name] == level).to_numpy()
        numbers.append(len(np.unique(settings[is_at])))
    return min(numbers)


def find_equal_std(gamma: ArrayLike, width: ArrayLike) -> np.ndarray:
    """The gamma that gives the same standard deviation at width 64."""
    return np.asarray(gamma) * np.log2(width) / np.log2(_REFERENCE_WIDTH)


def _find_correlated(encoding: Encoding, members: pd.DataFrame) -> list[Confounded]:
    columns = encode(encoding, members)[:, :-1]
    with np.errstate(invalid='ignore'):  # a product may be constant
        correlation = np.atleast_2d(np.corrcoef(columns, rowvar=False))
    found = []
    for i, j in np.argwhere(np.abs(correlation) >= _TOO_CLOSE):
        if i < j:
            why = f'vary together (correlation {correlation[i, j]:.2f})'
            found.append(Confounded(encoding.columns[i], encoding.columns[j], why))
    return found


def _find_same_members(encoding: Encoding, members: pd.DataFrame) -> list[Confounded]:
    """Named levels whose members are those of one level of another factor."""
    found = []
    for main in encoding.mains:
        name, equals, level = main.partition('=')
        if not equals:
            continue
        is_level = (members[name] == level).to_numpy()
        for other in encoding.mains:
            other_name, _, _ = other.partition('=')
            if other_name == name:
                continue
            for value in members[other_name].unique():
                is_value = (members[other_name] == value).to_numpy()
                if (is_level == is_value).all() or (is_level != is_value).all():
                    factor = factors.BY_NAME[other_name]
                    text = factors.format_level(factor, value)
                    why = f'are told apart by {other_name} {text} alone'
                    found.append(Confounded(main, other, why))
    return found


def _find_two_levels(values: pd.Series, settings: np.ndarray) -> list:
    """The two levels of a factor with the most settings."""
    numbers = pd.Series(settings).groupby(values.to_numpy()).nunique()
    return list(numbers.sort_values(kind='stable').index[-2:])


def _measure_mains(
    members: pd.DataFrame, mains: tuple[str, ...], initialization: str
) -> np.ndarray:
    """The factors on their scales, [member, main]."""
    columns = [np.zeros((len(members), 0))]
    for main in mains:
        name, equals, level = main.partition('=')
        if equals:
            column = (members[name] == level).to_numpy(float)
        else:
            column = factors.to_scale(factors.BY_NAME[name], members[name])
        if name == 'gamma' and initialization == STD:
            column = find_equal_std(column, members.width.to_numpy(float))
        columns.append(column[:, None])
    return np.concatenate(columns, axis=1)
