"""Which numbers of the members go together, and how surely: Spearman's correlation.

Within strata: members of one seed share their data and the direction of their initial
weights, so only members of one seed are ranked against each other, and exchanged for
the p-value.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

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
    is_x_known_M = np.isfinite(x_XM).all(0)
    is_y_known_M = np.isfinite(y_YM).all(0)
    is_known_M = is_x_known_M & is_y_known_M
    strata_M = np.asarray(strata_M)[is_known_M]
    x_XM = _standardize_ranks(x_XM[:, is_known_M], strata_M)
    y_YM = _standardize_ranks(y_YM[:, is_known_M], strata_M)

    correlation = x_XM @ y_YM.T
    varies_XY = x_XM.any(1)[:, None] & y_YM.any(1)
    correlation[~varies_XY] = np.nan
    if not varies_XY.any():
        return Correlations(correlation, correlation)

    rng = np.random.default_rng(seed)
    threshold = np.abs(correlation) - 1e-9
    at_least_as_large = np.zeros_like(correlation)
    for _ in range(permutations):
        order_M = _permute_within(strata_M, rng)
        by_chance = x_XM[:, order_M] @ y_YM.T
        at_least_as_large += np.abs(by_chance) >= threshold
    p_value = (1 + at_least_as_large) / (1 + permutations)
    p_value[~varies_XY] = np.nan
    return Correlations(correlation, p_value)


def _standardize_ranks(x_XM: np.ndarray, strata_M: np.ndarray) -> np.ndarray:
    """Ranks within strata, centred there, each row of length one (or zeros).

    Spearman's correlation within strata is the inner product of two such rows.
    """
    centred = _centre_ranks(x_XM, strata_M)
    norm = np.linalg.norm(centred, axis=-1, keepdims=True)
    zeros = np.zeros_like(centred)
    return np.divide(centred, norm, out=zeros, where=norm > 0)


def _centre_ranks(x_XM: np.ndarray, strata_M: np.ndarray) -> np.ndarray:
    """Ranks within strata, minus their mean there."""
    centred = np.zeros(x_XM.shape)
    for stratum in np.unique(strata_M):
        chosen_M = strata_M == stratum
        ranks = stats.rankdata(x_XM[:, chosen_M], axis=-1)
        centred[:, chosen_M] = ranks - ranks.mean(-1, keepdims=True)
    return centred


def _permute_within(strata_M: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random order of the members [M] in which everyone stays in its stratum."""
    order_M = np.arange(len(strata_M))
    for stratum in np.unique(strata_M):
        members = np.flatnonzero(strata_M == stratum)
        order_M[members] = rng.permutation(members)
    return order_M
