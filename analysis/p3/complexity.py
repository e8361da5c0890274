"""Do networks of low complexity compose? Stable rank beside the answers (P3 Fig 3, 5C).

P3 finds that the composed solution is the one of low stable rank. P4 measures
(sum s)^2 / sum s^2 of the singular values. P3 does not name its matrix: the figure
shows the one that `matrix` names and, below it, the mean over all matrices inside
blocks ('all').

Correlations are of the converged members of one row, and members that differ in γ alone
(or in the learning rate) are compared with each other, so that neither depth, weight
decay nor seed stands in for complexity. The figure looks at many correlations: their
p-values are corrected for all of them.

  python -m analysis complexity --run runs/phase --matrix=block_0/W_Q
"""

from typing import Annotated, Any

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm

from analysis import frame, stats
from analysis.drawing import style
from analysis.drawing.gammas import label_gamma_cells
from analysis.members.selection import (
    find_column_axis,
    find_row_axis,
    require_heldout_eval_set,
)
from analysis.names import name_matrix
from analysis.spectra import participation_ratio, singular_values, stable_rank
from anchorjax.network import Network
from anchorjax.storage.reader import Run

TITLE = 'Complexity'
PAPER = 'P3 Figs 3, 5 C'
CAPTION = (
    'Two measures of how many directions the weights use (stable rank and '
    'participation ratio) stand next to how the networks answer.'
)
MEASURES = ('stable rank', 'participation ratio')
ALL = 'all'  # stands for all matrices inside blocks
DARKEST = 10  # directions, at least: 1.06 beside 1.11 is no contrast
# The column of `Run.members` of each outcome, and its colours.
OUTCOMES = {
    'composed': ('unseen_composed', style.MAPS['composed']),
    'symmetric': ('unseen_symmetric', style.MAPS['symmetric']),
    'held-out': ('seen_heldout_assigned', 'Greys'),
}


def compute(
    run: Run, matrix: Annotated[str, f"path of a matrix, or '{ALL}'"] = 'block_0/W_Q'
) -> xr.Dataset:
    """Complexity of `matrix` in every member (ALL: mean over the blocks' matrices).

      complexity  [matrix, measure, member] of the matrix and of ALL
      agreement   [outcome, member], beside the gamma, seed and row of the members
      is_counted  [member] in the correlations: the converged ones of one row
      rho, p      [matrix, measure, outcome] Spearman's within seeds and settings; p
                  after Holm's correction, see `correlate`

    Rows are of the first static axis, else of the weight decay; that of the
    correlations is the one with the most converged members (the last of equals).

    Raises:
      UserError: there is no such matrix (the error lists those of the model), no
        trained member, or the task has no held-out seen pairs.
    """
    require_heldout_eval_set(run)
    members = frame.list_usable(run)
    axes = run.experiment.axes
    row_name = find_row_axis(axes)
    row = members[row_name].astype(str)
    converged = members.converged.groupby(row, sort=False).sum()
    counted_row = converged.index[converged == converged.max()][-1]
    is_counted = members.converged & (row == counted_row)
    shown = (row_name, find_column_axis(axes))
    others = [axis for axis in axes if axis not in shown]
    setting = members.groupby(others).ngroup()
    columns = [column for column, _ in OUTCOMES.values()]
    agreement = members.reindex(columns=columns).values.T

    matrices = [matrix] if matrix == ALL else [matrix, ALL]
    found = []
    for _, member in frame.open_networks(run, members, 'complexity'):
        found.append([measure_directions(member, name) for name in matrices])
    complexity = np.moveaxis(np.array(found), 0, -1)
    complexity_XM = complexity.reshape(-1, len(members))
    rho_XY, p_XY = correlate(
        complexity_XM[:, is_counted],
        agreement[:, is_counted],
        setting[is_counted].values,
    )
    shape = (len(matrices), len(MEASURES), len(OUTCOMES))
    places = ('matrix', 'measure', 'outcome')
    numbers = {
        'complexity': (('matrix', 'measure', 'member'), complexity),
        'agreement': (('outcome', 'member'), agreement),
        'gamma': ('member', members.gamma),
        'seed': ('member', members.seed),
        'row': ('member', row.tolist()),
        'is_counted': ('member', is_counted),
        'rho': (places, rho_XY.reshape(shape)),
        'p': (places, stats.holm(p_XY.ravel()).reshape(shape)),
    }
    labels = {'matrix': matrices, 'measure': list(MEASURES), 'outcome': list(OUTCOMES)}
    return xr.Dataset(numbers, labels).assign_attrs(
        row_name=row_name.replace('_', ' '),
        counted_row=counted_row,
        width=frame.find_width(run),
    )


def measure_directions(member: Network, name: str) -> np.ndarray:
    """MEASURES of a matrix, or their means over ALL matrices inside blocks, [2].

    Raises:
      UserError: the model has no such parameter, or it is not a matrix.
    """
    if name != ALL:
        return measure_matrices([member.matrix(name)])
    matrices = member.matrices.items()
    return measure_matrices([W for path, W in matrices if '/' in path])


def measure_matrices(matrices: list[np.ndarray]) -> np.ndarray:
    """Means of the MEASURES over some matrices, [2]."""
    stable = []
    participation = []
    for W in matrices:
        stable.append(stable_rank(W))
        participation.append(participation_ratio(singular_values(W)))
    return np.array([stable, participation]).mean(-1)


def correlate(
    x_XM: np.ndarray, y_YM: np.ndarray, seed_M: np.ndarray, permutations: int = 10_000
) -> tuple[np.ndarray, np.ndarray]:
    """Spearman's correlation of every x with every y within seeds, and its p-value.

    Members of one seed share their data and the direction of their initial weights, so
    only they are ranked against each other, and exchanged for the two-sided p-value.
    It assumes exchangeable members of a seed, which those of a sweep of γ are not: it
    says that the two go together over this sweep, not that one causes the other.

    Members with a NaN are left out, but for a y that no member has. [X, Y] each; NaN
    where one does not vary.

    Args:
      seed_M: equal for members that are compared: of a seed, or of a seed and setting.
    """
    is_asked_Y = np.isfinite(y_YM).any(1)
    is_known_M = np.isfinite(x_XM).all(0) & np.isfinite(y_YM[is_asked_Y]).all(0)
    seed_M = seed_M[is_known_M]
    x_XM = _standardize_ranks(x_XM[:, is_known_M], seed_M)
    y_YM = _standardize_ranks(y_YM[:, is_known_M], seed_M)
    rho_XY = x_XM @ y_YM.T
    if not len(seed_M):
        rho_XY[:] = np.nan
    rng = np.random.default_rng(0)
    threshold_XY = np.abs(rho_XY) - 1e-9
    at_least_as_large_XY = np.zeros_like(rho_XY)
    order_M = np.arange(len(seed_M))
    for _ in range(permutations):
        for seed in np.unique(seed_M):
            of_seed = np.flatnonzero(seed_M == seed)
            order_M[of_seed] = rng.permutation(of_seed)
        by_chance_XY = x_XM[:, order_M] @ y_YM.T
        at_least_as_large_XY += np.abs(by_chance_XY) >= threshold_XY
    p_XY = (1 + at_least_as_large_XY) / (1 + permutations)
    return rho_XY, np.where(np.isnan(rho_XY), np.nan, p_XY)


def _standardize_ranks(x_XM: np.ndarray, seed_M: np.ndarray) -> np.ndarray:
    """Ranks within seeds, centred there, each row of length one; NaN: no variation.

    Spearman's correlation within seeds is the inner product of two such rows.
    """
    ranks = pd.DataFrame(x_XM.T).groupby(seed_M).rank()
    centred = ranks - ranks.groupby(seed_M).transform('mean')
    lengths = (centred**2).sum().transform(np.sqrt)
    return (centred / lengths.where(lengths > 0)).values.T


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [2 or 3, 3]: a row for each matrix, then a row of outcomes."""
    tests = int(result.p.notnull().sum())
    counted = f'{int(result.is_counted.sum())} converged members'
    title = (
        f'rank correlation within seeds; p: Holm, {tests}\n'
        f'{counted}, {result.row_name} {result.counted_row}'
    )
    largest = max(DARKEST, float(result.complexity.max()))
    words = f'grey: from 1 (white) to {largest:.3g} (black), on a log scale'
    axes[0, 0].figure.suptitle(f'means over seeds; {words}')
    for row, name in zip(axes, result.matrix.values, strict=False):
        _draw_matrix(row, result.sel(matrix=name), largest)
        row[2].set_title(title, fontsize=6)
    for axis, (name, (column, colours)) in zip(axes[-1], OUTCOMES.items(), strict=True):
        grid = _average(result, result.agreement.sel(outcome=name))
        _draw_grid(axis, grid, result.width, colours, (0, 1))
        is_unseen = column.startswith('unseen')
        axis.set_title(f'{name} answers to the unseen pair' if is_unseen else name)
    for axis in axes[:, 0]:
        axis.set_ylabel(result.row_name)
    below = {'loc': 'upper center', 'bbox_to_anchor': (0.5, -0.15)}
    axes[0, 2].legend(ncols=2, fontsize=6, **below)


def layout(result: xr.Dataset) -> style.Layout:
    rows = 1 + result.sizes['matrix']
    height = 1.4 + 0.25 * len(np.unique(result.row))
    return style.Layout(rows, 3, 7.0, rows * height)


def _draw_matrix(axes: np.ndarray, result: xr.Dataset, largest: float) -> None:
    """A row of panels: both measures over the grid, and which outcomes they go with.

    Args:
      largest: the number that is black; 1 is white.
    """
    name = result.matrix.item()
    where = 'mean of blocks' if name == ALL else name_matrix(name)
    for axis, measure in zip(axes[:2], MEASURES, strict=True):
        grid = _average(result, result.complexity.sel(measure=measure))
        look = {'norm': LogNorm, 'number': '.3g'}
        _draw_grid(axis, grid, result.width, 'Greys', (1, largest), **look)
        axis.set_title(f'{measure}, {where}')
    _draw_correlations(axes[2], result)


def _draw_correlations(axis: Axes, result: xr.Dataset) -> None:
    """A bar for each outcome and measure, with its p-value beside it."""
    places = np.arange(len(OUTCOMES))
    looks = (('#444444', 0.2), ('#AAAAAA', -0.2))  # colour, shift
    for measure, (colour, shift) in zip(MEASURES, looks, strict=True):
        here = result.sel(measure=measure)
        axis.barh(places + shift, here.rho, 0.36, color=colour, label=measure)
        for y, rho, p in zip(places + shift, here.rho, here.p, strict=True):
            digits = '.2f' if p >= 0.01 else '.1g'
            text = f'{rho:.2f}, p {p:{digits}}' if np.isfinite(rho) else '–'
            x, side = (0.03, 'left') if rho < 0 else (-0.03, 'right')
            axis.text(x, y, text, ha=side, va='center', fontsize=6)
    axis.set_yticks(places, OUTCOMES)
    axis.set_xlim(-1, 1)
    axis.axvline(0, color='black', lw=0.6)


def _average(result: xr.Dataset, values: xr.DataArray) -> pd.DataFrame:
    """The mean over seeds and every axis not shown: rows down, gammas across."""
    table = pd.DataFrame({'row': result.row, 'gamma': result.gamma, 'value': values})
    grid = table.groupby(['row', 'gamma']).value.mean().unstack()
    return grid.reindex(table.row.unique())


def _draw_grid(
    axis: Axes,
    grid: pd.DataFrame,
    width: float,
    colours: str,
    limits: tuple[float, float],
    **look: Any,
) -> None:
    """A number in every cell, the first row at the bottom; `look`: of the heatmap."""
    size = min(7, 45 / len(grid.columns))
    style.draw_heatmap(axis, grid, colours, limits, size=size, **look)
    axis.invert_yaxis()
    label_gamma_cells(axis, grid.columns.to_numpy(), width)
