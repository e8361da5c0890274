"""Matrices of tokens compared pair by pair, beside random orders of the tokens."""

import functools

import numpy as np
from scipy import stats
from scipy.spatial.distance import squareform

from analysis.spectra import list_pairs

PERMUTATIONS = 200
QUANTILE = 0.95


def rank_pairs(matrix_AA: np.ndarray) -> np.ndarray:
    """A symmetric matrix of the ranks of its pairs; 0 on the diagonal."""
    return squareform(stats.rankdata(list_pairs(matrix_AA)))


def make_reference(matrix_AA: np.ndarray) -> np.ndarray:
    """The pairs of a matrix, then those of random orders of its tokens, standardized.

    Drawn once for all matrices that are compared with it, [1 + PERMUTATIONS, pair].
    """
    rng = np.random.default_rng(0)  # the same orders in every call
    rows = [_standardize(list_pairs(matrix_AA))]
    for _ in range(PERMUTATIONS):
        order_A = rng.permutation(len(matrix_AA))
        shuffled_AA = matrix_AA[np.ix_(order_A, order_A)]
        rows.append(_standardize(list_pairs(shuffled_AA)))
    return np.array(rows)


def correlate(matrix_AA: np.ndarray, reference: np.ndarray) -> tuple[float, np.ndarray]:
    """(Pearson's correlation over the pairs, the same with every random order).

    That of two `rank_pairs` is Spearman's; NaN if one of them does not vary.
    """
    found = reference @ _standardize(list_pairs(matrix_AA))
    return float(found[0]), found[1:]


def measure_order(cosine_AA: np.ndarray, tokens_A: np.ndarray) -> dict[str, float]:
    """How the cosines of tokens go with their distance; NaN for fewer than three.

    rho, rho_bound: rank correlation, -1 if alike means near, and the 5 % quantile of it
      over random orders of the tokens.
    mean, mean_abs: cosine, and its absolute value: 0 where all are orthogonal.
    """
    reference = _refer_to_distance(tuple(tokens_A))
    rho, by_chance = correlate(rank_pairs(cosine_AA), reference)
    cosines = list_pairs(cosine_AA)
    return {
        'rho': rho,
        'rho_bound': float(np.quantile(by_chance, 1 - QUANTILE)),
        'mean': float(cosines.mean()),
        'mean_abs': float(np.abs(cosines).mean()),
    }


@functools.lru_cache
def _refer_to_distance(tokens: tuple[int, ...]) -> np.ndarray:
    """The `make_reference` of the ranks of their distances."""
    distance_AA = np.abs(np.subtract.outer(tokens, tokens))
    return make_reference(rank_pairs(distance_AA))


def _standardize(values: np.ndarray) -> np.ndarray:
    """Mean 0 and length 1; NaN if they do not vary."""
    centred = values - values.mean()
    norm = np.linalg.norm(centred)
    varies = norm > 1e-9 * (1 + np.abs(values).max())
    return centred / norm if varies else np.full(len(values), np.nan)
