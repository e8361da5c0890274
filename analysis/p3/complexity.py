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

from typing import Annotated, NamedTuple

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize

from analysis.drawing import style
from analysis.drawing.correlation_bars import draw_correlations
from analysis.members.correlation import correct_for_many, correlations
from analysis.members.rows import (
    count_row,
    find_fullest_row,
    list_labels,
    select_members,
)
from analysis.members.selection import (
    OUTCOMES,
    collect_outcomes,
    find_converged,
    find_row_axis,
    find_usable,
)
from analysis.members.solution import UNSEEN_MAPPINGS
from analysis.spectra.directions import ALL, MEASURES, measure_members
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

TITLE = 'Complexity'
PAPER = 'P3 Figs 3, 5 C'
CAPTION = (
    'Two measures of how many directions the weights use (stable rank and '
    'participation ratio) stand next to how the networks answer.'
)


class Result(NamedTuple):
    """Over [row axis, gamma], and over members.

    Rows are of the first static axis, else of the weight decay. The grids are means
    over seeds and every axis not shown, of all trained members. M are the converged
    members of one row, the one with the most of them (the last of equals).
    Correlations are Spearman's within seeds; what their p-values mean is in
    `correlation.correlations`.
    """

    matrix: str
    gamma: np.ndarray  # [G]
    rows: np.ndarray  # [Y]
    row_name: str
    complexity_2YG: np.ndarray  # along MEASURES, of the matrix
    outcome_3YG: np.ndarray  # agreement, along OUTCOMES
    all_complexity_2YG: np.ndarray  # of the mean over the blocks' matrices
    row: str  # the row of the correlations
    gamma_M: np.ndarray
    seed_M: np.ndarray
    complexity_2M: np.ndarray
    outcome_3M: np.ndarray
    correlation_23: np.ndarray
    p_value_23: np.ndarray  # corrected for all the correlations of the figure
    all_complexity_2M: np.ndarray
    all_correlation_23: np.ndarray
    all_p_value_23: np.ndarray
    compared: int  # correlations that the p-values are corrected for
    left_out: int  # trained members of the row that have not converged, or diverged


def compute(
    run: Run, matrix: Annotated[str, f"path of a matrix, or '{ALL}'"] = 'block_0/W_Q'
) -> Result:
    """Complexity of `matrix` in every member (ALL: mean over the blocks' matrices).

    Raises:
      UserError: there is no such matrix (the error lists those of the model), no
        trained member, or the task has no held-out seen pairs.
    """
    outcomes = collect_outcomes(run)
    is_usable = find_usable(run)
    if not is_usable.any():
        raise UserError('no member of this sweep is trained yet')
    chosen = measure_members(run, matrix)
    mean_of_all = measure_members(run, ALL)
    outcomes.values[:, ~is_usable.values] = np.nan

    row_name = find_row_axis(run.experiment.axes)
    is_converged = find_converged(run)
    row = find_fullest_row(is_converged, row_name)
    in_row = is_converged & (is_converged[row_name] == row)
    complexity_2M = select_members(chosen, in_row)
    all_complexity_2M = select_members(mean_of_all, in_row)
    outcome_3M = select_members(outcomes, in_row)
    gamma_M, seed_M = list_labels(in_row)
    tests = correlations(complexity_2M, outcome_3M, strata_M=seed_M)
    all_tests = correlations(all_complexity_2M, outcome_3M, strata_M=seed_M)
    p_values = [tests.p_value_XY]
    if matrix != ALL:
        p_values.append(all_tests.p_value_XY)
    corrected = correct_for_many(np.stack(p_values))
    return Result(
        matrix=matrix,
        gamma=run.results.gamma.values,
        rows=run.results[row_name].values,
        row_name=row_name,
        complexity_2YG=_average_grid(chosen, row_name),
        outcome_3YG=_average_grid(outcomes, row_name),
        all_complexity_2YG=_average_grid(mean_of_all, row_name),
        row=str(row),
        gamma_M=gamma_M,
        seed_M=seed_M,
        complexity_2M=complexity_2M,
        outcome_3M=outcome_3M,
        correlation_23=tests.correlation_XY,
        p_value_23=corrected[0],
        all_complexity_2M=all_complexity_2M,
        all_correlation_23=all_tests.correlation_XY,
        all_p_value_23=corrected[-1],
        compared=int(np.isfinite(corrected).sum()),
        left_out=count_row(run.results.trained, row_name, row) - len(gamma_M),
    )


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [2 or 3, 3]: a row for each matrix, then a row of outcomes."""
    numbers = (result.complexity_2YG, result.correlation_23, result.p_value_23)
    _draw_matrix(axes[0], result, result.matrix, *numbers)
    if result.matrix != ALL:
        numbers = (
            result.all_complexity_2YG,
            result.all_correlation_23,
            result.all_p_value_23,
        )
        _draw_matrix(axes[1], result, ALL, *numbers)
    _draw_outcomes(axes[-1], result)
    row_name = result.row_name.replace('_', ' ')
    for axis in axes[:, 0]:
        axis.set_ylabel(row_name)
    below = {'loc': 'upper center', 'bbox_to_anchor': (0.5, -0.15)}
    axes[0, 2].legend(ncols=2, fontsize=6, **below)


def layout(result: Result) -> style.Layout:
    rows = 2 if result.matrix == ALL else 3
    return style.Layout(rows, 3, 7.0, rows * (1.1 + 0.25 * len(result.rows)))


def _average_grid(array: xr.DataArray, row_name: str) -> np.ndarray:
    """[first dim, Y, G]: the mean over every other axis."""
    first = array.dims[0]
    shown = (first, row_name, 'gamma')
    others = [dim for dim in array.dims if dim not in shown]
    means = array.mean(others)
    return means.transpose(*shown).values


def _draw_outcomes(axes: np.ndarray, result: Result) -> None:
    for i, name in enumerate(OUTCOMES):
        axis = axes[i]
        title = name
        colours = 'Greys'
        if name in UNSEEN_MAPPINGS:
            title = f'{name} on unseen'
            colours = style.MAPS[name]
        values = result.outcome_3YG[i]
        _draw_heatmap(axis, result, values, colours, Normalize(0, 1), '.2f')
        axis.set_title(title)
        axis.set_xlabel('γ')


def _draw_matrix(
    axes: np.ndarray,
    result: Result,
    name: str,
    complexity_2YG: np.ndarray,
    correlation_23: np.ndarray,
    p_value_23: np.ndarray,
) -> None:
    """A row of panels: both measures over the grid, and which outcomes they go with."""
    where = 'mean of blocks' if name == ALL else name
    for axis, measure, values in zip(axes[:2], MEASURES, complexity_2YG, strict=True):
        highest = max(np.nanmax(values), 1.01)
        _draw_heatmap(axis, result, values, 'viridis', LogNorm(1, highest), '.3g')
        axis.set_title(f'{measure}, {where}')
    draw_correlations(axes[2], MEASURES, OUTCOMES, correlation_23, p_value_23)
    members = len(result.gamma_M)
    row_name = result.row_name.replace('_', ' ')
    counted = f'{members} converged members, {row_name} {result.row}'
    corrected = f'rank correlation within seeds; p: Holm, {result.compared}'
    axes[2].set_title(f'{corrected}\n{counted}', fontsize=6)


def _draw_heatmap(
    axis: Axes,
    result: Result,
    values: np.ndarray,
    colours: str,
    norm: Normalize,
    number: str,
) -> None:
    image = axis.imshow(values, cmap=colours, norm=norm, origin='lower', aspect='auto')
    style.label_grid(axis, result.gamma, result.rows)
    scaled = norm(np.nan_to_num(values))
    rgba = image.cmap(scaled)
    brightness = rgba[..., :3] @ (0.3, 0.6, 0.1)
    size = min(7, 45 / len(result.gamma))
    style.write_cells(axis, values, number, brightness < 0.5, size)
