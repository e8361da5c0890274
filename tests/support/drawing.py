"""What a figure looks like without writing a file, which is much faster."""

from types import ModuleType
from typing import Any

import numpy as np

from analysis.drawing import style

# Options of `compute` that make figures cheap.
SMALL = {
    'attention_flow': {'number': 64},
    'causal': {'number': 64, 'draws': 2},
    'cosine': {'contexts': 4},
    'embedding': {'perplexity': 3, 'permutations': 5},
    'fitting_time': {'thresholds': (4.5, 5)},
    'lazy': {'number': 6},
    'tsne': {'number': 100, 'map_number': 50, 'perplexity': 5},
}


def draw_pixels(result: Any, module: ModuleType) -> np.ndarray:
    """[y, x, 4] of a module's figure of a result, in its layout and the usual style."""
    with style.draw_figure(result, module.draw, module.layout) as figure:
        figure.set_dpi(60)
        figure.canvas.draw()
        return np.array(figure.canvas.buffer_rgba())
