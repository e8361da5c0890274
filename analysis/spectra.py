"""How few directions a matrix uses: spectra, their measures, and cosines of its rows.

Spectra are of a matrix [d_in, d_out], in double precision and descending order.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.spatial.distance import squareform
from threadpoolctl import threadpool_limits

MIN_GROWTH = 2.0  # an eigenvalue that never doubles does not rise

# One thread gives the same bits on every machine, and is faster for small matrices.
single_thread = threadpool_limits.wrap(limits=1)


def singular_values(W: np.ndarray) -> np.ndarray:
    """Singular values [min(d_in, d_out)]."""
    return np.linalg.svd(np.asarray(W, np.float64), compute_uv=False)


def covariance_spectrum(W: np.ndarray) -> np.ndarray:
    """Eigenvalues of the covariance of the rows, [min(d_in, d_out)]."""
    rows = np.asarray(W, np.float64)
    centred = rows - rows.mean(0)
    degrees_of_freedom = max(len(rows) - 1, 1)
    return singular_values(centred) ** 2 / degrees_of_freedom


def find_rises(steps_S: np.ndarray, values_SI: np.ndarray) -> np.ndarray:
    """First snapshot step at which a value has made half of its rise, [I].

    The rise is from the start to the peak, since weight decay may lower the value
    again. NaN for a value that never reaches MIN_GROWTH times its start, and with a
    single snapshot.
    """
    start_I = values_SI[0]
    peak_I = values_SI.max(0)
    half_way_I = start_I + (peak_I - start_I) / 2
    is_above_SI = values_SI >= half_way_I
    first_I = is_above_SI.argmax(0)
    rises_I = (peak_I > start_I) & (peak_I >= MIN_GROWTH * start_I)
    steps_S = np.asarray(steps_S)
    return np.where(rises_I, steps_S[first_I], np.nan)


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


def rank_correlation(x: ArrayLike, y: ArrayLike) -> float:
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
