"""What a figure looks like, without a file: much faster than saving it, as style.drawn does."""

import numpy as np

from analysis.drawing import style


def pixels(result, module) -> np.ndarray:
    """[y, x, 4] of a module's figure of a result, in its own layout and the paper's style."""
    layout = module.layout
    rows, columns, width, height = layout(result) if callable(layout) else layout
    with style.figure(rows, columns, figsize=(width, height), dpi=60) as (figure, axes):
        module.draw(result, axes)
        figure.canvas.draw()
        seen = np.array(figure.canvas.buffer_rgba())
        style.plt.close(figure)
    return seen
