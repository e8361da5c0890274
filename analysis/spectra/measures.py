"""How few directions a matrix, a cloud of vectors or a spectrum uses."""

import math

import numpy as np
from scipy import stats
from scipy.spatial.distance import squareform

from analysis.spectra.spectra import singular_values


def stable_rank(W: np.ndarray) -> float:
    """Sum of (sigma_i / sigma_max)^2 (P3 Fig 5C): 1 for rank one, NaN for zeros.

    A matrix with n equal singular values has stable rank n.
    """
    sigma = singular_values(W)
    largest = sigma[0]
    if not largest > 0:
        return math.nan
    total = (sigma**2).sum()
    return float(total / largest**2)


def participation_ratio(values: np.ndarray) -> float:
    """(sum v)^2 / sum v^2 of a spectrum: how many of its values count; NaN for zeros.

    P4 takes it of singular values.
    """
    values = np.asarray(values, np.float64)
    if not values.any():
        return math.nan
    total = values.sum()
    sum_of_squares = (values**2).sum()
    return float(total**2 / sum_of_squares)


def cosines(rows_a: np.ndarray, rows_b: np.ndarray | None = None) -> np.ndarray:
    """Cosine of every row of a with every row of b [rows of a, rows of b].

    By default b is a. The cosine with a row of zeros is 0.
    """
    if rows_b is None:
        rows_b = rows_a
    units_a = _normalize_rows(rows_a)
    units_b = _normalize_rows(rows_b)
    return units_a @ units_b.T


def list_pairs(matrix: np.ndarray) -> np.ndarray:
    """The entries above the diagonal of a square matrix: each pair once."""
    return squareform(matrix, checks=False)


def rank_correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's correlation over the pairs in which both numbers are finite.

    NaN when fewer than three pairs remain, or when x or y is constant in them.
    """
    x = np.ravel(x)
    y = np.ravel(y)
    finite = np.isfinite(x) & np.isfinite(y)
    x = x[finite]
    y = y[finite]
    if len(x) < 3:
        return math.nan
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    return float(stats.spearmanr(x, y).statistic)


def _normalize_rows(rows: np.ndarray) -> np.ndarray:
    """Rows of length one; a row of zeros stays zero."""
    rows = np.asarray(rows, np.float64)
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    units = np.zeros_like(rows)
    return np.divide(rows, norms, out=units, where=norms > 0)
