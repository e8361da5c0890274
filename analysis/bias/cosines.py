"""Matrices of tokens compared pair by pair, beside random orders of the tokens."""

from typing import NamedTuple

import numpy as np
from scipy import stats

from analysis.spectra import measures

PERMUTATIONS = 200
QUANTILE = 0.95


class Match(NamedTuple):
    """How two matrices go together over the pairs of different tokens."""

    correlation: float  # NaN if one of them does not vary
    by_chance: np.ndarray  # [permutation] with the tokens of one in random orders


class Reference(NamedTuple):
    """The pairs of a matrix, to compare others with; standardized rows."""

    pairs: np.ndarray  # [pair]
    shuffled: np.ndarray  # [permutation, pair] with the tokens in random orders


class Order(NamedTuple):
    """How cosines go with the distance of the tokens."""

    rho: float  # rank correlation of cosine and distance: -1 if alike means near
    bound: float  # 5 % quantile of it over random orders of the tokens
    mean: float  # mean cosine
    mean_abs: float  # mean of its absolute value: 0 where all are orthogonal


def list_pairs(matrix_AA: np.ndarray) -> np.ndarray:
    """The entries above the diagonal: each pair of different tokens once."""
    above = np.triu_indices(len(matrix_AA), 1)
    return matrix_AA[above]


def rank_pairs(matrix_AA: np.ndarray) -> np.ndarray:
    """A symmetric matrix of the ranks of its pairs; 0 on the diagonal."""
    ranked_AA = np.zeros(matrix_AA.shape)
    above = np.triu_indices(len(matrix_AA), 1)
    ranked_AA[above] = stats.rankdata(matrix_AA[above])
    return ranked_AA + ranked_AA.T


def make_reference(y_AA: np.ndarray, permutations: int) -> Reference:
    """A matrix and its random orders, drawn once for all matrices that meet it."""
    rng = np.random.default_rng(0)  # the same orders in every call
    pairs = _standardize(list_pairs(y_AA))
    shuffled = np.empty((permutations, len(pairs)))
    for i in range(permutations):
        order_A = rng.permutation(len(y_AA))
        shuffled[i] = _standardize(list_pairs(y_AA[np.ix_(order_A, order_A)]))
    return Reference(pairs, shuffled)


def match_reference(x_AA: np.ndarray, reference: Reference) -> Match:
    """Pearson's correlation over the pairs; that of `rank_pairs` is Spearman's."""
    x = _standardize(list_pairs(x_AA))
    return Match(float(x @ reference.pairs), reference.shuffled @ x)


def match_pairs(
    x_AA: np.ndarray, y_AA: np.ndarray, permutations: int = PERMUTATIONS
) -> Match:
    """`match_reference` of two matrices."""
    return match_reference(x_AA, make_reference(y_AA, permutations))


def measure_order(
    cosine_AA: np.ndarray, tokens_A: np.ndarray, permutations: int = PERMUTATIONS
) -> Order:
    """The order in a matrix of cosines; NaN for fewer than three tokens."""
    distance_AA = np.abs(tokens_A[:, None] - tokens_A)
    match = match_pairs(rank_pairs(cosine_AA), rank_pairs(distance_AA), permutations)
    cosines = list_pairs(cosine_AA)
    return Order(
        rho=match.correlation,
        bound=float(np.quantile(match.by_chance, 1 - QUANTILE)),
        mean=float(cosines.mean()),
        mean_abs=float(np.abs(cosines).mean()),
    )


def compare_rows(W: np.ndarray, tokens_A: np.ndarray) -> np.ndarray:
    """Cosines [A, A] of the rows of some tokens."""
    return measures.cosines(W[tokens_A])


def _standardize(values: np.ndarray) -> np.ndarray:
    """Mean 0 and length 1; NaN if they do not vary."""
    centred = values - values.mean()
    norm = np.linalg.norm(centred)
    varies = norm > 1e-9 * (1 + np.abs(values).max())
    return centred / norm if varies else np.full(len(values), np.nan)
