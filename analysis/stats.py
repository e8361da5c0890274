"""Intervals and p-values of one number per seed: 95 %, two-sided, by SciPy."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from pandas.api.typing import SeriesGroupBy
from scipy import stats
from statsmodels.stats.power import TTestPower

LEVEL = 0.95  # of every interval
MIN_SEEDS = 3  # fewer have no interval


class Possible(NamedTuple):
    """The values that a mean may have."""

    low: float = -np.inf
    high: float = np.inf
    is_share: bool = False  # of answers, or a difference of such shares


ANY = Possible()
POSITIVE = Possible(0.0)
SHARE = Possible(0.0, 1.0, is_share=True)
CHANGE = Possible(-1.0, 1.0, is_share=True)
COSINE = Possible(-1.0, 1.0)  # or a correlation
SIZE = Possible(0.0, 1.0)  # of a cosine or a correlation, without its sign


class Mean(NamedTuple):
    """A mean over seeds and its interval, NaN with fewer than MIN_SEEDS seeds."""

    mean: float
    low: float
    high: float


def mean_interval(values: ArrayLike, possible: Possible = ANY) -> Mean:
    """The mean of one value per seed, with Student's t interval; NaN without values.

    Args:
      possible: where the interval is cut, which takes nothing from its coverage.
    """
    values = np.asarray(values, float)
    if not len(values):
        return Mean(np.nan, np.nan, np.nan)
    mean = float(values.mean())
    if len(values) < MIN_SEEDS or np.isnan(mean):
        return Mean(mean, np.nan, np.nan)
    if np.ptp(values) == 0:
        return Mean(mean, mean, mean)
    ends = stats.t.interval(LEVEL, len(values) - 1, mean, stats.sem(values))
    low, high = np.clip(ends, possible.low, possible.high)
    return Mean(mean, float(low), float(high))


def mean_intervals(groups: SeriesGroupBy, possible: Possible = ANY) -> pd.DataFrame:
    """The `mean_interval` of every group: a row each, with the columns of Mean."""
    rows = [mean_interval(values, possible) for _, values in groups]
    return pd.DataFrame(rows, groups.size().index, Mean._fields)


def ratio_interval(ratios: ArrayLike) -> Mean:
    """The geometric mean of one ratio per seed; the interval is of its logarithm."""
    return Mean(*np.exp(mean_interval(np.log(ratios))))


def p_value(values: ArrayLike, border: float) -> float:
    """Of Student's t test that the mean of one value per seed is `border`.

    Equal values have no spread to test against: 1 at the border, 0 away from it.
    """
    values = np.asarray(values, float)
    if len(values) < MIN_SEEDS:
        return np.nan
    if np.ptp(values) < 1e-12:  # rounding is no spread
        return float(np.isclose(values[0], border))
    return float(stats.ttest_1samp(values, border).pvalue)


def power(values: ArrayLike, effect: float, level: float) -> float:
    """The chance that the t test at this level finds a mean this far from the border.

    Args:
      values: one per seed, as many as the design has, whose spread is taken for true.
    """
    values = np.asarray(values, float)
    if np.ptp(values) < 1e-12:
        return 1.0
    size = effect / values.std(ddof=1)
    found = float(TTestPower().power(size, len(values), level))
    return 1.0 if np.isnan(found) else found  # so certain that SciPy has no number


def holm(p_values: ArrayLike) -> np.ndarray:
    """Holm's correction of the p-values that are not NaN.

    As statsmodels' multipletests, which collects garbage at every call: a quarter of a
    second, in a table of twenty families.
    """
    corrected = np.array(p_values, float)
    (known,) = np.nonzero(np.isfinite(corrected))
    ascending = known[np.argsort(corrected[known])]
    raised = corrected[ascending] * np.arange(len(known), 0, -1)
    corrected[ascending] = np.minimum(np.maximum.accumulate(raised), 1)
    return corrected


def format_number(number: float) -> str:
    """'0.97', '15.72'; thousands without decimals: '10,456'."""
    return f'{number:,.0f}' if abs(number) >= 1000 else f'{number:.2f}'


def format_mean(found: Mean) -> str:
    """'0.97 [0.95, 0.99]', or the mean alone without an interval."""
    mean, low, high = map(format_number, found)
    return mean if np.isnan(found.low) else f'{mean} [{low}, {high}]'
