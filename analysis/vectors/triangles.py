"""Two comparisons of vectors in one matrix: one below the diagonal, one above it.

A cell compares the vector of its row's key with the vector of its column's key. Cells
whose two vectors have the same target are called boxes, after the boxes of the figure.
The diagonal belongs to neither comparison. A matrix shows four sides S: row and column
of the lower triangle, then row and column of the upper one. A context C is one draw of
the noise.
"""

from typing import NamedTuple

import numpy as np

from analysis.spectra import measures


class Comparison(NamedTuple):
    """Cosines of vectors, one matrix per name; means over contexts."""

    cosine: np.ndarray  # [name, X, X], NaN on the diagonal
    difference: np.ndarray  # [name, (mean, low, high)]: inside the boxes minus outside
    inside: np.ndarray  # [name, triangle] mean cosine inside the boxes
    outside: np.ndarray


def compare(
    vectors: tuple[np.ndarray, ...],
    apart: np.ndarray,
    centre: bool,
) -> Comparison:
    """Compares the vectors [C, S, X, D] of every name, inside the boxes and outside.

    Args:
      apart: differences of the targets [name, X, X].
      centre: first remove the mean of all the vectors of a name, in every context.
    """
    cosines = []
    insides = []
    outsides = []
    for vectors_CSXD, apart_XX in zip(vectors, apart, strict=True):
        cosine_CXX = compute_cosines(vectors_CSXD, centre)
        inside, outside = average_boxes(cosine_CXX, apart_XX)
        cosines.append(cosine_CXX.mean(0))
        insides.append(inside)
        outsides.append(outside)
    inside = np.stack(insides)  # [name, triangle, context]
    outside = np.stack(outsides)
    difference = (inside - outside).mean(1)  # [name, context]
    return Comparison(
        cosine=np.stack(cosines),
        difference=bootstrap_mean(difference.T),
        inside=inside.mean(-1),
        outside=outside.mean(-1),
    )


def compute_cosines(vectors_CSXD: np.ndarray, centre: bool) -> np.ndarray:
    """Cosines [C, X, X], NaN on the diagonal.

    Args:
      centre: first remove the mean of all the vectors of a context.
    """
    if centre:
        mean = vectors_CSXD.mean((1, 2), keepdims=True)
        vectors_CSXD = vectors_CSXD - mean
    cosine_CXX = []
    for lower_rows, lower_columns, upper_rows, upper_columns in vectors_CSXD:
        below_XX = measures.cosines(lower_rows, lower_columns)
        above_XX = measures.cosines(upper_rows, upper_columns)
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
        agree = apart_XX[half_XX] == 0
        if agree.all() or not agree.any():
            return False
    return True


def average_boxes(cosine_CXX: np.ndarray, apart_XX: np.ndarray) -> np.ndarray:
    """Mean cosine inside the boxes and outside [(inside, outside), triangle, C]."""
    agree_XX = apart_XX == 0
    lower_XX = _lower_triangle(len(apart_XX))
    inside = []
    outside = []
    for half_XX in (lower_XX, lower_XX.T):
        boxes_XX = half_XX & agree_XX
        others_XX = half_XX & ~agree_XX
        inside.append(cosine_CXX[:, boxes_XX].mean(-1))
        outside.append(cosine_CXX[:, others_XX].mean(-1))
    return np.array([inside, outside])


def bootstrap_mean(values_CN: np.ndarray, draws: int = 2_000) -> np.ndarray:
    """Mean, and its 95% interval over resampled contexts [N, (mean, low, high)]."""
    contexts = len(values_CN)
    rng = np.random.default_rng(0)
    resampled = rng.integers(contexts, size=(draws, contexts))
    means = values_CN[resampled].mean(1)
    mean = values_CN.mean(0)
    low, high = np.percentile(means, (2.5, 97.5), axis=0)
    return np.stack([mean, low, high], axis=-1)


def average_by_distance(
    cosine_XX: np.ndarray,
    apart_XX: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Distances of the targets, and the mean cosine of all cells at each distance."""
    off_diagonal_XX = ~np.eye(len(apart_XX), dtype=bool)
    distance_XX = np.abs(apart_XX)
    distances = np.unique(distance_XX[off_diagonal_XX])
    means = []
    for distance in distances:
        cells_XX = off_diagonal_XX & (distance_XX == distance)
        means.append(cosine_XX[cells_XX].mean())
    return distances, np.array(means)


def _merge(below_XX: np.ndarray, above_XX: np.ndarray) -> np.ndarray:
    lower_XX = _lower_triangle(len(below_XX))
    return np.where(lower_XX, below_XX, above_XX)


def _lower_triangle(size: int) -> np.ndarray:
    """Cells below the diagonal, bool [X, X]."""
    return np.tri(size, k=-1, dtype=bool)
