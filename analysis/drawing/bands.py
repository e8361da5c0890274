"""Means of several seeds: in the band of all of them, or with their intervals."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.typing import ColorType
from pandas.api.typing import DataFrameGroupBy


def draw_band(
    axis: Axes,
    x_S: np.ndarray,
    values_MS: np.ndarray,
    colour: ColorType,
    label: str | None,
) -> None:
    """The mean of the members, and a band from the lowest to the highest.

    Draws nothing where no member has a number.
    """
    is_known_S = np.isfinite(values_MS).any(0)
    if not is_known_S.any():
        return
    x_S = np.asarray(x_S)[is_known_S]
    known_MS = values_MS[:, is_known_S]
    lowest_S = np.nanmin(known_MS, axis=0)
    highest_S = np.nanmax(known_MS, axis=0)
    axis.fill_between(x_S, lowest_S, highest_S, color=colour, alpha=0.2, lw=0)
    axis.plot(x_S, np.nanmean(known_MS, axis=0), color=colour, lw=1.2, label=label)


def draw_intervals(axis: Axes, means: pd.DataFrame, **look: Any) -> None:
    """Points at the index of `stats.mean_intervals`, and their intervals as bars."""
    reach = [means['mean'] - means.low, means.high - means['mean']]
    axis.errorbar(means.index, means['mean'], reach, **look)


def spread_dots(cells: DataFrameGroupBy) -> pd.Series:
    """Where the dots of a cell are, side by side: -0.08 to 0.08, one alone at 0."""
    gaps = cells.seed.transform('size') - 1
    return 0.16 * (cells.cumcount() - gaps / 2) / gaps.clip(lower=1)


def scale_steps(axis: Axes) -> None:
    """Snapshots on a logarithmic axis that has a place for step 0."""
    axis.set_xscale('symlog', linthresh=1)
    axis.set_xlim(left=0)
    axis.tick_params(axis='x', labelsize=5)
