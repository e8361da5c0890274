"""A small picture for every cell of a sweep: gamma across, another axis upwards.

That axis is the first static one, or the weight decay. In a sweep with one gamma the
learning rate goes across. All other axes have their first value, or the one given by
--AXIS=VALUE. A cell without a member says why it is blank.
"""

from collections.abc import Callable

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from analysis import frame
from analysis.drawing import style
from analysis.members.point import Point, format_point
from analysis.members.selection import find_column_axis, find_row_axis
from anchorjax.errors import StoreError, UserError
from anchorjax.grid import axis_label
from anchorjax.storage.reader import Run


def measure_cells(
    run: Run,
    path: str,
    step: int | str,
    point: Point,
    measure: Callable[[np.ndarray], xr.Dataset],
) -> xr.Dataset:
    """What `measure` says of the matrix at `path` of every member at `point`.

    Returns:
      Its variables over [row, column], NaN where there is no matrix: `note` says why,
      or is ''. Attributes: row_name and column_name, the axes that these are; `fixed`,
      the values of the others; `matrix`; the `width` of the networks.

    Raises:
      UserError: an unknown axis, an axis that the grid itself shows, or no member has
        the matrix.
      StoreError: a snapshot is damaged.
    """
    axes = run.experiment.axes
    row_name = find_row_axis(axes)
    column_name = find_column_axis(axes)
    fixed = _fix_axes(axes, (row_name, column_name), point)
    lines = []
    for row in axes[row_name]:
        line = []
        for column in axes[column_name]:
            cell_point = fixed | {row_name: row, column_name: column}
            W, note = read_matrix(run, path, step, cell_point)
            cell = xr.Dataset() if W is None else measure(W)
            line.append(cell.assign(note=note))
        lines.append(line)
    if all(cell.note.item() for line in lines for cell in line):
        raise UserError(f'no member has a matrix {path!r} at step {step}: {note}')
    grid = xr.combine_nested(
        lines,
        ['row', 'column'],
        data_vars='all',
        coords='minimal',
        compat='override',
        join='outer',  # matrices may differ in their size
    )
    grid = grid.transpose('row', 'column', ...).assign_attrs(
        row_name=row_name,
        column_name=column_name,
        fixed=format_point(fixed),
        matrix=path,
        width=frame.find_width(run),
    )
    rows = [axis_label(row) for row in axes[row_name]]
    return grid.assign_coords(row=rows, column=list(axes[column_name]))


def draw_cells(
    grid: xr.Dataset, axes: np.ndarray, draw_cell: Callable[[Axes, xr.Dataset], None]
) -> None:
    """Calls draw_cell(axis, cell) for every member; writes notes in the others.

    Args:
      axes: [row, column], the first row at the bottom.
    """
    row_name = grid.row_name.replace('_', ' ')
    last_row = len(axes) - 1
    for y, x in np.ndindex(grid.note.shape):
        axis = axes[last_row - y, x]
        cell = grid.isel(row=y, column=x)
        note = cell.note.item()
        if note:
            middle = {'ha': 'center', 'va': 'center', 'transform': axis.transAxes}
            axis.text(0.5, 0.5, note, fontsize=6, **middle)
        else:
            draw_cell(axis, cell)
        axis.set(xticks=[], yticks=[])
        if x == 0:
            axis.set_ylabel(f'{row_name} {cell.row.item()}')
        if y == 0:
            axis.set_xlabel(_name_column(grid, cell.column.item()))


def _name_column(grid: xr.Dataset, value: float) -> str:
    if grid.column_name == 'gamma':
        return frame.name_gamma(value, grid.width).replace(' (', '\n(')
    return f'{grid.column_name.replace("_", " ")} = {value:g}'


def layout(grid: xr.Dataset) -> style.Layout:
    """Cells about as high as wide, on a page."""
    rows, columns = grid.note.shape
    size = min(7.0 / columns, 2.2)
    width = 0.4 + size * columns
    height = 0.3 + (size + 0.15) * rows
    return style.Layout(rows, columns, width, height)


def _fix_axes(
    axes: dict[str, tuple],
    shown: tuple[str, str],
    point: Point,
) -> Point:
    """The value of every axis that the grid does not show."""
    for axis in sorted(shown):
        if axis in point:
            raise UserError(f'--{axis}: the grid shows all its values, leave it out')
    fixed = {}
    for axis, values in axes.items():
        if axis not in shown:
            fixed[axis] = values[0]
    return fixed | point


def read_matrix(
    run: Run,
    path: str,
    step: int | str,
    point: Point,
) -> tuple[np.ndarray | None, str]:
    """The matrix of a member and '', or None and why there is none.

    Raises:
      UserError: an unknown axis; StoreError: the snapshot is damaged.
    """
    steps = run.steps(**point)  # raises an error for an unknown axis
    results = run.results.sel(run.labels(**point))
    if results.trained and results.diverged >= 0:
        return None, 'diverged'
    if not steps or step not in ('last', *steps):
        return None, 'no snapshot'
    try:
        W = run.parameter(path, step, **point)
    except StoreError:  # damage is no lack of a matrix
        raise
    except UserError:
        return None, f'no {path}'
    if W.ndim != 2:
        return None, f'{path} is no matrix'
    return W, ''
