"""What the columns of a table of members mean: the axes of its sweep, and γ."""

import math
from typing import TypeVar

import numpy as np
import pandas as pd

from anchorjax.grid import TRACED_AXES

Number = TypeVar('Number', float, pd.Series)

PAPER_WIDTH = 400  # of P1 (PAPERS 1.2)


def list_axes(members: pd.DataFrame) -> list[str]:
    """The axes of the sweep: `Run.members` puts them first, the seed last of them."""
    names = list(members.columns)
    return names[: names.index('seed') + 1]


def list_static_axes(members: pd.DataFrame) -> list[str]:
    """The axes that change the task, the model or the training itself."""
    return [axis for axis in list_axes(members) if axis not in TRACED_AXES]


def list_varying_axes(members: pd.DataFrame) -> list[str]:
    """The axes with several values among these members, but for the seed."""
    axes = members[list_axes(members)].drop(columns='seed')
    return list(axes.columns[axes.nunique() > 1])


def equivalent_gamma(gamma: Number, width: Number) -> Number:
    """The γ at which P1's width of 400 starts with the same standard deviation.

    std = width^-γ, so the γ of two widths can only be compared through it. That is of
    the embeddings and of what reads the stream; W_O and W_out have other inputs.
    """
    return gamma * np.log(width) / np.log(PAPER_WIDTH)


def explain_gamma(gamma: float, *widths: float) -> str:
    """'0.14 at width 400', of two widths '0.14 or 0.20 ...'; '' at P1's own width.

    Args:
      widths: of the networks; NaN where there is none to compare with.
    """
    names = {}  # an ordered set
    for width in widths:
        if not math.isnan(width):
            names[f'{equivalent_gamma(gamma, width):.2f}'] = width
    if set(names.values()) <= {PAPER_WIDTH}:
        return ''
    return f'{" or ".join(names)} at width {PAPER_WIDTH}'


def name_gamma(gamma: float, *widths: float) -> str:
    """'γ 0.72 (0.50 at width 400)'; the bare γ where `explain_gamma` says nothing."""
    note = explain_gamma(gamma, *widths)
    return f'γ {gamma:g} ({note})' if note else f'γ {gamma:g}'
