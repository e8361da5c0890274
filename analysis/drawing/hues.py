"""A hue for a pair of anchors and its reverse: (a, b) dark, (b, a) light; grey for all (a, a)."""

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.lines import Line2D

GREY = (0.8, 0.8, 0.8, 1)


def colours(pairs_A2) -> np.ndarray:
    """RGBA of every ordered pair [A, 4]."""
    light_A, hues_A = pairs_A2[:, 0] > pairs_A2[:, 1], _hues(pairs_A2)
    found = plt.get_cmap('tab20')(
        (2 * hues_A + light_A) % 14
    )  # 14 and 15 are its greys
    found[hues_A < 0] = GREY
    return found


def legend(axis, pairs_A2) -> None:
    """Below the axis; a pair stands above its reverse, the pairs (a, a) share one entry."""
    colours_A4, hues_A = colours(pairs_A2), _hues(pairs_A2)
    order = sorted(np.flatnonzero(hues_A >= 0), key=lambda i: (hues_A[i], i))
    dots = [(colours_A4[i], '{},{}'.format(*pairs_A2[i])) for i in order] + [
        (GREY, 'a,a')
    ]
    handles = [
        Line2D([], [], marker='o', ls='', ms=4, color=c, label=name) for c, name in dots
    ]
    axis.legend(
        handles=handles,
        ncols=(len(handles) + 1) // 2,
        loc='upper center',
        bbox_to_anchor=(0.5, 0),
        handletextpad=0,
        columnspacing=0.8,
    )


def _hues(pairs_A2) -> np.ndarray:
    """Number of the unordered pair; -1 for a pair (a, a)."""
    apart_A = pairs_A2[:, 0] != pairs_A2[:, 1]
    hues_A = np.full(len(pairs_A2), -1)
    unordered = np.sort(pairs_A2[apart_A], axis=1)
    hues_A[apart_A] = np.unique(unordered, axis=0, return_inverse=True)[1]
    return hues_A
