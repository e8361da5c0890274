"""Is a network of low complexity one that composes? Stable rank beside the answers (P3 Fig 3, 5C).

P3: the inferential solution is the one of low stable rank. P4 measures (sum s)^2 / sum s^2 of the
singular values. P3 does not name its matrix: the figure shows the one that `matrix` names and,
below it, the mean over all matrices inside blocks ('all').

  python analysis/complexity.py --run runs/phase --matrix=block_0/W_Q
"""

from typing import NamedTuple

import numpy as np
import xarray as xr

from analysis.drawing import command, style
from analysis.members.correlation import correlations
from analysis.members.selection import OUTCOMES, outcomes, row_axis, usable
from analysis.spectra.directions import ALL, MEASURES, over_members
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run


class Result(NamedTuple):
    """Over [row axis, gamma] (rows: first static axis, else weight decay), and over members.

    The grids are means over seeds and every axis not shown. Correlations are Spearman's, over
    members; what their p-values say is in `correlation.correlations`.
    """

    matrix: str
    gamma: np.ndarray  # [G]
    rows: np.ndarray  # [Y]
    row_name: str
    complexity_2YG: np.ndarray  # along MEASURES, of the matrix
    outcome_3YG: (
        np.ndarray
    )  # along OUTCOMES; agreement on the unseen and the held-out seen pairs
    complexity_2M: np.ndarray
    outcome_3M: np.ndarray
    correlation_23: np.ndarray
    p_value_23: np.ndarray
    all_complexity_2YG: np.ndarray  # the same of the mean over the blocks' matrices
    all_complexity_2M: np.ndarray
    all_correlation_23: np.ndarray
    all_p_value_23: np.ndarray
    members: int  # behind the correlations
    left_out: int  # diverged, or not trained yet: NaN in the arrays over members


def compute(run: Run, matrix: str = 'block_0/W_Q') -> Result:
    """Complexity of `matrix` (ALL: mean over the blocks' matrices) in every member of a sweep.

    Raises:
      UserError: there is no such matrix (those there are named), or no trained member.
    """
    here = usable(run)
    if not here.any():
        raise UserError('no member of this sweep is trained yet')
    chosen_2, all_2 = over_members(run, matrix), over_members(run, ALL)
    outcome_3 = outcomes(run.results).where(here)
    correlation_23, p_value_23 = correlations(_flat(chosen_2), _flat(outcome_3))
    all_correlation_23, all_p_value_23 = correlations(_flat(all_2), _flat(outcome_3))
    row_name = row_axis(run)
    return Result(
        matrix=matrix,
        gamma=run.results.gamma.values,
        rows=run.results[row_name].values,
        row_name=row_name,
        complexity_2YG=_grid(chosen_2, row_name),
        outcome_3YG=_grid(outcome_3, row_name),
        complexity_2M=_flat(chosen_2),
        outcome_3M=_flat(outcome_3),
        correlation_23=correlation_23,
        p_value_23=p_value_23,
        all_complexity_2YG=_grid(all_2, row_name),
        all_complexity_2M=_flat(all_2),
        all_correlation_23=all_correlation_23,
        all_p_value_23=all_p_value_23,
        members=int(here.sum()),
        left_out=int((~here).sum()),
    )


def draw(result: Result, axes) -> None:
    """Fills axes [2 or 3, 3]: for each matrix two complexities and their correlations; outcomes."""
    correlation = (result.correlation_23, result.p_value_23)
    _matrix(axes[0], result, result.matrix, result.complexity_2YG, *correlation)
    if result.matrix != ALL:
        correlation = (result.all_correlation_23, result.all_p_value_23)
        _matrix(axes[1], result, ALL, result.all_complexity_2YG, *correlation)
    for axis, name, values in zip(axes[-1], OUTCOMES, result.outcome_3YG, strict=True):
        span = style.matplotlib.colors.Normalize(0, 1)
        title = f'{name} on unseen' if name in style.MAPS else name
        _heatmap(
            axis, result, values, title, style.MAPS.get(name, 'Greys'), span, '.2f'
        )
        axis.set_xlabel('γ')
    for axis in axes[:, 0]:
        axis.set_ylabel(result.row_name.replace('_', ' '))
    axes[0, 2].legend(
        loc='upper center', bbox_to_anchor=(0.5, -0.15), ncols=2, fontsize=6
    )


def layout(result: Result) -> style.Layout:
    rows = 2 if result.matrix == ALL else 3
    return style.Layout(rows, 3, 7.0, rows * (1.1 + 0.25 * len(result.rows)))


def _flat(array: xr.DataArray) -> np.ndarray:
    return array.values.reshape(len(array), -1)


def _grid(array: xr.DataArray, row_name: str) -> np.ndarray:
    others = [d for d in array.dims[1:] if d not in (row_name, 'gamma')]
    return array.mean(others).transpose(array.dims[0], row_name, 'gamma').values


def _matrix(
    axes, result: Result, name: str, complexity_2YG, correlation_23, p_value_23
) -> None:
    """A row of panels: both measures over the grid, and which outcomes they go with."""
    where = 'mean of blocks' if name == ALL else name
    for axis, measure, values in zip(axes[:2], MEASURES, complexity_2YG, strict=True):
        span = style.matplotlib.colors.LogNorm(1, max(np.nanmax(values), 1.01))
        _heatmap(axis, result, values, f'{measure}, {where}', 'viridis', span, '.3g')
    _bars(axes[2], correlation_23, p_value_23)
    axes[2].set_title(f'rank correlation, {result.members} members')


def _heatmap(
    axis, result: Result, values, title: str, colours: str, span, number: str
) -> None:
    image = axis.imshow(values, cmap=colours, norm=span, origin='lower', aspect='auto')
    axis.set_xticks(range(len(result.gamma)), [f'{g:g}' for g in result.gamma])
    axis.set_yticks(range(len(result.rows)), [str(r) for r in result.rows])
    axis.set_title(title)
    for (y, x), value in np.ndenumerate(values):
        text = '–' if np.isnan(value) else format(value, number)
        red, green, blue, _ = image.cmap(span(np.nan_to_num(value)))
        colour = 'white' if 0.3 * red + 0.6 * green + 0.1 * blue < 0.5 else 'black'
        size = min(7, 45 / len(result.gamma))
        axis.text(x, y, text, ha='center', va='center', color=colour, fontsize=size)


def _bars(axis, correlation_23, p_value_23) -> None:
    """Correlations, with their p-values beside each bar."""
    for i, (name, colour) in enumerate(
        zip(MEASURES, ('#444444', '#AAAAAA'), strict=True)
    ):
        place = np.arange(3) + (0.2, -0.2)[i]
        axis.barh(place, correlation_23[i], 0.36, color=colour, label=name)
        for y, r, p in zip(place, correlation_23[i], p_value_23[i], strict=True):
            side = {'ha': 'left', 'x': 0.03} if r < 0 else {'ha': 'right', 'x': -0.03}
            text = f'{r:.2f}, p {p:.1g}' if np.isfinite(r) else '–'
            axis.text(y=y, s=text, va='center', fontsize=6, **side)
    axis.set_yticks(range(3), OUTCOMES)
    axis.set(xlim=(-1, 1))
    axis.axvline(0, color='black', lw=0.6)


if __name__ == '__main__':
    flag = command.Flag(str, 'block_0/W_Q', f"path of a matrix, or '{ALL}'")
    command.sweep(__doc__, 'complexity', compute, draw, layout, matrix=flag)
