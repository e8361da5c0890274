"""A figure of `analysis/` in a notebook.

picture = show_figure(result, attention_flow.draw, attention_flow.layout)
"""

import dataclasses
import io
from collections.abc import Callable
from typing import Any

from analysis.drawing.style import Layout, draw_figure

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
    """Draws a result in the style of all figures, into memory."""
    drawn = io.BytesIO()
    with draw_figure(result, draw, layout) as figure:
        figure.savefig(drawn, dpi=DPI, bbox_inches='tight')
    return Picture(drawn.getvalue())
