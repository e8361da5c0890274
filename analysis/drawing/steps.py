"""Power by period and similarity by step of the items (see `vectors.order`)."""

from collections.abc import Iterable

import numpy as np
from matplotlib.axes import Axes

from analysis.drawing import style
from analysis.drawing.items import STEP_COLOURS

_PERIODS = np.array([20, 10, 5, 4, 3, 2])  # named on the axis, if the items cover them
_GREY = style.COLOURS['memorizing']
_BLUE = style.COLOURS['inferential']


def draw_spectrum(
    axis: Axes,
    periods: np.ndarray,
    power: np.ndarray,
    bound: np.ndarray,
) -> None:
    """Draws power by period, over the `bound` that random orders seldom pass."""
    frequencies = 1 / periods
    axis.fill_between(frequencies, bound, color=_GREY, alpha=0.4)
    axis.plot(frequencies, power, '.-', ms=3, lw=0.8, color=_BLUE)
    for step, colour in STEP_COLOURS.items():
        axis.axvline(1 / step, color=colour, lw=0.8, ls=':')
    longest = periods[0]
    ticks = _PERIODS[longest >= _PERIODS]
    axis.set_xticks(1 / ticks, ticks)
    axis.set(yscale='log', xlim=(0, 0.51))
    axis.set(xlabel='period [items]', ylabel='share of power')


def draw_similarity(
    axis: Axes,
    similarity: np.ndarray,
    bounds: np.ndarray,
    marked: Iterable[int],
) -> None:
    """Draws the mean cosine by step, over the range of random orders.

    Args:
      bounds: the range [(low, high), step].
      marked: steps with a dotted line, in the colour of STEP_COLOURS or in black.
    """
    count = len(similarity)
    steps = np.arange(1, count + 1)
    low, high = bounds
    axis.fill_between(steps, low, high, color=_GREY, alpha=0.4, label='random order')
    axis.plot(steps, similarity, '.-', ms=4, color=_BLUE)
    for step in marked:
        colour = STEP_COLOURS.get(step, 'black')
        axis.axvline(step, color=colour, lw=0.8, ls=':')
    axis.axhline(0, color='black', lw=0.5)
    axis.set_xlim(0, count + 1)
    axis.set(xlabel='step between two items', ylabel='mean cosine')
    axis.set_xticks(steps[::2])
    axis.legend(loc='upper right')
