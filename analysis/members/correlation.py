"""Which numbers of the members go together, and how surely: Spearman's correlation.

Within strata: members of one seed share their data and the direction of their initial
weights, so only members of one seed are ranked against each other, and exchanged for
the p-value.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

PERMUTATIONS = 10_000


class Correlations(NamedTuple):
    """NaN where something does not vary."""

    correlation_XY: np.ndarray
    p_value_XY: np.ndarray  # two-sided, by permuting the members within strata


def correlations(
    x_XM: np.ndarray,
    y_YM: np.ndarray,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    strata_M: ArrayLike | None = None,
) -> Correlations:
    """Spearman's rank correlation of every x with every y, over the members.

    Members with a NaN anywhere are left out. The p-value assumes exchangeable members
    within a stratum, which the members of a sweep of gamma are not: it says that the
    two go together over this sweep, not that one causes the other.

    Args:
      strata_M: the stratum of every member; one for all by default.
    """
    if strata_M is None:
        strata_M = np.zeros(x_XM.shape[1], int)
    is_known_M = np.isfinite(x_XM).all(0) & np.isfinite(y_YM).all(0)
    strata_M = np.asarray(strata_M)[is_known_M]
    x_XM = _standardize_ranks(x_XM[:, is_known_M], strata_M)
    y_YM = _standardize_ranks(y_YM[:, is_known_M], strata_M)
    correlation = x_XM @ y_YM.T
    if not len(strata_M):
        correlation[:] = np.nan

    rng = np.random.default_rng(seed)
    threshold = np.abs(correlation) - 1e-9
    at_least_as_large = np.zeros_like(correlation)
    for _ in range(permutations):
        order_M = _permute_within(strata_M, rng)
        by_chance = x_XM[:, order_M] @ y_YM.T
        at_least_as_large += np.abs(by_chance) >= threshold
    p_value = (1 + at_least_as_large) / (1 + permutations)
    return Correlations(correlation, np.where(np.isnan(correlation), np.nan, p_value))


def _standardize_ranks(x_XM: np.ndarray, strata_M: np.ndarray) -> np.ndarray:
    """Ranks within strata, centred there, each row of length one; NaN: no variation.

    Spearman's correlation within strata is the inner product of two such rows.
    """
    ranks = pd.DataFrame(x_XM.T).groupby(strata_M).rank()
    centred = ranks - ranks.groupby(strata_M).transform('mean')
    lengths = np.sqrt((centred**2).sum())
    return (centred / lengths.where(lengths > 0)).values.T


def _permute_within(strata_M: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random order of the members [M] in which everyone stays in its stratum."""
    order_M = np.arange(len(strata_M))
    for stratum in np.unique(strata_M):
        members = np.flatnonzero(strata_M == stratum)
        order_M[members] = rng.permutation(members)
    return order_M
