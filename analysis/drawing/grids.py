"""A small picture for every cell of a sweep: gamma across, the first static axis upwards.

Without a static axis the rows are the weight decays. All other axes stand at their first value or
at --AXIS=VALUE; a member that is not there is a blank cell that says so.
"""

from typing import NamedTuple

import numpy as np

from analysis.drawing import style
from analysis.members.selection import row_axis
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run


class Cells(NamedTuple):
    """One matrix of every member over [row, gamma], at one point of the other axes."""

    row_name: str
    rows: tuple
    gamma: tuple[float, ...]
    fixed: dict  # value of every other axis
    matrices: dict[
        tuple[int, int], np.ndarray
    ]  # by (row, gamma) index, of members that have it
    notes: np.ndarray  # [row, gamma] why there is none, or ''


def cells(run: Run, path: str, step: int | str = 'last', **point) -> Cells:
    """The matrix at `path` of every member at `point`; nothing else of them is read.

    Raises:
      UserError: an axis that there is not, or that is shown, or no member has the matrix.
    """
    axes = run.experiment.axes
    row_name = row_axis(run)
    if shown := {row_name, 'gamma'} & set(point):
        raise UserError(f'--{min(shown)}: all its values are shown, leave it out')
    fixed = {a: v[0] for a, v in axes.items() if a not in (row_name, 'gamma')} | point
    rows, gamma = axes[row_name], axes['gamma']
    notes, matrices = np.full((len(rows), len(gamma)), '', '<U40'), {}
    for y, x in np.ndindex(notes.shape):
        found = _matrix(run, path, step, fixed | {row_name: rows[y], 'gamma': gamma[x]})
        if isinstance(found, str):
            notes[y, x] = found
        else:
            matrices[y, x] = found
    if not matrices:
        raise UserError(
            f'no member has a matrix {path!r} at step {step}: {notes.flat[-1]}'
        )
    return Cells(row_name, rows, gamma, fixed, matrices, notes)


def tables(found: dict, shape: tuple[int, int]) -> dict[str, np.ndarray]:
    """{(row, gamma): {name: number}} -> {name: [row, gamma]}, NaN where there is none."""
    names = next(iter(found.values()))
    result = {name: np.full(shape, np.nan) for name in names}
    for at, numbers in found.items():
        for name, number in numbers.items():
            result[name][at] = number
    return result


def fill(result, axes, cell) -> None:
    """Calls cell(axis, row, gamma) where there is a member; elsewhere says why there is none."""
    for y, x in np.ndindex(result.notes.shape):
        axis = axes[len(axes) - 1 - y, x]
        if note := result.notes[y, x]:
            middle = {'ha': 'center', 'va': 'center', 'transform': axis.transAxes}
            axis.text(0.5, 0.5, note, fontsize=6, **middle)
        else:
            cell(axis, y, x)
        axis.set(xticks=[], yticks=[])
        if x == 0:
            axis.set_ylabel(f'{result.row_name} {result.rows[y]}')
        if y == 0:
            axis.set_xlabel(f'γ = {result.gamma[x]:g}')


def layout(result) -> style.Layout:
    """Cells about as high as wide, on a page."""
    rows, columns = result.notes.shape
    size = min(7.0 / columns, 2.2)
    return style.Layout(rows, columns, 0.4 + size * columns, 0.3 + (size + 0.15) * rows)


def _matrix(run: Run, path: str, step, point: dict) -> np.ndarray | str:
    """The matrix, or why there is none."""
    steps, results = (
        run.steps(**point),
        run.results.sel(point),
    )  # `steps` knows every axis
    if results.trained and results.diverged >= 0:
        return 'diverged'
    if not steps or step not in ('last', *steps):
        return 'no snapshot'
    try:
        W = run.parameter(path, step, **point)
    except UserError:
        return f'no {path}'
    return W if W.ndim == 2 else f'{path} is no matrix'
