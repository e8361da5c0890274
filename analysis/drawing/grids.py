"""A small picture for every cell of a sweep: gamma across, another axis upwards.

That axis is the first static one, or the weight decay. In a sweep with one gamma the
learning rate goes across. All other axes have one value (`frame.fix_axes`). A cell
without a member says why it is blank.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from analysis import frame
from analysis.drawing import style
from analysis.members.columns import name_gamma
from analysis.members.point import Point
from analysis.members.selection import (
    explain_missing,
    find_column_axis,
    find_row_axis,
)
from analysis.names import name_matrix, name_values
from anchorjax.errors import UserError
from anchorjax.grid import axis_label
from anchorjax.storage.reader import Run

# Matrices of cells may differ in their size.
_concat = partial(
    xr.concat, data_vars='all', coords='minimal', compat='override', join='outer'
)


def measure_cells(
    run: Run,
    path: str,
    step: int | str,
    point: Point,
    measure: Callable[[np.ndarray], xr.Dataset | str],
) -> xr.Dataset:
    """What `measure` says of the matrix at `path` of every member at `point`.

    It may say why there is nothing to measure.

    Returns:
      Its variables over [row, column], NaN where there is no matrix: `note` says why,
      or is ''. Attributes: row_name and column_name, the axes that these are;
      `selection`, the values of the others; `matrix`; the `width` of the networks.

    Raises:
      UserError: as `frame.fix_axes`, or no member has the matrix.
      StoreError: a snapshot is damaged.
    """
    axes = run.experiment.axes
    row_name = find_row_axis(axes)
    column_name = find_column_axis(axes)
    fixed = frame.fix_axes(run, point, (row_name, column_name))
    lines = []
    for row in axes[row_name]:
        line = []
        for column in axes[column_name]:
            place = {**fixed, row_name: row, column_name: column}
            W, note = read_matrix(run, path, step, place)
            found = note if W is None else measure(W)
            if isinstance(found, str):
                line.append(xr.Dataset({'note': found}))
            else:
                line.append(found.assign(note=''))
        lines.append(_concat(line, 'column'))
    grid = _concat(lines, 'row').transpose('row', 'column', ...)
    if (grid.note != '').all():
        note = grid.note.values[-1, -1]
        raise UserError(f'no member has a matrix {path!r} at step {step}: {note}')
    rows = [axis_label(row) for row in axes[row_name]]
    return grid.assign_coords(row=rows, column=list(axes[column_name])).assign_attrs(
        row_name=row_name,
        column_name=column_name,
        selection=name_values(fixed),
        matrix=path,
        width=frame.find_width(run),
    )


def read_matrix(
    run: Run, path: str, step: int | str, point: Point
) -> tuple[np.ndarray | None, str]:
    """The matrix of a member and '', or None and why there is none.

    Raises:
      UserError: an unknown axis; StoreError: the snapshot is damaged.
    """
    steps = run.steps(**point)  # raises an error for an unknown axis
    if explain_missing(run, point) == 'diverged':
        return None, 'diverged'
    if not steps or step not in ('last', *steps):
        return None, 'no snapshot'
    W = run.network(step, **point).matrices.get(path)
    return W, '' if W is not None else f'no {path}'


def draw_cells(
    grid: xr.Dataset, axes: np.ndarray, draw_cell: Callable[[Axes, xr.Dataset], None]
) -> None:
    """Calls draw_cell(axis, cell) for every member; writes notes in the others.

    The title says of which matrix.

    Args:
      axes: [row, column], the first row at the bottom.
    """
    upwards = axes[::-1]
    for (y, x), axis in np.ndenumerate(upwards):
        cell = grid.isel(row=y, column=x)
        if cell.note == '':
            draw_cell(axis, cell)
        else:
            middle = {'ha': 'center', 'va': 'center', 'transform': axis.transAxes}
            axis.text(0.5, 0.5, cell.note.item(), fontsize=6, **middle)
        axis.set(xticks=[], yticks=[])
    for axis, row in zip(upwards[:, 0], grid.row.values, strict=True):
        axis.set_ylabel(name_values({grid.row_name: row}))
    for axis, column in zip(upwards[0], grid.column.values, strict=True):
        axis.set_xlabel(_name_column(grid, column))
    axes[0, 0].figure.suptitle(name_matrix(grid.matrix))


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
