"""Matrices of tokens compared pair by pair, beside random orders of the tokens."""

import numpy as np
from scipy import stats
from scipy.spatial.distance import squareform

from analysis.spectra.measures import list_pairs

PERMUTATIONS = 200
QUANTILE = 0.95


def rank_pairs(matrix_AA: np.ndarray) -> np.ndarray:
    """A symmetric matrix of the ranks of its pairs; 0 on the diagonal."""
    return squareform(stats.rankdata(list_pairs(matrix_AA)))


def correlate(matrix_AA: np.ndarray, other_AA: np.ndarray) -> tuple[float, np.ndarray]:
    """(Pearson's correlation over the pairs, the same with random orders of the other).

    That of two `rank_pairs` is Spearman's; NaN if one of them does not vary.
    """
    rng = np.random.default_rng(0)  # the same orders in every call
    rows = [_standardize(list_pairs(other_AA))]
    for _ in range(PERMUTATIONS):
        order_A = rng.permutation(len(other_AA))
        shuffled_AA = other_AA[np.ix_(order_A, order_A)]
        rows.append(_standardize(list_pairs(shuffled_AA)))
    found = np.array(rows) @ _standardize(list_pairs(matrix_AA))
    return float(found[0]), found[1:]


def measure_order(cosine_AA: np.ndarray, tokens_A: np.ndarray) -> dict[str, float]:
    """How the cosines of tokens go with their distance; NaN for fewer than three.

    rho, rho_bound: rank correlation, -1 if alike means near, and the 5 % quantile of it
      over random orders of the tokens.
    mean, mean_abs: cosine, and its absolute value: 0 where all are orthogonal.
    """
    distance_AA = np.abs(np.subtract.outer(tokens_A, tokens_A))
    rho, by_chance = correlate(rank_pairs(cosine_AA), rank_pairs(distance_AA))
    cosines = list_pairs(cosine_AA)
    return {
        'rho': rho,
        'rho_bound': float(np.quantile(by_chance, 1 - QUANTILE)),
        'mean': float(cosines.mean()),
        'mean_abs': float(np.abs(cosines).mean()),
    }


def _standardize(values: np.ndarray) -> np.ndarray:
    """Mean 0 and length 1; NaN if they do not vary."""
    centred = values - values.mean()
    norm = np.linalg.norm(centred)
    varies = norm > 1e-9 * (1 + np.abs(values).max())
    return centred / norm if varies else np.full(len(values), np.nan)
