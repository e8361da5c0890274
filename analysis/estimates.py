"""What the number of a claim is: one for each seed, of networks that are compared.

Two groups are compared by networks with the same seed and the same value of every other
axis (`pair`); what has no partner is left out and counted.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis import spectra, stats
from analysis.changes.crossings import Lag, divide_lags, share_seeds
from analysis.members.columns import list_varying_axes, name_gamma

# What the number of a row is.
LEVEL, DIFFERENCE, RATIO = 'level', 'difference', 'ratio'
CORRELATION = 'rank correlation'

# Which members: {column: value}, beside a name that the tables print.
Levels = Mapping[str, object]


class Group(NamedTuple):
    """Members with these values of their columns; a tuple allows several."""

    name: str
    levels: Levels


def at_gamma(gamma: float, width: float, **levels: object) -> Group:
    """Members with this γ, and other columns, by the name of γ at this width."""
    return Group(name_gamma(gamma, width), {'gamma': gamma, **levels})


class Side(NamedTuple):
    """One of the two groups, or columns, that an estimate compares."""

    name: str
    mean: stats.Mean  # over the seeds of the estimate
    bound: str = ''  # 'at least': what the mean is if not exact


class Estimate(NamedTuple):
    """One number per seed, and what it is made of: numbers, which `describe` words."""

    values: pd.Series  # [seed]; of a RATIO its logarithms, so that 0 is equality
    kind: str
    sides: tuple[Side, ...] = ()
    bound: str = ''  # of the mean, as of a Side
    null: float = np.nan  # what a network scores that does not compose
    note: str = ''
    left_out: int = 0  # networks without a partner to be compared with
    possible: stats.Possible = stats.ANY  # what the mean of the values may be

    @property
    def mean(self) -> stats.Mean:
        """The number of the row, and its interval."""
        found = stats.mean_interval(self.values, self.possible)
        return stats.Mean(*np.exp(found)) if self.kind == RATIO else found


Estimator = Callable[[pd.DataFrame], Estimate]


def mark(members: pd.DataFrame, levels: Levels) -> np.ndarray:
    """Which of the members have these values, [M]; numbers match to three digits."""
    is_here = np.ones(len(members), bool)
    for column, wanted in levels.items():
        allowed = wanted if isinstance(wanted, tuple) else (wanted,)
        is_allowed = np.zeros(len(members), bool)
        for value in allowed:
            if isinstance(value, float):
                is_allowed |= np.isclose(members[column], value, rtol=1e-3, atol=1e-9)
            else:
                is_allowed |= (members[column] == value).to_numpy(bool)
        is_here &= is_allowed
    return is_here


def select(members: pd.DataFrame, levels: Levels) -> pd.DataFrame:
    """The members with these values; numbers match to three digits."""
    return members[mark(members, levels)]


def average_null(members: pd.DataFrame, column: str) -> float:
    """`null_COLUMN`: what a network scores that does not compose; NaN: not known."""
    name = f'null_{column}'
    return members[name].mean() if name in members else np.nan


def average(members: pd.DataFrame, column: str, statistic: str = 'mean') -> pd.Series:
    """A column by seed: the mean, or another statistic, over the networks of a seed.

    Seeds whose value is not known are left out.
    """
    return members.groupby('seed')[column].agg(statistic).dropna()


def level(
    column: str,
    group: Group,
    possible: stats.Possible = stats.SHARE,
    statistic: str = 'mean',
) -> Estimator:
    """The mean of a column.

    Args:
      possible: the values that the column may have, here and below: a share's.
      statistic: over the networks of a seed; 'max' over its rates in P1 Sec 4.
    """

    def estimate(members: pd.DataFrame) -> Estimate:
        chosen = select(members, group.levels)
        null = average_null(chosen, column)
        values = average(chosen, column, statistic)
        return measure(group.name, values, possible, null)

    return estimate


def fraction_above(column: str, border: float, group: Group) -> Estimator:
    """The share of networks whose column is above the border."""

    def estimate(members: pd.DataFrame) -> Estimate:
        chosen = select(members, group.levels).dropna(subset=column)
        is_above = chosen[column] > border
        found = measure(
            f'{group.name} above {border:g}', average_flags(is_above, chosen)
        )
        note = f'{is_above.sum()} of {len(is_above)} networks'
        return found._replace(note=note if len(is_above) else '')

    return estimate


def average_flags(is_true: pd.Series, members: pd.DataFrame) -> pd.Series:
    """By seed, the share of its networks of which this is true."""
    return is_true.groupby(members.seed).mean()


def measure(
    name: str,
    values: pd.Series,
    possible: stats.Possible = stats.SHARE,
    null: float = np.nan,
) -> Estimate:
    """The mean of one group's numbers, by seed."""
    side = Side(name, stats.mean_interval(values, possible))
    return Estimate(values, LEVEL, (side,), null=null, possible=possible)


def select_pairs(
    members: pd.DataFrame, first: Levels, second: Levels
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The members of two groups that have a partner in the other one.

    Partners have the same seed, and the same value of every other axis that varies here
    and that neither group names: a rate that diverged at one γ alone says nothing of γ.
    The axes are the columns up to `seed`.
    """
    named = {'run', *first, *second}
    keys = ['seed', *(axis for axis in list_varying_axes(members) if axis not in named)]
    is_first, is_second = mark(members, first), mark(members, second)
    rest = pd.MultiIndex.from_frame(members[keys].astype(str))
    has_partner = rest.isin(rest[is_second]), rest.isin(rest[is_first])
    return members[is_first & has_partner[0]], members[is_second & has_partner[1]]


class Pairs(NamedTuple):
    """Means by seed of two groups, or columns, of the networks that have partners."""

    first: pd.Series
    second: pd.Series
    left_out: int  # networks without a partner
    null: float  # what a network scores in the first column that does not compose


def pair(
    members: pd.DataFrame,
    first: tuple[str, Levels],
    second: tuple[str, Levels],
    statistic: str = 'mean',
) -> Pairs:
    """A column of some members beside a column of others, or of the same.

    Args:
      first, second: the column, and which members. Those whose number is not known are
        left out without being counted.
      statistic: over the networks of a seed.
    """
    (first_column, first_levels), (second_column, second_levels) = first, second
    known = members.dropna(subset=[first_column, second_column])
    everyone = mark(known, first_levels).sum() + mark(known, second_levels).sum()
    ones, others = select_pairs(known, first_levels, second_levels)
    return Pairs(
        average(ones, first_column, statistic),
        average(others, second_column, statistic),
        left_out=int(everyone) - len(ones) - len(others),
        null=average_null(pd.concat([ones, others]), first_column),
    )


def difference(
    column: str,
    first: Group,
    second: Group,
    possible: stats.Possible = stats.SHARE,
    statistic: str = 'mean',
) -> Estimator:
    """The first group less the second, of networks that are partners.

    Args:
      statistic: as of `level`.
    """

    def estimate(members: pd.DataFrame) -> Estimate:
        groups = (column, first.levels), (column, second.levels)
        pairs = pair(members, *groups, statistic)
        return subtract(pairs, (first.name, second.name), possible)

    return estimate


def ratio(column: str, first: Group, second: Group) -> Estimator:
    """The first group by the second, of networks that are partners.

    The ratio is a geometric mean; the numbers of both groups beside it are plain means.
    """

    def estimate(members: pd.DataFrame) -> Estimate:
        pairs = pair(members, (column, first.levels), (column, second.levels))
        values = (pairs.first / pairs.second).transform(np.log)
        sides = name_sides(pairs, (first.name, second.name), stats.POSITIVE)
        return Estimate(values, RATIO, sides, left_out=pairs.left_out)

    return estimate


def paired_difference(
    first: str,
    second: str,
    names: tuple[str, str],
    levels: Levels,
    possible: stats.Possible = stats.SHARE,
) -> Estimator:
    """One column less another, of the same networks.

    Args:
      names: of both columns in the table.
    """

    def estimate(members: pd.DataFrame) -> Estimate:
        pairs = pair(members, (first, levels), (second, levels))
        return subtract(pairs, names, possible)._replace(null=np.nan)

    return estimate


def rank_correlation(first: str, second: str, levels: Levels) -> Estimator:
    """Spearman's correlation of two columns over the networks of a seed."""

    def estimate(members: pd.DataFrame) -> Estimate:
        found = {}
        for seed, of_seed in select(members, levels).groupby('seed'):
            found[seed] = spectra.rank_correlation(of_seed[first], of_seed[second])
        values = pd.Series(found, dtype=float).dropna()
        return Estimate(values, CORRELATION, possible=stats.COSINE)

    return estimate


def subtract(
    pairs: Pairs, names: tuple[str, str], possible: stats.Possible = stats.SHARE
) -> Estimate:
    """The first less the second, by seed."""
    low, high, is_share = possible
    return Estimate(
        pairs.first - pairs.second,
        DIFFERENCE,
        name_sides(pairs, names, possible),
        null=pairs.null,
        left_out=pairs.left_out,
        possible=stats.Possible(low - high, high - low, is_share),
    )


def name_sides(
    pairs: Pairs, names: tuple[str, str], possible: stats.Possible
) -> tuple[Side, Side]:
    """Both means with their intervals."""
    first, second = names
    return (
        Side(first, stats.mean_interval(pairs.first, possible)),
        Side(second, stats.mean_interval(pairs.second, possible)),
    )


def compare_moments(found: Lag, slow: str, fast: str) -> Estimate:
    """How many times later one crossing comes than another: log ratio by seed.

    Args:
      slow, fast: their names in the table.
    """
    sides = []
    for name, steps in ((slow, found.slow), (fast, found.fast)):
        sides.append(Side(name, stats.mean_interval(steps, stats.POSITIVE)))
    note = f'never: {found.never}' if len(found.ratios) else ''
    log_ratios = found.ratios.transform(np.log)
    return Estimate(log_ratios, RATIO, tuple(sides), found.bound, note=note)


def compare_lags(lags: Sequence[Lag], names: tuple[str, str]) -> Estimate:
    """The first lag by the second, of the seeds that have both: log ratio by seed."""
    first, second = lags
    shared = share_seeds(first, second)
    quotients, bound = divide_lags(*shared)
    sides = []
    for name, found in zip(names, shared, strict=True):
        mean = stats.ratio_interval(found.ratios)
        sides.append(Side(name, mean, found.bound))
    log_ratios = quotients.transform(np.log)
    return Estimate(log_ratios, RATIO, tuple(sides), bound)
