"""How figures look: one colour per solution, embedded fonts, reproducible bytes."""

import contextlib
import pathlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import matplotlib
import numpy as np
import pandas as pd
import xarray as xr

matplotlib.use('Agg')

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.tables.text import format_csv
from anchorjax import files

# Okabe and Ito's colours, distinguishable with any colour vision.
COLOURS = {
    'inferential': '#0072B2',
    'symmetric': '#E69F00',
    'half and half': '#56B4E9',
    'third': '#009E73',
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
_NO_TIME_STAMP = {'png': {'Software': None}, 'pdf': {'CreationDate': None}}


class Layout(NamedTuple):
    """Panels of a figure, and its size in inches.

    A column of a paper is 3.4 wide, a page 7.
    """

    rows: int
    columns: int
    width: float
    height: float


@contextlib.contextmanager
def open_figure(
    rows: int, columns: int, **kwargs
) -> Iterator[tuple[Figure, np.ndarray]]:
    """(figure, axes [rows, columns]) in the style of all figures."""
    with plt.rc_context(_RC):
        figure, axes = plt.subplots(
            rows, columns, squeeze=False, layout='constrained', **kwargs
        )
        yield figure, axes
        plt.close(figure)


@contextlib.contextmanager
def draw_figure(
    result: Any, draw: Callable, layout: Layout | Callable[[Any], Layout]
) -> Iterator[Figure]:
    """The drawn figure of a result, on which the layout may depend."""
    if callable(layout):
        layout = layout(result)
    size = (layout.width, layout.height)
    with open_figure(layout.rows, layout.columns, figsize=size) as (figure, axes):
        draw(result, axes)
        yield figure


def write_figure(
    result: Any,
    draw: Callable,
    layout: Layout | Callable[[Any], Layout],
    path: pathlib.Path,
) -> list[pathlib.Path]:
    """Writes path.png, path.pdf and the numbers behind them (`write_numbers`).

    No time stamps: equal figures give equal bytes.
    """
    with draw_figure(result, draw, layout) as figure:
        paths = []
        for kind, metadata in _NO_TIME_STAMP.items():
            target = path.with_name(f'{path.name}.{kind}')
            save = partial(figure.savefig, metadata=metadata, bbox_inches='tight')
            files.write_atomic(target, save)
            paths.append(target)
    return [*paths, write_numbers(result, path)]


def write_numbers(result: Any, path: pathlib.Path) -> pathlib.Path:
    """Writes a DataFrame to path.csv, a Dataset to path.nc, all else to path.npz."""
    if isinstance(result, pd.DataFrame):
        target = path.with_name(f'{path.name}.csv')
        files.write_text(target, format_csv(result))
    elif isinstance(result, xr.Dataset):
        target = path.with_name(f'{path.name}.nc')
        files.write_atomic(target, result.to_netcdf)
    else:
        target = path.with_name(f'{path.name}.npz')
        files.write_arrays(target, collect_arrays(result))
    return target


def collect_arrays(result: Any) -> dict[str, np.ndarray]:
    """The arrays of a result by name, texts with a fixed length, as npz needs them.

    Args:
      result: a DataFrame, a Dataset or a NamedTuple. A field that is one of these
        itself, or a dict, is an array per part: 'field_part'.
    """
    arrays = {}
    for name, value in _list_parts(result).items():
        inner = _list_parts(value)
        if inner is None:
            arrays[name] = _to_array(value)
            continue
        for key, part in inner.items():
            arrays[f'{name}_{key}'] = _to_array(part)
    return arrays


def _list_parts(value: Any) -> dict[str, Any] | None:
    """The columns, variables, fields or entries of a value; None: it is one array."""
    if hasattr(value, '_asdict'):
        return value._asdict()
    if isinstance(value, xr.Dataset):
        return dict(value.variables)
    if isinstance(value, pd.DataFrame | dict):
        return dict(value.items())
    return None


def _to_array(value: Any) -> np.ndarray:
    array = np.asarray(value)
    return array.astype(str) if array.dtype == object else array


def draw_heatmap(
    axis: Axes,
    table: pd.DataFrame,
    colours: str,
    limits: tuple[float, float],
    signed: bool = False,
    size: float = 6,
) -> None:
    """A table as a colour and a number in every cell, a dash for NaN.

    Args:
      limits: of the colours.
      size: of the numbers.
    """
    low, high = limits
    values = table.values
    axis.imshow(values, cmap=colours, vmin=low, vmax=high, aspect='auto')
    middle = (low + high) / 2
    reach = (high - low) / 2
    if signed:  # both ends of the colours are dark
        is_dark = np.abs(values - middle) > 0.6 * reach
        number = '+.2f'
    else:
        is_dark = values > low + 1.2 * reach
        number = '.2f'
    write_cells(axis, values, number, is_dark, size)
    axis.set_xticks(range(len(table.columns)), map(_name_tick, table.columns))
    axis.set_yticks(range(len(table)), map(_name_tick, table.index))


def _name_tick(value: Any) -> str:
    return f'{value:.3g}' if isinstance(value, float) else str(value)


def write_cells(
    axis: Axes, values: np.ndarray, number: str, is_dark: np.ndarray, size: float
) -> None:
    """The number of every cell [y, x] in this format, white if dark; '–' for NaN."""
    for (y, x), value in np.ndenumerate(values):
        text = '–'
        colour = 'black'
        if not np.isnan(value):
            text = format(value, number)
            colour = 'white' if is_dark[y, x] else 'black'
        axis.text(x, y, text, ha='center', va='center', color=colour, fontsize=size)
