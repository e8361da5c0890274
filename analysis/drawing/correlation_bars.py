"""Bars of the correlations of two measures with several outcomes."""

import numpy as np
from matplotlib.axes import Axes

_COLOURS = ('#444444', '#AAAAAA')  # of the measures
_HEIGHT = 0.36


def draw_correlations(
    axis: Axes,
    measures: tuple[str, str],
    outcomes: tuple[str, ...],
    correlation_XY: np.ndarray,
    p_value_XY: np.ndarray,
) -> None:
    """A group of bars for each outcome, with the p-value beside each bar."""
    place_Y = np.arange(len(outcomes))
    for i, shift in enumerate((0.2, -0.2)):
        values = correlation_XY[i]
        bars = {'color': _COLOURS[i], 'label': measures[i]}
        axis.barh(place_Y + shift, values, _HEIGHT, **bars)
        for y, r, p in zip(place_Y + shift, values, p_value_XY[i], strict=True):
            text = '–'
            if np.isfinite(r):
                text = f'{r:.2f}, p {p:.1g}'
            if r < 0:
                axis.text(0.03, y, text, ha='left', va='center', fontsize=6)
            else:
                axis.text(-0.03, y, text, ha='right', va='center', fontsize=6)
    axis.set_yticks(range(len(outcomes)), outcomes)
    axis.set_xlim(-1, 1)
    axis.axvline(0, color='black', lw=0.6)
