"""Intervals and p-values of the verdicts, of 95 %, chosen because members are few.

The intervals of proportions (Wilson's, Newcombe's) are approximations that are close
from about three members a group on; all others are of t distributions, permutations or
a bootstrap.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

LEVEL = 0.95  # of every interval
P_VALUE = 0.05
MIN_SEEDS = 3  # fewer decide nothing
PERMUTATIONS = 2_000
BOOTSTRAPS = 2_000


class Mean(NamedTuple):
    """A mean and its interval; the interval is NaN of fewer than MIN_SEEDS values."""

    mean: float
    low: float
    high: float


def wilson_interval(successes: float, total: int) -> tuple[float, float]:
    """Wilson's score interval of a proportion; (0, 1) where total = 0."""
    if total == 0:
        return 0.0, 1.0
    share = successes / total
    z = stats.norm.ppf((1 + LEVEL) / 2)
    scale = 1 + z**2 / total
    centre = (share + z**2 / (2 * total)) / scale
    variance = share * (1 - share) / total + z**2 / (4 * total**2)
    reach = z * math.sqrt(variance) / scale
    return max(0.0, centre - reach), min(1.0, centre + reach)


def newcombe_interval(s1: int, n1: int, s2: int, n2: int) -> tuple[float, float]:
    """Newcombe's interval of s1 / n1 - s2 / n2, two independent proportions.

    It combines Wilson's intervals (Newcombe 1998, method 10). (-1, 1) where one of the
    totals is 0.
    """
    if n1 == 0 or n2 == 0:
        return -1.0, 1.0
    p1 = s1 / n1
    p2 = s2 / n2
    low1, high1 = wilson_interval(s1, n1)
    low2, high2 = wilson_interval(s2, n2)
    difference = p1 - p2
    low = difference - math.hypot(p1 - low1, high2 - p2)
    high = difference + math.hypot(high1 - p1, p2 - low2)
    return low, high


def mean_interval(values: ArrayLike) -> Mean:
    """The mean of one value per seed, with Student's t interval.

    Values that are not finite are left out; NaN without any.
    """
    values = np.asarray(values, np.float64)
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return Mean(math.nan, math.nan, math.nan)
    mean = float(values.mean())
    if len(values) < MIN_SEEDS:
        return Mean(mean, math.nan, math.nan)
    quantile = stats.t.ppf((1 + LEVEL) / 2, len(values) - 1)
    reach = float(quantile * values.std(ddof=1) / math.sqrt(len(values)))
    return Mean(mean, mean - reach, mean + reach)


def average_ratios(ratio_M: np.ndarray) -> Mean:
    """The geometric mean over seeds, with Student's t interval of the logarithms."""
    found = mean_interval(np.log(ratio_M))
    return Mean(*np.exp(found).tolist())


def permutation_p(
    statistic: Callable[[np.ndarray], float],
    labels: ArrayLike,
    strata: ArrayLike,
    seed: int = 0,
) -> float:
    """Two-sided p-value of `statistic(labels)`, permuting labels within each stratum.

    Twice the smaller tail: where labels are shared out unevenly between strata, chance
    is not centred at 0. The observed labels count as one of the PERMUTATIONS + 1, so
    that p is never 0. NaN where the observed statistic is.
    """
    labels = np.asarray(labels)
    strata = np.asarray(strata)
    observed = statistic(labels)
    if math.isnan(observed):
        return math.nan
    rng = np.random.default_rng(seed)
    at_least, at_most = 1, 1
    for _ in range(PERMUTATIONS):
        by_chance = statistic(labels[permute_within(strata, rng)])
        at_least += by_chance >= observed - 1e-12
        at_most += by_chance <= observed + 1e-12
    return min(1.0, 2 * min(at_least, at_most) / (1 + PERMUTATIONS))


def permute_within(strata_M: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random order of the members [M] in which everyone stays in its stratum."""
    order_M = np.arange(len(strata_M))
    for stratum in np.unique(strata_M):
        members = np.flatnonzero(strata_M == stratum)
        order_M[members] = rng.permutation(members)
    return order_M


def bootstrap_interval(
    statistic: Callable[[np.ndarray], float], clusters: ArrayLike, seed: int = 0
) -> tuple[float, float]:
    """Percentile interval of a statistic, by resampling whole clusters (seeds).

    Members of one seed share their data and the direction of their initial weights, so
    they are no independent draws.

    Args:
      statistic: from indices of members, with repetitions, to a number. Draws in which
        it is NaN are left out.
      clusters: [M] the seed of every member.

    Returns:
      (low, high); NaN for fewer than MIN_SEEDS clusters.
    """
    clusters = np.asarray(clusters)
    names = np.unique(clusters)
    if len(names) < MIN_SEEDS:
        return math.nan, math.nan
    members_of = [np.flatnonzero(clusters == name) for name in names]
    rng = np.random.default_rng(seed)
    draws = []
    for _ in range(BOOTSTRAPS):
        chosen = rng.integers(len(names), size=len(names))
        members = np.concatenate([members_of[i] for i in chosen])
        draws.append(statistic(members))
    if np.isnan(draws).all():
        return math.nan, math.nan
    tail = (1 - LEVEL) / 2
    low, high = np.nanquantile(draws, [tail, 1 - tail])
    return float(low), float(high)
