"""How figures look: one colour per solution, embedded fonts, reproducible bytes."""

import contextlib
import io
import pathlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import matplotlib.style
import numpy as np
import pandas as pd
import PIL.Image
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from analysis.tables.text import format_csv
from anchorjax import files

# Okabe and Ito's colours, distinguishable with any colour vision.
COLOURS = {
    'composed': '#0072B2',
    'symmetric': '#E69F00',
    'half and half': '#56B4E9',
    'third': '#009E73',
    'shadow': '#CCCCCC',
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
MAPS = {'composed': 'Blues', 'symmetric': 'Oranges'}
_BRIGHTNESS = (0.3, 0.6, 0.1)  # of red, green and blue
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
_NO_TIME_STAMP = {'png': {'Software': None}, 'pdf': {'CreationDate': None}}
_PALETTE = 256  # colours of a PNG: a third of the bytes, and the eye sees no less


class Layout(NamedTuple):
    """Panels of a figure, and its size in inches.

    A column of a paper is 3.4 wide, a page 7.
    """

    rows: int
    columns: int
    width: float
    height: float


@contextlib.contextmanager
def draw_figure(
    result: Any, draw: Callable, layout: Layout | Callable[[Any], Layout]
) -> Iterator[Figure]:
    """The drawn figure of a result, on which the layout may depend.

    It starts from matplotlib's defaults, whatever the reader's own are, and pyplot has
    no part in it: the reader's backend and figures stay as they are.
    """
    if callable(layout):
        layout = layout(result)
    grid = {'nrows': layout.rows, 'ncols': layout.columns, 'squeeze': False}
    size = (layout.width, layout.height)
    with matplotlib.style.context(_RC, after_reset=True):
        figure = Figure(figsize=size, layout='constrained')
        FigureCanvasAgg(figure)  # where it is drawn
        draw(result, figure.subplots(**grid))
        _name_network(figure, result.attrs.get('network', ''))
        yield figure


def _name_network(figure: Figure, network: str) -> None:
    """Writes which network a figure is of above all, with what it says there itself."""
    if network:
        lines = [network, figure.get_suptitle()]
        figure.suptitle('\n'.join(filter(None, lines)), fontsize=7)


def write_figure(
    result: pd.DataFrame | xr.Dataset,
    draw: Callable,
    layout: Layout | Callable[[Any], Layout],
    path: pathlib.Path,
    kinds: tuple[str, ...] = ('png', 'pdf'),
) -> list[pathlib.Path]:
    """Writes path.png, path.pdf and the numbers behind them: path.csv or path.nc.

    No time stamps: equal figures give equal bytes. The numbers, of seven digits in a
    .nc, are there first, for a picture that cannot be drawn.

    Args:
      kinds: of picture. A PDF takes longer than a PNG: it embeds its fonts.
    """
    if isinstance(result, pd.DataFrame):
        numbers = path.with_name(f'{path.name}.csv')
        files.write_text(numbers, format_csv(result))
    else:
        numbers = path.with_name(f'{path.name}.nc')
        floats = [name for name, values in result.items() if values.dtype.kind == 'f']
        encoding = {name: {'dtype': 'float32'} for name in floats}
        files.write_dataset(numbers, result, encoding=encoding)
    paths = []
    with draw_figure(result, draw, layout) as figure:
        for kind in kinds:
            target = path.with_name(f'{path.name}.{kind}')
            metadata = _NO_TIME_STAMP[kind]
            save = partial(figure.savefig, metadata=metadata, bbox_inches='tight')
            files.write_atomic(target, _with_palette(save) if kind == 'png' else save)
            paths.append(target)
    return [*paths, numbers]


def _with_palette(save: Callable) -> Callable[[pathlib.Path], None]:
    """What saves a PNG as `save` does, with few colours."""

    def save_few_colours(path: pathlib.Path) -> None:
        drawn = io.BytesIO()
        save(drawn)
        shown = PIL.Image.open(drawn).convert('RGB')
        shown = shown.quantize(_PALETTE, dither=PIL.Image.Dither.NONE)
        shown.save(path, optimize=True)

    return save_few_colours


def draw_heatmap(
    axis: Axes,
    table: pd.DataFrame,
    colours: str,
    limits: tuple[float, float],
    norm: type[Normalize] = Normalize,
    number: str = '.2f',
    size: float = 6,
) -> None:
    """A table as a colour and a number in every cell, a dash for NaN.

    Args:
      limits: of the colours.
      norm: how numbers become colours.
      number: format of the numbers.
      size: of the numbers.
    """
    scale = norm(*limits)
    image = axis.imshow(table, cmap=colours, norm=scale, aspect='auto')
    rgba = np.asarray(image.cmap(scale(table.fillna(limits[0]))))
    is_dark = rgba[..., :3] @ _BRIGHTNESS < 0.5
    for (y, x), value in np.ndenumerate(table.values):
        text, colour = '–', 'black'
        if not np.isnan(value):
            text = format(value, number)
            colour = 'white' if is_dark[y, x] else 'black'
        axis.text(x, y, text, ha='center', va='center', color=colour, fontsize=size)
    axis.set_xticks(range(len(table.columns)), map(_name_tick, table.columns))
    axis.set_yticks(range(len(table)), map(_name_tick, table.index))


def _name_tick(value: Any) -> str:
    return f'{value:.3g}' if isinstance(value, float) else str(value)
