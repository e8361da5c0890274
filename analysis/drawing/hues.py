"""One hue for a pair of anchors and its reverse; all pairs (a, a) are grey.

The pair that starts with the smaller anchor is dark, its reverse is light.
"""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

GREY = (0.8, 0.8, 0.8, 1)
_MAP = 'tab20'  # seven hues, dark and light in turn, before its greys 14 and 15
_COLOURS = 14
_MOST_LISTED = 16  # pairs: of four anchors, as in the paper


def colour_pairs(pairs_A2: np.ndarray) -> np.ndarray:
    """RGBA colour of every ordered pair [A, 4]."""
    first_A, second_A = pairs_A2.T
    light_A = first_A > second_A
    hue_A = _number_hues(pairs_A2)
    index_A = (2 * hue_A + light_A) % _COLOURS
    colours_A4 = matplotlib.colormaps[_MAP](index_A)
    colours_A4[hue_A < 0] = GREY
    return colours_A4


def draw_legend(axis: Axes, pairs_A2: np.ndarray) -> None:
    """Draws a legend below the axis: every pair above its reverse, then one (a, a).

    Says in words what the colours mean where there are too many pairs to list.
    """
    if len(pairs_A2) > _MOST_LISTED:
        axis.set_xlabel('a hue: a pair, light: its reverse;\nhues repeat; grey: a,a')
        return
    colours_A4 = colour_pairs(pairs_A2)
    hue_A = _number_hues(pairs_A2)
    handles = []
    for i in np.argsort(hue_A, kind='stable'):
        if hue_A[i] >= 0:
            first, second = pairs_A2[i]
            label = f'{first},{second}'
            handles.append(_make_dot(colours_A4[i], label))
    handles.append(_make_dot(GREY, 'a,a'))
    axis.legend(
        handles=handles,
        ncols=(len(handles) + 1) // 2,
        loc='upper center',
        bbox_to_anchor=(0.5, 0),
        handletextpad=0,
        columnspacing=0.8,
    )


def _make_dot(colour: np.ndarray | tuple, label: str) -> Line2D:
    return Line2D([], [], marker='o', ls='', ms=4, color=colour, label=label)


def _number_hues(pairs_A2: np.ndarray) -> np.ndarray:
    """Number of the unordered pair [A]; -1 for a pair (a, a)."""
    first_A, second_A = pairs_A2.T
    differs_A = first_A != second_A
    unordered = np.sort(pairs_A2[differs_A], axis=1)
    _, numbers = np.unique(unordered, axis=0, return_inverse=True)
    hue_A = np.full(len(pairs_A2), -1)
    hue_A[differs_A] = numbers
    return hue_A
