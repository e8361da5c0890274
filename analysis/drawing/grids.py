"""A small picture for every cell of a sweep: gamma across, another axis upwards.

That axis is the first static one, or the weight decay. In a sweep with one gamma the
learning rate goes across. All other axes have their first value, or the one given by
--AXIS=VALUE. A cell without a member says why it is blank.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from analysis.drawing import style
from analysis.members.selection import find_column_axis, find_row_axis
from anchorjax.errors import StoreError, UserError
from anchorjax.grid import axis_label
from anchorjax.storage.reader import Run

Cell = tuple[int, int]  # index of the row, of the column


class Cells(NamedTuple):
    """One matrix of every member over [row, column], at one point of other axes."""

    row_name: str
    rows: tuple  # labels
    column_name: str
    columns: tuple[float, ...]
    fixed: dict[str, Any]  # value of every other axis
    matrices: dict[Cell, np.ndarray]  # of the members that have it
    notes: np.ndarray  # [row, column] why there is no matrix, or ''


def read_cells(run: Run, path: str, step: int | str = 'last', **point) -> Cells:
    """The matrix at `path` of every member at `point`; reads nothing else of them.

    Raises:
      UserError: an unknown axis, an axis that the grid itself shows, or no member has
        the matrix.
      StoreError: a snapshot is damaged.
    """
    axes = run.experiment.axes
    row_name = find_row_axis(axes)
    column_name = find_column_axis(axes)
    fixed = _fix_axes(axes, (row_name, column_name), point)
    rows = axes[row_name]
    columns = axes[column_name]
    shape = (len(rows), len(columns))
    notes = np.full(shape, '', '<U40')
    matrices = {}
    for y, row in enumerate(rows):
        for x, column in enumerate(columns):
            cell_point = fixed | {row_name: row, column_name: column}
            matrix, note = read_matrix(run, path, step, cell_point)
            notes[y, x] = note
            if matrix is not None:
                matrices[y, x] = matrix
    if not matrices:
        reason = notes[-1, -1]
        raise UserError(f'no member has a matrix {path!r} at step {step}: {reason}')
    labels = tuple(axis_label(row) for row in rows)
    return Cells(row_name, labels, column_name, columns, fixed, matrices, notes)


def tabulate(
    numbers: dict[Cell, dict[str, float]],
    shape: tuple[int, int],
) -> dict[str, np.ndarray]:
    """One table [row, column] per name, NaN in cells without numbers."""
    tables = {}
    for cell, numbers_of_cell in numbers.items():
        for name, number in numbers_of_cell.items():
            if name not in tables:
                tables[name] = np.full(shape, np.nan)
            tables[name][cell] = number
    return tables


def draw_cells(
    result: Any,
    axes: np.ndarray,
    draw_cell: Callable[[Axes, int, int], None],
) -> None:
    """Calls draw_cell(axis, row, column) for every member; writes notes in the others.

    Args:
      result: has row_name, rows, column_name, columns and notes, as `Cells` does.
    """
    symbol = 'γ' if result.column_name == 'gamma' else result.column_name
    last_row = len(axes) - 1
    for (y, x), note in np.ndenumerate(result.notes):
        axis = axes[last_row - y, x]
        if note:
            axis.text(
                0.5,
                0.5,
                note,
                fontsize=6,
                ha='center',
                va='center',
                transform=axis.transAxes,
            )
        else:
            draw_cell(axis, y, x)
        axis.set(xticks=[], yticks=[])
        if x == 0:
            row_name = result.row_name.replace('_', ' ')
            axis.set_ylabel(f'{row_name} {result.rows[y]}')
        if y == 0:
            axis.set_xlabel(f'{symbol.replace("_", " ")} = {result.columns[x]:g}')


def layout(result: Any) -> style.Layout:
    """Cells about as high as wide, on a page."""
    rows, columns = result.notes.shape
    size = min(7.0 / columns, 2.2)
    width = 0.4 + size * columns
    height = 0.3 + (size + 0.15) * rows
    return style.Layout(rows, columns, width, height)


def _fix_axes(
    axes: dict[str, tuple],
    shown: tuple[str, str],
    point: dict[str, Any],
) -> dict[str, Any]:
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
    point: dict[str, Any],
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
