"""Items as points of a plane, joined by arithmetic sequences (P1 Fig 5 c, d)."""

import itertools

import matplotlib
import numpy as np
from matplotlib.axes import Axes

from analysis.vectors import order

# P1's red and blue, for chains of steps 3 and 4.
STEP_COLOURS = dict(zip(order.STEPS, ('#D62728', '#1F77B4'), strict=True))


def draw_items(
    axis: Axes,
    items: np.ndarray,
    points: np.ndarray,
    labelled: bool,
) -> None:
    """Draws items as points, dark blue to yellow by value, and the chains of steps.

    Args:
      points: [item, 2 or more]; the first two coordinates are drawn.
      labelled: larger points with their item beside them, and arrows for lines.
    """
    points = points[:, :2]
    arrow = '->' if labelled else '-'
    for step, colour in STEP_COLOURS.items():
        _draw_chain(axis, points[::step], arrow, colour)
    viridis = matplotlib.colormaps['viridis']
    colours = viridis(np.linspace(0, 0.9, len(items)))
    size = 10 if labelled else 4
    axis.scatter(points[:, 0], points[:, 1], s=size, c=colours, lw=0, zorder=2)
    if labelled:
        _label_items(axis, items, points, colours)
    axis.set(xticks=[], yticks=[])


def _draw_chain(axis: Axes, points: np.ndarray, arrow: str, colour: str) -> None:
    line = {
        'arrowstyle': arrow,
        'color': colour,
        'lw': 0.6,
        'alpha': 0.6,
        'shrinkA': 2,
        'shrinkB': 2,
    }
    for start, end in itertools.pairwise(points):
        axis.annotate('', end, start, arrowprops=line, zorder=1)


def _label_items(
    axis: Axes,
    items: np.ndarray,
    points: np.ndarray,
    colours: np.ndarray,
) -> None:
    for item, point, colour in zip(items, points, colours, strict=True):
        axis.annotate(
            str(item),
            point,
            xytext=(1.5, 1.5),
            textcoords='offset points',
            fontsize=5,
            color=colour,
        )
