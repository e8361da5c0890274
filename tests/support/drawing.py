"""What a figure looks like without writing a file, which is much faster."""

from types import ModuleType
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

from analysis.drawing import style


def draw_pixels(result: Any, module: ModuleType) -> np.ndarray:
    """[y, x, 4] of a module's figure of a result, in its layout and the usual style."""
    layout = module.layout
    if callable(layout):
        layout = layout(result)
    size = (layout.width, layout.height)
    with style.open_figure(layout.rows, layout.columns, figsize=size, dpi=60) as (
        figure,
        axes,
    ):
        module.draw(result, axes)
        figure.canvas.draw()
        pixels = np.array(figure.canvas.buffer_rgba())
        plt.close(figure)
    return pixels
