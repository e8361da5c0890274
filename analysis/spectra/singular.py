"""Singular values of every matrix, at a large and at a small initialization.

P1 Fig 13. A small initialization leaves few large ones; the caption in the paper
exchanges the two colours. These panels are a part of the figure that `eigenvalues`
draws.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

# Name and colour of the two initializations, in the order of `Result.extremes`.
INITIALIZATIONS = (('large', '#D55E00'), ('small', '#0072B2'))


def list_kinds(matrix_names: tuple[str, ...]) -> list[str]:
    """Names of the matrices without their block, each once: one panel each."""
    names = map(_strip_block, matrix_names)
    return list(dict.fromkeys(names))


def draw(panels: np.ndarray, result: Any) -> None:
    """Fills panels with one kind of matrix each, and blanks the rest.

    Args:
      result: has matrix_names [N], extremes [2] (gamma) and singular_2NI, as
        `eigenvalues.Result`.
    """
    kinds = list_kinds(result.matrix_names)
    for i, axis in enumerate(panels):
        if i < len(kinds):
            _draw_spectra(axis, result, kinds[i])
        else:
            axis.set_axis_off()
    panels[0].legend()


def _draw_spectra(axis: Axes, result: Any, kind: str) -> None:
    """A line for each block; later blocks have thinner lines."""
    values_2NI = result.singular_2NI
    longest = values_2NI.shape[-1]
    index_I = np.arange(longest) + 1
    blocks = []
    for n, name in enumerate(result.matrix_names):
        if _strip_block(name) == kind:
            blocks.append(n)
    for i, (size, colour) in enumerate(INITIALIZATIONS):
        label = f'{size} init. (γ {result.extremes[i]:g})'
        for layer, n in enumerate(blocks):
            width = 1.5 / (1 + layer)
            axis.plot(index_I, values_2NI[i, n], color=colour, lw=width, label=label)
            label = None  # one entry of the legend for all blocks
    axis.set(yscale='log', title=f'singular values, {kind}')


def _strip_block(name: str) -> str:
    """'W_Q' of 'block_0/W_Q'."""
    return name.split('/')[-1]
