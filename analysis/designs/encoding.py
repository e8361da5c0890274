"""Members as numbers for a regression: standardized factors and some products.

Lengths, batches, rates, decays, widths and numbers of anchors count in doublings, gamma
as it is. A factor with names has a column for every level but its first.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

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


def find_confounded(encoding: Encoding, members: pd.DataFrame) -> list[str]:
    """A line for every two columns that the members hardly vary apart."""
    columns = encode(encoding, members)[:, :-1]
    with np.errstate(invalid='ignore'):  # a product may be constant
        correlation = np.atleast_2d(np.corrcoef(columns, rowvar=False))
    lines = []
    for i, j in np.argwhere(np.abs(correlation) >= _TOO_CLOSE):
        if i < j:
            first, second = encoding.columns[i], encoding.columns[j]
            lines.append(
                f'{first} and {second} vary together (correlation '
                f'{correlation[i, j]:.2f}): nothing here can tell them apart'
            )
    return lines


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
            width = members.width.to_numpy(float)
            column = column * np.log2(width) / np.log2(_REFERENCE_WIDTH)
        columns.append(column[:, None])
    return np.concatenate(columns, axis=1)
