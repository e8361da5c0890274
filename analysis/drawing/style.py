"""How every figure looks: one colour per mapping, embedded fonts, the same bytes every time."""

import contextlib
import pathlib
from collections.abc import Callable
from typing import NamedTuple

import matplotlib
import numpy as np

matplotlib.use('Agg')

from matplotlib import pyplot as plt

from anchorjax.storage import atomic

# Okabe and Ito's colours, distinguishable with any colour vision.
COLOURS = {
    'inferential': '#0072B2',
    'symmetric': '#E69F00',
    'memorizing': '#999999',
    'other': '#CC79A7',
}
ROLES = {
    'key': '#009E73',
    'anchor_1': '#D55E00',
    'anchor_2': '#CC79A7',
    'last': '#000000',
    'noise': '#BBBBBB',
}
MAPS = {'inferential': 'Blues', 'symmetric': 'Oranges'}
_RC = {
    'font.size': 8,
    'axes.titlesize': 8,
    'axes.labelsize': 8,
    'legend.fontsize': 7,
    'legend.frameon': False,
    'figure.dpi': 150,
    'savefig.dpi': 200,
    'pdf.fonttype': 42,
    'axes.spines.top': False,
    'axes.spines.right': False,
    'hatch.linewidth': 0.6,
}


def paper():
    """The context in which every figure is drawn."""
    return plt.rc_context(_RC)


def save(figure, path: pathlib.Path) -> list[pathlib.Path]:
    """Writes path.png and path.pdf without time stamps: the same figure is the same bytes."""
    kinds = {'png': {'Software': None}, 'pdf': {'CreationDate': None}}
    paths = []
    for kind, metadata in kinds.items():
        paths.append(path.with_name(f'{path.name}.{kind}'))
        draw = lambda p, m=metadata: figure.savefig(p, metadata=m, bbox_inches='tight')
        atomic.write_atomic(paths[-1], draw)
    plt.close(figure)
    return paths


@contextlib.contextmanager
def figure(rows: int, columns: int, **kwargs):
    """(figure, axes [rows, columns]) in the paper's style."""
    with paper():
        fig, axes = plt.subplots(
            rows, columns, squeeze=False, layout='constrained', **kwargs
        )
        yield fig, axes


class Layout(NamedTuple):
    """Panels of a figure and its size in inches (a column of a paper is 3.4 wide, a page 7)."""

    rows: int
    columns: int
    width: float
    height: float


def heatmap(
    axis, values, colours: str, limits: tuple[float, float], signed: bool = False
) -> None:
    """Colours with the number in every cell; `limits` of the colours, NaN as a dash."""
    axis.imshow(values, cmap=colours, vmin=limits[0], vmax=limits[1], aspect='auto')
    middle, reach = sum(limits) / 2, (limits[1] - limits[0]) / 2
    for (y, x), value in np.ndenumerate(values):
        dark = (
            abs(value - middle) > 0.6 * reach
            if signed
            else value > limits[0] + 1.2 * reach
        )
        text = '–' if np.isnan(value) else f'{value:+.2f}' if signed else f'{value:.2f}'
        colour = 'white' if dark else 'black'
        axis.text(x, y, text, ha='center', va='center', color=colour, fontsize=6)


def drawn(result, draw: Callable, layout, path: pathlib.Path) -> list[pathlib.Path]:
    """Draws a result and saves it; `layout` is a Layout or a function of the result."""
    rows, columns, width, height = layout(result) if callable(layout) else layout
    with figure(rows, columns, figsize=(width, height)) as (fig, axes):
        draw(result, axes)
        return save(fig, path)


def arrays(result: tuple) -> dict[str, np.ndarray]:
    """A NamedTuple as named arrays for an npz; a dict inside becomes one array per key."""
    found = {}
    for name, value in result._asdict().items():
        inner = value.items() if isinstance(value, dict) else [(None, value)]
        found |= {name if k is None else f'{name}_{k}': np.asarray(v) for k, v in inner}
    return found


def written(
    result: tuple, draw: Callable, layout, path: pathlib.Path
) -> list[pathlib.Path]:
    """A figure and the numbers behind it: path.png, path.pdf, path.npz."""
    numbers = path.with_name(path.name + '.npz')
    pictures = drawn(result, draw, layout, path)
    atomic.write_arrays(numbers, arrays(result))
    return [*pictures, numbers]
