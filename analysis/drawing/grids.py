"""A figure of one network, drawn small for every network of a sweep.

A figure's module that has, beside what every figure has,

  GRID_PAPER, GRID_CAPTION  words about the grid
  draw_cell(axis, result)   one panel of the result of its `compute_cell`, if it has
                            one (what a panel shows may be less), else of `compute`
  draw_key(result, axes)    what its colours mean; `result` has all cells

is also a figure of a sweep, NAME_grid: gamma goes across, another axis upwards, which
is the first static one, or the weight decay. In a sweep with one gamma the learning
rate goes across. All other axes have one value (`frame.fix_axes`). A cell without a
network says why it is blank.
"""

import functools
import inspect
import textwrap
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import xarray as xr

from analysis import frame
from analysis.drawing import style
from analysis.members.columns import name_gamma
from analysis.members.point import Point
from analysis.members.selection import (
    explain_missing,
    find_column_axis,
    find_row_axis,
)
from analysis.names import name_values
from anchorjax.errors import UserError
from anchorjax.grid import axis_label
from anchorjax.network import Network
from anchorjax.storage.reader import Run

SUFFIX = '_grid'
# Cells may differ in the size of a matrix, or in the number of layers.
_concat = partial(
    xr.concat, data_vars='all', coords='minimal', compat='override', join='outer'
)


@functools.cache
def repeat(module: ModuleType) -> ModuleType:
    """The figure NAME_grid of a module that has GRID_PAPER, with the same flags."""
    compute_one = getattr(module, 'compute_cell', module.compute)
    _, *flags = inspect.signature(compute_one).parameters.values()

    def compute(run: Run, step: int | str = 'last', **point: Any) -> xr.Dataset:
        options = {flag.name: point.pop(flag.name, flag.default) for flag in flags}
        return compute_cells(run, step, point, partial(compute_one, **options))

    # The command reads the flags from the signature.
    subject, step, point = inspect.signature(compute).parameters.values()
    vars(compute)['__signature__'] = inspect.Signature([subject, step, *flags, point])
    hints = {flag.name: flag.annotation for flag in flags}
    compute.__annotations__ = hints | compute.__annotations__
    grid = ModuleType(f'{module.__name__}{SUFFIX}')
    name = grid.__name__.rpartition('.')[2]
    example = f'python -m analysis {name} --run runs/phase'
    vars(grid).update(
        __doc__=f'A panel for each network.\n\n  {example}\n',
        TITLE=f'{module.TITLE} over the grid',
        PAPER=module.GRID_PAPER,
        CAPTION=module.GRID_CAPTION,
        compute=compute,
        draw=partial(draw_cells, module=module),
        layout=layout,
    )
    return grid


def compute_cells(
    run: Run, step: int | str, point: Point, compute: Callable[[Network], xr.Dataset]
) -> xr.Dataset:
    """What `compute` says of every network at `point`.

    Returns:
      Its variables over [row, column], NaN where there is nothing: `note` says why, or
      is ''. Attributes: those of its results; row_name and column_name, the axes that
      these are; `selection`, the values of the others; the `width` of the networks.

    Raises:
      UserError: as `frame.fix_axes`, or there is nothing in any cell.
      StoreError: a snapshot is damaged.
    """
    axes = run.experiment.axes
    row_name = find_row_axis(axes)
    column_name = find_column_axis(axes)
    fixed = frame.fix_axes(run, point, (row_name, column_name))
    attributes: dict[str, Any] = {}
    lines = []
    for row in axes[row_name]:
        line = []
        for column in axes[column_name]:
            place = {**fixed, row_name: row, column_name: column}
            cell = _compute_cell(run, step, place, compute)
            attributes |= cell.attrs
            line.append(cell)
        lines.append(_concat(line, 'column'))
    grid = _concat(lines, 'row').transpose('row', 'column', ...)
    if (grid.note != '').all():
        raise UserError(f'nothing to draw: {grid.note.values[-1, -1]}')
    grid.attrs = attributes
    rows = [axis_label(row) for row in axes[row_name]]
    return grid.assign_coords(row=rows, column=list(axes[column_name])).assign_attrs(
        row_name=row_name,
        column_name=column_name,
        selection=name_values(fixed),
        width=frame.find_width(run),
    )


def _compute_cell(
    run: Run, step: int | str, place: Point, compute: Callable[[Network], xr.Dataset]
) -> xr.Dataset:
    """The result for one network and `note` '', or a note why there is none."""
    missing = explain_missing(run, place)
    if missing == 'diverged' or (missing and step == 'last'):
        return xr.Dataset({'note': missing})
    try:
        cell = compute(run.network(step, **place)).assign(note='')
        # A dimension without labels cannot differ in size from that of another cell.
        places = {name: range(size) for name, size in cell.sizes.items()}
        return cell.assign_coords({**places, **cell.coords})
    except UserError as error:  # no such step, no such matrix
        return xr.Dataset({'note': missing or str(error).partition(';')[0]})


def draw_cells(grid: xr.Dataset, axes: np.ndarray, module: ModuleType) -> None:
    """Draws every network as its figure's module does; writes notes in other cells.

    Args:
      axes: [row, column], the first row at the bottom.
    """
    upwards = axes[::-1]
    for (y, x), axis in np.ndenumerate(upwards):
        cell = grid.isel(row=y, column=x)
        if cell.note == '':
            module.draw_cell(axis, _drop_padding(cell))
        else:
            middle = {'ha': 'center', 'va': 'center', 'transform': axis.transAxes}
            note = textwrap.fill(cell.note.item(), 16)
            axis.text(0.5, 0.5, note, fontsize=6, **middle)
        axis.set(xticks=[], yticks=[])
    for axis, row in zip(upwards[:, 0], grid.row.values, strict=True):
        axis.set_ylabel(name_values({grid.row_name: row}))
    for axis, column in zip(upwards[0], grid.column.values, strict=True):
        axis.set_xlabel(_name_column(grid, column))
    module.draw_key(grid, axes)


def _drop_padding(cell: xr.Dataset) -> xr.Dataset:
    """Without what is NaN because another cell is larger."""
    for name in cell.dims:
        cell = cell.dropna(name, how='all')
    return cell


def _name_column(grid: xr.Dataset, value: float) -> str:
    if grid.column_name == 'gamma':
        name = name_gamma(value, grid.width)
        return name.replace(' (', '\n(').replace(' at ', ' at\n')
    return name_values({grid.column_name: value})


def layout(grid: xr.Dataset) -> style.Layout:
    """Cells about as high as wide, on a page."""
    rows, columns = grid.note.shape
    size = min(7.0 / columns, 2.2)
    width = 1.1 + size * columns  # with the key of its colours
    height = 0.6 + (size + 0.25) * rows
    return style.Layout(rows, columns, width, height)
