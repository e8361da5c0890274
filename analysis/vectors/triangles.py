"""Two comparisons of vectors in one matrix: one below the diagonal, one above it.

A cell compares the vector of its row's key with the vector of its column's key. Cells
whose two vectors have the same target are called boxes, after the boxes of the figure.
The diagonal belongs to neither comparison. A matrix shows four sides S: row and column
of the lower triangle, then row and column of the upper one. A context C is one draw of
the noise.
"""

import numpy as np
import pandas as pd
import xarray as xr
from scipy import stats

from analysis import spectra

TRIANGLES = ('lower', 'upper')


def compare(vectors_CSXD: np.ndarray, apart_XX: np.ndarray, centre: bool) -> xr.Dataset:
    """Compares vectors inside the boxes and outside; means over contexts.

      cosine     [row, column], NaN on the diagonal
      inside, outside [triangle] mean cosine in the boxes, and in the other cells
      difference [estimate] inside minus outside, mean over both triangles; its 95 %
                 interval resamples the contexts

    Args:
      apart_XX: differences of the targets.
      centre: first remove the mean of all the vectors, in every context.
    """
    cosine_CXX = compute_cosines(vectors_CSXD, centre)
    is_box_XX = apart_XX == 0
    lower_XX = _lower_triangle(len(apart_XX))
    inside, outside = [], []
    for half_XX in (lower_XX, lower_XX.T):
        inside.append(cosine_CXX[:, half_XX & is_box_XX].mean(-1))
        outside.append(cosine_CXX[:, half_XX & ~is_box_XX].mean(-1))
    difference_C = (np.array(inside) - np.array(outside)).mean(0)
    return xr.Dataset(
        {
            'cosine': (('row', 'column'), cosine_CXX.mean(0)),
            'inside': ('triangle', np.mean(inside, -1)),
            'outside': ('triangle', np.mean(outside, -1)),
            'difference': ('estimate', bootstrap_mean(difference_C)),
        },
        {'triangle': list(TRIANGLES), 'estimate': ['mean', 'low', 'high']},
    )


def compute_cosines(vectors_CSXD: np.ndarray, centre: bool) -> np.ndarray:
    """Cosines [C, X, X], NaN on the diagonal.

    Args:
      centre: first remove the mean of all the vectors of a context.
    """
    if centre:
        vectors_CSXD = vectors_CSXD - vectors_CSXD.mean((1, 2), keepdims=True)
    cosine_CXX = []
    for lower_rows, lower_columns, upper_rows, upper_columns in vectors_CSXD:
        below_XX = spectra.cosines(lower_rows, lower_columns)
        above_XX = spectra.cosines(upper_rows, upper_columns)
        cosine_CXX.append(_merge(below_XX, above_XX))
    diagonal_XX = np.eye(vectors_CSXD.shape[2])
    return np.where(diagonal_XX, np.nan, cosine_CXX)


def subtract_targets(targets_SX: np.ndarray) -> np.ndarray:
    """Target of the row minus target of the column [X, X]: 0 in the boxes."""
    lower_rows, lower_columns, upper_rows, upper_columns = targets_SX
    below_XX = lower_rows[:, None] - lower_columns
    above_XX = upper_rows[:, None] - upper_columns
    return _merge(below_XX, above_XX)


def is_comparable(apart_XX: np.ndarray) -> bool:
    """Whether both triangles have boxes and other cells."""
    lower_XX = _lower_triangle(len(apart_XX))
    for half_XX in (lower_XX, lower_XX.T):
        is_box = apart_XX[half_XX] == 0
        if is_box.all() or not is_box.any():
            return False
    return True


def bootstrap_mean(values_C: np.ndarray) -> np.ndarray:
    """Mean, and its 95 % interval over resampled contexts [(mean, low, high)]."""
    rng = np.random.default_rng(0)
    settings = {'n_resamples': 2_000, 'method': 'percentile', 'rng': rng}
    found = stats.bootstrap((values_C,), np.mean, **settings)
    return np.array([values_C.mean(), *found.confidence_interval])


def average_by_distance(
    cosine_XX: np.ndarray, apart_XX: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Distances of the targets, and the mean cosine of all cells at each distance."""
    cells = pd.Series(np.ravel(cosine_XX), np.abs(np.ravel(apart_XX))).dropna()
    means = cells.groupby(level=0).mean()
    return means.index.to_numpy(), means.to_numpy()


def _merge(below_XX: np.ndarray, above_XX: np.ndarray) -> np.ndarray:
    return np.where(_lower_triangle(len(below_XX)), below_XX, above_XX)


def _lower_triangle(size: int) -> np.ndarray:
    """Cells below the diagonal, bool [X, X]."""
    return np.tri(size, k=-1, dtype=bool)
