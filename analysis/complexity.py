"""Is a network of low complexity one that composes? Stable rank beside the answers (P3 Fig 3, 5C).

P3: the inferential solution is the one of low stable rank. P4 measures (sum s)^2 / sum s^2 of the
singular values. P3 does not name its matrix: `matrix` does, and 'all' is the mean over all
matrices inside blocks.

  python analysis/complexity.py --run runs/phase --matrix=block_0/W_Q
"""

import pathlib
import sys
from typing import NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

import numpy as np
import xarray as xr
from flax.traverse_util import flatten_dict
from scipy import stats

from analysis import command, measures, style
from anchorjax import grid, store
from anchorjax.errors import UserError

MEASURES = ('stable rank', 'participation ratio')
OUTCOMES = ('inferential', 'symmetric', 'held-out')
PERMUTATIONS = 10_000


class Result(NamedTuple):
    """Over [row axis, gamma] (rows: first static axis, else weight decay), and over members.

    The grids are means over seeds and every axis not shown. A correlation is Spearman's, over
    members; its p-value takes them for exchangeable, which a sweep of gamma makes them not: it
    says that the two go together over this sweep, not that one is the other's cause.
    """

    matrix: str
    gamma: np.ndarray  # [G]
    rows: np.ndarray  # [Y]
    row_name: str
    complexity_2YG: np.ndarray  # along MEASURES
    outcome_3YG: np.ndarray  # along OUTCOMES; agreement on the unseen and the held-out seen pairs
    complexity_2M: np.ndarray
    outcome_3M: np.ndarray
    correlation_23: np.ndarray
    p_value_23: np.ndarray
    members: int  # behind the correlations
    left_out: int  # diverged, or not trained yet: NaN in the arrays over members


def compute(run: store.Run, matrix: str = 'block_0/W_Q') -> Result:
    """Complexity of `matrix` ('all': mean over the blocks' matrices) in every member of a sweep.

    Raises:
      UserError: there is no such matrix (those there are named), or no trained member.
    """
    complexity_2 = xr.concat([xr.full_like(run.results.train_loss, np.nan)] * 2, 'measure').load()
    usable = run.results.trained & (run.results.diverged < 0)
    if not usable.any():
        raise UserError('no member of this sweep is trained yet')
    for index in np.argwhere(usable.values):
        point = {a: v[i] for (a, v), i in zip(run.experiment.axes.items(), index, strict=True)}
        complexity_2[(slice(None), *index)] = _measured(run, matrix, point)
    outcome_3 = outcomes(run.results).where(usable)
    first = next(iter(run.experiment.axes))
    row_name = 'weight_decay' if first in grid.TRACED_AXES else first
    per_member = [x.values.reshape(len(x), -1) for x in (complexity_2, outcome_3)]
    correlation, p_value = correlations(*per_member)
    return Result(
        matrix=matrix,
        gamma=run.results.gamma.values,
        rows=run.results[row_name].values,
        row_name=row_name,
        complexity_2YG=_grid(complexity_2, row_name),
        outcome_3YG=_grid(outcome_3, row_name),
        complexity_2M=per_member[0],
        outcome_3M=per_member[1],
        correlation_23=correlation,
        p_value_23=p_value,
        members=int(usable.sum()),
        left_out=int((~usable).sum()),
    )


def measured(matrices) -> np.ndarray:
    """(stable rank, participation ratio of the singular values), means over the matrices."""
    singular = [np.linalg.svd(np.asarray(W, np.float64), compute_uv=False) for W in matrices]
    both = [[measures.stable_rank(W) for W in matrices]]
    both += [[measures.participation_ratio(s) for s in singular]]
    return np.array(both).mean(-1)


def outcomes(results: xr.Dataset) -> xr.DataArray:
    """[OUTCOMES, axes of the sweep]."""
    agreement = results.agreement
    unseen = [agreement.sel(probe='unseen', mapping=m, drop=True) for m in OUTCOMES[:2]]
    heldout = agreement.sel(probe='seen_heldout', mapping='assigned', drop=True)
    return xr.concat([*unseen, heldout], 'outcome')


def correlations(x_XM, y_YM, permutations: int = PERMUTATIONS, seed: int = 0) -> tuple:
    """(Spearman's [X, Y], two-sided p-value by permuting members); NaN members are left out."""
    known = np.isfinite(x_XM).all(0) & np.isfinite(y_YM).all(0)
    x_XM, y_YM = x_XM[:, known], y_YM[:, known]
    found = np.array([[measures.rank_correlation(x, y) for y in y_YM] for x in x_XM])
    if not np.isfinite(found).any():
        return found, found
    rng, beyond = np.random.default_rng(seed), np.zeros_like(found)
    x_XM, y_YM = _standard_ranks(x_XM), _standard_ranks(y_YM)
    for _ in range(permutations):
        drawn = x_XM[:, rng.permutation(x_XM.shape[1])] @ y_YM.T
        beyond += np.abs(drawn) >= np.abs(found) - 1e-9
    return found, np.where(np.isfinite(found), (1 + beyond) / (1 + permutations), np.nan)


def draw(result: Result, axes) -> None:
    """Fills axes [2, 3]: two complexities and their correlations; then the three outcomes."""
    where = 'mean of blocks' if result.matrix == 'all' else result.matrix
    for i, name in enumerate(MEASURES):
        values = result.complexity_2YG[i]
        span = style.matplotlib.colors.LogNorm(1, max(np.nanmax(values), 1.01))
        _heatmap(axes[0, i], result, values, f'{name}, {where}', 'viridis', span, '.3g')
    colours = (*style.MAPS.values(), 'Greys')
    for i, name in enumerate(OUTCOMES):
        span = style.matplotlib.colors.Normalize(0, 1)
        title = name if i == 2 else f'{name} on unseen'
        _heatmap(axes[1, i], result, result.outcome_3YG[i], title, colours[i], span, '.2f')
        axes[1, i].set_xlabel('γ')
    for axis in axes[:, 0]:
        axis.set_ylabel(result.row_name.replace('_', ' '))
    _bars(axes[0, 2], result)


def layout(result: Result) -> style.Layout:
    return style.Layout(2, 3, 7.0, 2.2 + 0.5 * len(result.rows))


def _measured(run: store.Run, matrix: str, point: dict) -> np.ndarray:
    if matrix != 'all':
        W = run.parameter(matrix, **point)
        if W.ndim != 2:
            raise UserError(f'{matrix} is no matrix: its shape is {W.shape}')
        return measured([W])
    inside = flatten_dict(run.params(**point), sep='/').items()
    return measured([W for path, W in inside if '/' in path and W.ndim == 2])


def _grid(array: xr.DataArray, row_name: str) -> np.ndarray:
    others = [d for d in array.dims[1:] if d not in (row_name, 'gamma')]
    return array.mean(others).transpose(array.dims[0], row_name, 'gamma').values


def _standard_ranks(x_XM) -> np.ndarray:
    ranks = stats.rankdata(x_XM, axis=-1)
    centred = ranks - ranks.mean(-1, keepdims=True)
    norm = np.linalg.norm(centred, axis=-1, keepdims=True)
    return np.divide(centred, norm, out=np.zeros_like(centred), where=norm > 0)


def _heatmap(axis, result: Result, values, title: str, colours: str, span, number: str) -> None:
    image = axis.imshow(values, cmap=colours, norm=span, origin='lower', aspect='auto')
    axis.set_xticks(range(len(result.gamma)), [f'{g:g}' for g in result.gamma])
    axis.set_yticks(range(len(result.rows)), [str(r) for r in result.rows])
    axis.set_title(title)
    for y, x in np.ndindex(values.shape):
        value = values[y, x]
        text = '–' if np.isnan(value) else format(value, number)
        red, green, blue, _ = image.cmap(span(np.nan_to_num(value)))
        colour = 'white' if 0.3 * red + 0.6 * green + 0.1 * blue < 0.5 else 'black'
        size = min(7, 45 / len(result.gamma))
        axis.text(x, y, text, ha='center', va='center', color=colour, fontsize=size)


def _bars(axis, result: Result) -> None:
    """Correlations, with their p-values at the end of each bar."""
    for i, (name, colour) in enumerate(zip(MEASURES, ('#444444', '#AAAAAA'), strict=True)):
        place = np.arange(3) + (0.2, -0.2)[i]
        axis.barh(place, result.correlation_23[i], 0.36, color=colour, label=name)
        for y, r, p in zip(place, result.correlation_23[i], result.p_value_23[i], strict=True):
            side = {'ha': 'left', 'x': 0.03} if r < 0 else {'ha': 'right', 'x': -0.03}
            text = f'{r:.2f}, p {p:.1g}' if np.isfinite(r) else '–'
            axis.text(y=y, s=text, va='center', fontsize=6, **side)
    axis.set_yticks(range(3), OUTCOMES)
    axis.set(xlim=(-1, 1), title=f'rank correlation, {result.members} members')
    axis.axvline(0, color='black', lw=0.6)
    axis.legend(loc='upper center', bbox_to_anchor=(0.5, -0.15), ncols=2, fontsize=6)


if __name__ == '__main__':
    flag = command.Flag(str, 'block_0/W_Q', "path of a matrix, or 'all'")
    command.sweep(__doc__, 'complexity', compute, draw, layout, matrix=flag)
