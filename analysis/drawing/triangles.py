"""Figures of two comparisons, one in each triangle (see `vectors.triangles`)."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from analysis.vectors import triangles

_COLOURS = ('#0072B2', '#D55E00')


def draw_triangles(
    axis: Axes,
    cosine_XX: np.ndarray,
    apart_XX: np.ndarray,
    keys_X: np.ndarray,
    colours: str,
    lowest: float,
) -> AxesImage:
    """Draws cosines in colours from `lowest` to 1, and the boxes in red."""
    image = axis.imshow(cosine_XX, cmap=colours, vmin=lowest, vmax=1)
    off_diagonal_XX = ~np.eye(len(keys_X), dtype=bool)
    boxes_XX = (apart_XX == 0) & off_diagonal_XX
    for row, column in np.argwhere(boxes_XX):
        corner = (column - 0.5, row - 0.5)
        axis.add_patch(Rectangle(corner, 1, 1, fill=False, ec='red', lw=1.2))
    stride = max(len(keys_X) // 5, 1)
    ticks = np.arange(0, len(keys_X), stride)
    axis.set_xticks(ticks, keys_X[ticks])
    axis.set_yticks(ticks, keys_X[ticks])
    return image


def draw_profile(
    axis: Axes,
    names: tuple[str, ...],
    apart: np.ndarray,
    cosine: np.ndarray,
    difference: np.ndarray,
) -> None:
    """Draws the mean cosine by distance of the targets, one line per name.

    Args:
      apart, cosine: [name, X, X].
      difference: [name, (mean, low, high)] inside the boxes minus outside.
    """
    for n, name in enumerate(names):
        mean, low, high = difference[n]
        label = f'{name}: {mean:+.3f} [{low:+.3f}, {high:+.3f}]'
        line = triangles.average_by_distance(cosine[n], apart[n])
        axis.plot(*line, marker='o', ms=3, color=_COLOURS[n], label=label)
    bottom, _ = axis.get_ylim()
    axis.set(xlabel='distance of the targets (0: boxes)', ylim=(bottom, 1.02))
    title = 'boxes − outside [95%]'
    axis.legend(loc='lower center', bbox_to_anchor=(0.5, 1), title=title)
