"""Which numbers of the members go together, and how surely: Spearman's correlation."""

from typing import NamedTuple

import numpy as np
from scipy import stats

from analysis.spectra import measures

PERMUTATIONS = 10_000


class Correlations(NamedTuple):
    """NaN where something does not vary."""

    correlation_XY: np.ndarray
    p_value_XY: np.ndarray  # two-sided, by permuting the members


def correlations(
    x_XM: np.ndarray,
    y_YM: np.ndarray,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> Correlations:
    """Spearman's rank correlation of every x with every y, over the members.

    Members with a NaN anywhere are left out. The p-value assumes exchangeable members,
    which the members of a sweep of gamma are not: it says that the two go together over
    this sweep, not that one causes the other.
    """
    is_x_known_M = np.isfinite(x_XM).all(0)
    is_y_known_M = np.isfinite(y_YM).all(0)
    is_known_M = is_x_known_M & is_y_known_M
    x_XM = x_XM[:, is_known_M]
    y_YM = y_YM[:, is_known_M]

    correlation = np.zeros((len(x_XM), len(y_YM)))
    for i, x_M in enumerate(x_XM):
        for j, y_M in enumerate(y_YM):
            correlation[i, j] = measures.rank_correlation(x_M, y_M)
    if not np.isfinite(correlation).any():
        return Correlations(correlation, correlation)

    x_XM = _standardize_ranks(x_XM)
    y_YM = _standardize_ranks(y_YM)
    rng = np.random.default_rng(seed)
    threshold = np.abs(correlation) - 1e-9
    at_least_as_large = np.zeros_like(correlation)
    for _ in range(permutations):
        order_M = rng.permutation(x_XM.shape[1])
        by_chance = x_XM[:, order_M] @ y_YM.T
        at_least_as_large += np.abs(by_chance) >= threshold
    p_value = (1 + at_least_as_large) / (1 + permutations)
    p_value[~np.isfinite(correlation)] = np.nan
    return Correlations(correlation, p_value)


def _standardize_ranks(x_XM: np.ndarray) -> np.ndarray:
    """Centred ranks of length one: Spearman's correlation is their inner product."""
    ranks = stats.rankdata(x_XM, axis=-1)
    centred = ranks - ranks.mean(-1, keepdims=True)
    norm = np.linalg.norm(centred, axis=-1, keepdims=True)
    zeros = np.zeros_like(centred)
    return np.divide(centred, norm, out=zeros, where=norm > 0)
