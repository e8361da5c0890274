"""A figure of `analysis/` in a notebook.

picture = show_figure(result, attention_flow.draw, attention_flow.layout)
"""

import dataclasses
import io
from collections.abc import Callable
from typing import Any

from matplotlib import pyplot as plt

from analysis.drawing.style import Layout, open_figure

DPI = 80  # small enough to be kept in the file of the notebook


@dataclasses.dataclass(frozen=True)
class Picture:
    """A drawn figure; a notebook shows it where it is the last value of a cell."""

    png: bytes = dataclasses.field(repr=False)

    def _repr_png_(self) -> bytes:
        return self.png


def show_figure(
    result: Any, draw: Callable, layout: Layout | Callable[[Any], Layout]
) -> Picture:
    """Draws a result as `style.draw_figure` does, into memory."""
    if callable(layout):
        layout = layout(result)
    size = (layout.width, layout.height)
    drawn = io.BytesIO()
    with open_figure(layout.rows, layout.columns, figsize=size) as (figure, axes):
        draw(result, axes)
        figure.savefig(drawn, dpi=DPI, bbox_inches='tight')
        plt.close(figure)
    return Picture(drawn.getvalue())
