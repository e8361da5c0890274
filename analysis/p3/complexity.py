"""Do networks of low complexity compose? Stable rank beside the answers (P3 Fig 3, 5C).

P3 finds that the inferential solution is the one of low stable rank. P4 measures
(sum s)^2 / sum s^2 of the singular values. P3 does not name its matrix: the figure
shows the one that `matrix` names and, below it, the mean over all matrices inside
blocks ('all').

Correlations are of the converged members of one row, so that depth (or weight decay)
does not stand in for complexity; members of one seed are compared with each other. The
figure looks at many correlations: their p-values are corrected for all of them.

  python -m analysis complexity --run runs/phase --matrix=block_0/W_Q
"""

import math
from typing import Annotated, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize

from analysis import frame, stats
from analysis.drawing import style
from analysis.drawing.correlation_bars import draw_correlations
from analysis.drawing.gammas import label_gamma_cells
from analysis.members.correlation import correlations
from analysis.members.selection import find_row_axis, require_heldout_probe
from analysis.spectra.directions import ALL, MEASURES, measure_members
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run, members_table

TITLE = 'Complexity'
PAPER = 'P3 Figs 3, 5 C'
CAPTION = (
    'Two measures of how many directions the weights use (stable rank and '
    'participation ratio) stand next to how the networks answer.'
)
# Column of `members`: that of `members_table`, and its colours.
OUTCOMES = {
    'inferential': ('unseen_inferential', style.MAPS['inferential']),
    'symmetric': ('unseen_symmetric', style.MAPS['symmetric']),
    'held-out': ('seen_heldout_assigned', 'Greys'),
}


class Result(NamedTuple):
    """All trained members, and correlations over the converged ones of one row.

    Rows are of the first static axis, else of the weight decay; that of the
    correlations is the one with the most converged members (the last of equals).
    Correlations are Spearman's within seeds; what their p-values mean is in
    `correlation.correlations`.
    """

    matrix: str
    row_name: str
    row: str  # of the correlations
    # Row, gamma, seed, converged, OUTCOMES, and a column 'MEASURE, MATRIX' for MEASURES
    # of the matrix and of ALL.
    members: pd.DataFrame
    correlations: pd.DataFrame  # matrix, measure, outcome, rho, p (Holm, for all rows)
    left_out: int  # trained members of the row that have not converged, or diverged
    width: float = math.nan  # of the networks; NaN: there are several

    @property
    def counted(self) -> pd.DataFrame:
        """The members of the correlations."""
        members = self.members
        return members[members.converged & (members.row.astype(str) == self.row)]


def compute(
    run: Run, matrix: Annotated[str, f"path of a matrix, or '{ALL}'"] = 'block_0/W_Q'
) -> Result:
    """Complexity of `matrix` in every member (ALL: mean over the blocks' matrices).

    Raises:
      UserError: there is no such matrix (the error lists those of the model), no
        trained member, or the task has no held-out seen pairs.
    """
    require_heldout_probe(run)
    table = members_table(run)
    usable = frame.find_usable(table)
    if not len(usable):
        raise UserError('no member of this sweep is trained yet')
    row_name = find_row_axis(run.experiment.axes)
    members = usable[['gamma', 'seed', 'converged']].assign(row=usable[row_name])
    for name, (column, _) in OUTCOMES.items():
        members[name] = usable.get(column, np.nan)
    points = frame.find_points(run, usable)
    for name in list_matrices(matrix):
        columns = [f'{measure}, {name}' for measure in MEASURES]
        members[columns] = measure_members(run, points, name)
    converged = members.groupby('row', sort=False).converged.sum()
    row = converged.index[converged == converged.max()][-1]
    is_counted = members.converged & (members.row == row)
    in_row = table.trained & (table[row_name] == row)
    return Result(
        matrix=matrix,
        row_name=row_name,
        row=str(row),
        members=members,
        correlations=_correlate(members[is_counted], list_matrices(matrix)),
        left_out=int(in_row.sum() - is_counted.sum()),
        width=frame.find_width(run),
    )


def list_matrices(matrix: str) -> list[str]:
    """The matrix, and ALL below it."""
    return [ALL] if matrix == ALL else [matrix, ALL]


def _correlate(counted: pd.DataFrame, matrices: list[str]) -> pd.DataFrame:
    """Every measure of every matrix with every outcome, over members of one row."""
    rows = []
    outcome_3M = counted[[*OUTCOMES]].values.T
    for name in matrices:
        columns = [f'{measure}, {name}' for measure in MEASURES]
        complexity_2M = counted[columns].values.T
        tests = correlations(complexity_2M, outcome_3M, strata_M=counted.seed.values)
        for i, j in np.ndindex(tests.correlation_XY.shape):
            rho, p = tests.correlation_XY[i, j], tests.p_value_XY[i, j]
            rows.append((name, MEASURES[i], list(OUTCOMES)[j], rho, p))
    columns = ['matrix', 'measure', 'outcome', 'rho', 'p']
    found = pd.DataFrame(rows, columns=columns)
    return found.assign(p=stats.holm(found.p))


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [2 or 3, 3]: a row for each matrix, then a row of outcomes."""
    for row, name in zip(axes, list_matrices(result.matrix), strict=False):
        _draw_matrix(row, result, name)
    for axis, (name, (column, colours)) in zip(axes[-1], OUTCOMES.items(), strict=True):
        _draw_heatmap(axis, result, name, colours, Normalize(0, 1), '.2f')
        is_unseen = column.startswith('unseen')
        axis.set_title(f'{name} on unseen' if is_unseen else name)
    for axis in axes[:, 0]:
        axis.set_ylabel(result.row_name.replace('_', ' '))
    below = {'loc': 'upper center', 'bbox_to_anchor': (0.5, -0.15)}
    axes[0, 2].legend(ncols=2, fontsize=6, **below)


def layout(result: Result) -> style.Layout:
    rows = 2 if result.matrix == ALL else 3
    return style.Layout(
        rows, 3, 7.0, rows * (1.4 + 0.25 * result.members.row.nunique())
    )


def _draw_matrix(axes: np.ndarray, result: Result, name: str) -> None:
    """A row of panels: both measures over the grid, and which outcomes they go with."""
    where = 'mean of blocks' if name == ALL else name
    for axis, measure in zip(axes[:2], MEASURES, strict=True):
        column = f'{measure}, {name}'
        highest = max(_average(result, column).max(axis=None), 1.01)
        norm = LogNorm(1, highest)
        _draw_heatmap(axis, result, column, 'viridis', norm, '.3g')
        axis.set_title(f'{measure}, {where}')
    found = result.correlations[result.correlations.matrix == name]
    shape = (len(MEASURES), len(OUTCOMES))
    rho_23 = found.rho.values.reshape(shape)
    p_23 = found.p.values.reshape(shape)
    draw_correlations(axes[2], MEASURES, tuple(OUTCOMES), rho_23, p_23)
    counted = f'{len(result.counted)} converged members'
    compared = result.correlations.p.notna().sum()
    axes[2].set_title(
        f'rank correlation within seeds; p: Holm, {compared}\n'
        f'{counted}, {result.row_name.replace("_", " ")} {result.row}',
        fontsize=6,
    )


def _average(result: Result, column: str) -> pd.DataFrame:
    """The mean over seeds and every axis not shown: rows down, gammas across."""
    means = result.members.groupby(['row', 'gamma'], sort=False)[column].mean()
    grid = means.unstack()
    return grid.reindex(result.members.row.unique())[sorted(grid.columns)]


def _draw_heatmap(
    axis: Axes, result: Result, column: str, colours: str, norm: Normalize, number: str
) -> None:
    grid = _average(result, column)
    values = grid.values
    image = axis.imshow(values, cmap=colours, norm=norm, origin='lower', aspect='auto')
    axis.set_yticks(range(len(grid)), [str(row) for row in grid.index])
    label_gamma_cells(axis, grid.columns, result.width)
    rgba = image.cmap(norm(np.nan_to_num(values)))
    brightness = rgba[..., :3] @ (0.3, 0.6, 0.1)
    size = min(7, 45 / len(grid.columns))
    style.write_cells(axis, values, number, brightness < 0.5, size)
