"""How figures look: one colour per solution, embedded fonts, reproducible bytes."""

import contextlib
import io
import pathlib
import sys
import textwrap
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
from anchorjax.errors import UserError

# Okabe and Ito's colours, distinguishable with any colour vision.
COLOURS = {
    'composed': '#0072B2',
    'symmetric': '#E69F00',
    'shadow': '#CCCCCC',
    'memorizing': '#999999',
    'neither': '#CC79A7',
}
ROLES = {
    'key': '#009E73',
    'anchor_1': '#D55E00',
    'anchor_2': '#CC79A7',
    'last': '#000000',
    'noise': '#BBBBBB',
}
MAPS = {'composed': 'Blues', 'symmetric': 'Oranges'}
KEY = {'fraction': 0.1, 'shrink': 0.6}  # of colours, beside a grid of panels
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
    'svg.hashsalt': 'anchorjax',
    'axes.spines.top': False,
    'axes.spines.right': False,
    'hatch.linewidth': 0.6,
}
_NO_TIME_STAMP = {
    'png': {'Software': None},
    'pdf': {'CreationDate': None},
    'svg': {'Date': None},
}
_IN_CELL = 'in a cell'  # of a number, whose black or white goes with its cell's colour
_LETTERS_PER_INCH = 15  # of a title
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
        before = _list_of_pyplot()
        draw(result, figure.subplots(**grid))
        if _list_of_pyplot() - before - {getattr(figure, 'number', None)}:
            raise UserError(
                '`draw` opens a figure of pyplot: draw on the axes that it is given '
                '(axes[0, 0].scatter, not plt.scatter)'
            )
        _mark_empty(figure)
        _write_title(figure, result.attrs.get('about', ''))
        yield figure


def _list_of_pyplot() -> set[int]:
    """The numbers of the figures that pyplot, if anybody uses it, holds open."""
    pyplot = sys.modules.get('matplotlib.pyplot')
    return set(pyplot.get_fignums()) if pyplot else set()


def _mark_empty(figure: Figure) -> None:
    """Says 'no data' in a panel without any.

    Raises:
      UserError: no panel has data: an empty axis says nothing about these networks.
    """
    panels = []
    for axis in figure.axes:
        if axis.axison and axis.get_label() != '<colorbar>':
            panels.append(axis)
    empty = [axis for axis in panels if not _has_data(axis)]
    if len(empty) == len(panels):
        raise UserError(
            'there is nothing to draw: these networks have no data for any panel (or '
            '`draw` does not fill the axes that it is given)'
        )
    for axis in empty:
        if not axis.texts:
            middle = {'ha': 'center', 'va': 'center', 'transform': axis.transAxes}
            axis.text(0.5, 0.5, 'no data', **middle)


def _has_data(axis: Axes) -> bool:
    """Whether it shows a finite number; lines across, as of axhline, are none."""
    in_data = axis.transData
    for line in axis.lines:
        is_in_data = all(line.get_transform().contains_branch_seperately(in_data))
        if is_in_data and np.isfinite(line.get_xydata()).all(1).any():
            return True
    for patch in axis.patches:
        if all(patch.get_transform().contains_branch_seperately(in_data)):
            return True
    for image in axis.images:
        if np.ma.masked_invalid(np.ma.asarray(image.get_array())).count():
            return True
    bounds = [collection.get_datalim(in_data) for collection in axis.collections]
    return any(np.isfinite(box.get_points()).all() for box in bounds)


def _write_title(figure: Figure, about: str) -> None:
    """Of which run and networks a figure is, above what it says there itself."""
    lines = [*about.splitlines(), *figure.get_suptitle().splitlines()]
    letters = int(_LETTERS_PER_INCH * figure.get_figwidth())
    wrapped = [textwrap.fill(line, letters) for line in lines]
    figure.suptitle('\n'.join(wrapped), fontsize=_RC['font.size'])


def write_figure(
    result: pd.DataFrame | xr.Dataset,
    draw: Callable,
    layout: Layout | Callable[[Any], Layout],
    path: pathlib.Path,
    kinds: tuple[str, ...] = ('png', 'pdf'),
) -> list[pathlib.Path]:
    """Writes path.png, path.pdf and the numbers behind them: path.csv or path.nc.

    No time stamps: equal figures give equal bytes. The numbers, of seven digits in a
    .nc, are there first, for a picture that cannot be drawn. Of which networks they are
    (`figure.compute`) is an attribute of a .nc, and a column of a .csv.

    Args:
      kinds: of picture. A PDF takes longer than a PNG: it embeds its fonts. In an SVG
        '#000000' is ink and '#ffffff' is paper, which a dark page may exchange.
    """
    if isinstance(result, pd.DataFrame):
        numbers = path.with_name(f'{path.name}.csv')
        attributes = {str(name): value for name, value in result.attrs.items()}
        files.write_text(numbers, format_csv(result.assign(**attributes)))
    else:
        numbers = path.with_name(f'{path.name}.nc')
        floats = [name for name, values in result.items() if values.dtype.kind == 'f']
        encoding = {name: {'dtype': 'float32'} for name in floats}
        files.write_dataset(numbers, result, encoding=encoding)
    return [*write_pictures(result, draw, layout, path, kinds), numbers]


def write_pictures(
    result: pd.DataFrame | xr.Dataset,
    draw: Callable,
    layout: Layout | Callable[[Any], Layout],
    path: pathlib.Path,
    kinds: tuple[str, ...],
) -> list[pathlib.Path]:
    """Of `write_figure`: the pictures without the numbers."""
    paths = []
    with draw_figure(result, draw, layout) as figure:
        for kind in kinds:
            if kind == 'svg':
                _mark_numbers(figure)
            target = path.with_name(f'{path.name}.{kind}')
            metadata = _NO_TIME_STAMP[kind]
            save = partial(figure.savefig, metadata=metadata, bbox_inches='tight')
            files.write_atomic(target, _with_palette(save) if kind == 'png' else save)
            paths.append(target)
    return paths


def _mark_numbers(figure: Figure) -> None:
    """Makes the numbers in cells no ink and no paper, but what looks the same."""
    colours = {'black': '#010101', 'white': '#fefefe'}
    for axis in figure.axes:
        for number in axis.texts:
            if number.get_gid() == _IN_CELL:
                number.set_color(colours[str(number.get_color())])


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
        look = {'color': colour, 'fontsize': size, 'gid': _IN_CELL}
        axis.text(x, y, text, ha='center', va='center', **look)
    axis.set_xticks(range(len(table.columns)), map(_name_tick, table.columns))
    axis.set_yticks(range(len(table)), map(_name_tick, table.index))


def _name_tick(value: Any) -> str:
    return f'{value:.3g}' if isinstance(value, float) else str(value)
