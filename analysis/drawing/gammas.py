"""γ along an axis, and above it the γ of the same standard deviation at P1's width."""

import math
from functools import partial

import numpy as np
from matplotlib.axes import Axes

from analysis.members.columns import PAPER_WIDTH, equivalent_gamma

_AT_WIDTH = f'at width {PAPER_WIDTH}'


def label_gamma(axis: Axes, width: float) -> None:
    """Names an axis of γ, and adds the one of P1's width above it.

    Args:
      width: of the networks; NaN where they have several, and there is no axis above.
    """
    axis.set_xlabel('γ')
    if not _differs(width):
        return
    ratio = equivalent_gamma(1.0, width)
    functions = (partial(np.multiply, ratio), partial(np.multiply, 1 / ratio))
    above = axis.secondary_xaxis('top', functions=functions)
    above.set_xlabel(_AT_WIDTH, fontsize=6)
    above.tick_params(labelsize=5, length=2)


def label_gamma_cells(axis: Axes, gammas: np.ndarray, width: float) -> None:
    """The same of a grid whose columns, 0, 1, ..., are values of γ."""
    places = range(len(gammas))
    axis.set_xticks(places, [f'{gamma:g}' for gamma in gammas])
    axis.set_xlabel('γ')
    if not _differs(width):
        return
    above = axis.secondary_xaxis('top')
    names = [f'{equivalent_gamma(gamma, width):.2f}' for gamma in gammas]
    above.set_xticks(places, names)
    above.set_xlabel(_AT_WIDTH, fontsize=6)
    above.tick_params(labelsize=5, length=2)


def _differs(width: float) -> bool:
    return not math.isnan(width) and width != PAPER_WIDTH
