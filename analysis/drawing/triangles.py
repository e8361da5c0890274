"""Two comparisons of vectors in one matrix, one below the diagonal and one above; boxes in it.

A cell compares the vector of its row's key with that of its column's; its box is drawn where the
two have the same target. The diagonal belongs to neither comparison. Four sides S go into a
matrix: row and column of the lower triangle, then row and column of the upper one. A context C is
one draw of the noise.
"""

import numpy as np
from matplotlib.patches import Rectangle

from analysis.spectra import measures


def cosines(vectors_CSXD, centre: bool) -> np.ndarray:
    """[C, X, X], NaN on the diagonal; `centre` removes the mean of a context's vectors first."""
    if centre:
        vectors_CSXD = vectors_CSXD - vectors_CSXD.mean((1, 2), keepdims=True)
    found = [
        _merged(measures.cosines(v[0], v[1]), measures.cosines(v[2], v[3]))
        for v in vectors_CSXD
    ]
    return np.where(np.eye(vectors_CSXD.shape[2]), np.nan, found)


def apart(targets_SX) -> np.ndarray:
    """[X, X] target of the row minus target of the column: 0 in the boxes."""
    return _merged(*(targets_SX[i][:, None] - targets_SX[i + 1] for i in (0, 2)))


def comparable(apart_XX) -> bool:
    """Are there boxes and other cells, in both triangles?"""
    return all(
        {True, False} == set(apart_XX[half] == 0) for half in _halves(len(apart_XX))
    )


def boxes(cosine_CXX, apart_XX) -> np.ndarray:
    """[(inside, outside), triangle, C]: mean cosine where the targets agree, and where not."""
    agree_XX, halves = apart_XX == 0, _halves(len(apart_XX))
    mean = lambda chosen_XX: cosine_CXX[:, chosen_XX].mean(-1)
    return np.array(
        [[mean(half & cells) for half in halves] for cells in (agree_XX, ~agree_XX)]
    )


def interval(found_CN, draws: int = 2_000) -> np.ndarray:
    """[N, 3]: mean and 95% interval over resampled contexts."""
    contexts = len(found_CN)
    chosen = np.random.default_rng(0).integers(contexts, size=(draws, contexts))
    low, high = np.percentile(found_CN[chosen].mean(1), (2.5, 97.5), axis=0)
    return np.stack([found_CN.mean(0), low, high], axis=-1)


def by_distance(cosine_XX, apart_XX) -> tuple[np.ndarray, np.ndarray]:
    """(distances of the targets, mean cosine of all the cells that are so far apart)."""
    off_XX, far_XX = ~np.eye(len(apart_XX), dtype=bool), np.abs(apart_XX)
    distances = np.unique(far_XX[off_XX])
    return distances, np.array(
        [cosine_XX[off_XX & (far_XX == d)].mean() for d in distances]
    )


def heatmap(axis, cosine_XX, apart_XX, keys_X, colours: str, lowest: float):
    """Colours from `lowest` to 1, boxes in red; returns the image."""
    image = axis.imshow(cosine_XX, cmap=colours, vmin=lowest, vmax=1)
    for i, j in np.argwhere((apart_XX == 0) & ~np.eye(len(keys_X), dtype=bool)):
        axis.add_patch(
            Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, ec='red', lw=1.2)
        )
    ticks = np.arange(0, len(keys_X), max(len(keys_X) // 5, 1))
    axis.set_xticks(ticks, keys_X[ticks])
    axis.set_yticks(ticks, keys_X[ticks])
    return image


def _merged(below_XX, above_XX) -> np.ndarray:
    return np.where(np.tri(len(below_XX), k=-1, dtype=bool), below_XX, above_XX)


def _halves(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper triangle without the diagonal, bool [X, X]."""
    lower_XX = np.tri(size, k=-1, dtype=bool)
    return lower_XX, lower_XX.T
