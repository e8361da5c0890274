"""A curve of several seeds: their mean, in the band from the lowest to the highest."""

import numpy as np
from matplotlib.axes import Axes


def draw_band(
    axis: Axes, x_S: np.ndarray, values_MS: np.ndarray, colour: str, label: str | None
) -> None:
    """Draws nothing where no member has a number."""
    is_known_S = np.isfinite(values_MS).any(0)
    if not is_known_S.any():
        return
    x_S = np.asarray(x_S)[is_known_S]
    known_MS = values_MS[:, is_known_S]
    lowest_S = np.nanmin(known_MS, axis=0)
    highest_S = np.nanmax(known_MS, axis=0)
    axis.fill_between(x_S, lowest_S, highest_S, color=colour, alpha=0.2, lw=0)
    axis.plot(x_S, np.nanmean(known_MS, axis=0), color=colour, lw=1.2, label=label)
