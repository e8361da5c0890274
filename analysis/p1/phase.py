"""The phase diagram: which solution a network reaches, over gamma and depth.

P1 Fig 2 (a, b). Three readings of one sweep, from flattering to plain:

  best      the paper's: the best learning rate for EACH mapping, mean over seeds
  fixed     one learning rate for all: the best one on held-out seen pairs
  fraction  at that rate, the share of converged seeds at each solution

With one learning rate `best` is `fixed`, and is left out of the picture.

Lines: agreement on held-out seen pairs is below 0.9. Dots: some seeds have not
converged, so that the cell says more about the length of training than about its end.
For a task without an unseen pair the diagram shows the held-out seen pairs alone.

  python -m analysis phase --run runs/phase
"""

import pathlib
from typing import NamedTuple

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from analysis.drawing import style
from analysis.members.selection import (
    find_row_axis,
    has_heldout_probe,
    has_unseen_pair,
)
from analysis.members.solution import (
    SEEN_ENOUGH,
    UNSEEN_MAPPINGS,
    mark_solutions,
)
from anchorjax.errors import UserError
from anchorjax.grid import TRACED_AXES
from anchorjax.storage.reader import Run

TITLE = 'Phase diagram'
PAPER = 'P1 Fig 2 (a, b)'
CAPTION = (
    'The diagrams show how networks answer the unseen pair: above, the share of '
    'composed (inferential) answers, and below, the share that are those of the '
    'reversed pair (symmetric). On the left every cell has its best learning rate, in'
    ' the middle all have the same; on the right is the share of converged seeds.'
)


class Result(NamedTuple):
    """Arrays over [row axis, gamma] (rows: static axes, else weight decay).

    R: agreement with UNSEEN_MAPPINGS on the unseen pair; 0 without such a pair.
    """

    gamma: np.ndarray  # [G]
    rows: np.ndarray  # [Y] e.g. depths
    row_name: str
    num_rates: int
    learning_rate: float  # of `fixed` and `fraction`
    best: np.ndarray  # [R, Y, G] best over learning rates, mean over seeds
    fixed: np.ndarray  # [R, Y, G]
    seen_best: np.ndarray  # [Y, G] the same on held-out seen pairs
    seen_fixed: np.ndarray  # [Y, G]
    fraction: np.ndarray  # [SOLUTIONS, Y, G] shares of the converged seeds
    converged_best: np.ndarray  # [Y, G] share of the members that have converged
    converged_fixed: np.ndarray  # [Y, G]
    members: int  # trained members behind the figure
    converged: int  # those of them that have converged


def compute(data: xr.Dataset) -> Result:
    """The phase diagram of a sweep's results (the last step of `Run.curves`).

    NaN where nothing is trained. A row is a combination of the values of all static
    axes; without any, a weight decay. Axes that are not shown are averaged like seeds:
    select first to see one value.
    Diverged members count with the agreement they have.

    Raises:
      UserError: the task has no held-out probe.
    """
    if not has_heldout_probe(data):
        raise UserError(
            'phase: needs a probe seen_heldout with the mapping assigned; this task '
            f'has the probes {data.probe.values.tolist()} and the mappings '
            f'{data.mapping.values.tolist()}'
        )
    data = _join_static_axes(data)
    row_name = find_row_axis(data.trained.dims)
    unseen, seen = _select_agreement(data)
    rate = _find_best_rate(seen)
    fixed_unseen = unseen.isel(learning_rate=rate)
    fixed_seen = seen.isel(learning_rate=rate)
    shown = (row_name, 'gamma')
    pooled = [dim for dim in fixed_seen.dims if dim not in shown]

    def average(values: xr.DataArray) -> np.ndarray:
        means = values.mean(pooled)
        return means.transpose(..., *shown).values

    # In NumPy: xarray takes an array with an axis called `keys` for a dict.
    shares = np.where(data.trained.values, data.converged.values, np.nan)
    is_converged = data.trained.copy(data=shares)
    fixed_data = data.isel(learning_rate=rate)
    converged_best = is_converged.mean([*pooled, 'learning_rate'])
    return Result(
        gamma=data.gamma.values,
        rows=data[row_name].values,
        row_name=row_name,
        num_rates=data.sizes['learning_rate'],
        learning_rate=float(data.learning_rate.values[rate]),
        best=average(unseen.max('learning_rate')),
        fixed=average(fixed_unseen),
        seen_best=average(seen.max('learning_rate')),
        seen_fixed=average(fixed_seen),
        fraction=average(mark_solutions(fixed_data)),
        converged_best=converged_best.transpose(*shown).values,
        converged_fixed=average(is_converged.isel(learning_rate=rate)),
        members=int(data.trained.sum()),
        converged=int(data.converged.sum()),
    )


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [2, 3]: rows inferential and symmetric, columns best, fixed, fraction.

    Without an unseen pair fills axes [1, 2] with agreement on held-out seen pairs. The
    column of the best rate is missing where there is one rate.
    """
    if _has_unseen_pair(result):
        _draw_unseen_pair(axes, result)
        title = 'agreement on the unseen pair'
        lines = f'lines: seen pairs < {SEEN_ENOUGH:g}'
    else:
        _draw_seen_pairs(axes, result)
        title = 'agreement on held-out seen pairs; the task has no unseen pair'
        lines = f'lines: < {SEEN_ENOUGH:g}'
    explanation = f'{title}\n{lines}; {_explain_dots(result)}'
    axes[0, 0].figure.suptitle(explanation, fontsize=8)
    for axis in axes[-1]:
        axis.set_xlabel('initialization rate γ')
    for axis in axes[:, 0]:
        axis.set_ylabel(result.row_name.replace('_', ' '))


def layout(result: Result) -> style.Layout:
    columns = 2 if _has_unseen_pair(result) else 1
    if result.num_rates > 1:
        columns += 1
    if not _has_unseen_pair(result):
        return style.Layout(1, columns, 2.5 * columns, 1.2 + 0.25 * len(result.rows))
    width = 7.0 if columns == 3 else 5.6
    return style.Layout(2, columns, width, 1.6 + 0.5 * len(result.rows))


def save(run: Run, folder: pathlib.Path) -> list[pathlib.Path]:
    """Draws phase.png and phase.pdf and writes the numbers behind them, phase.npz.

    Draws nothing for a task that has no held-out probe.
    """
    if not has_heldout_probe(run.results):
        return []
    return style.write_figure(compute(run.results), draw, layout, folder / 'phase')


def _join_static_axes(data: xr.Dataset) -> xr.Dataset:
    """The same members with one static axis: 'depth, width' with values '2, 64'."""
    static = [dim for dim in data.trained.dims if dim not in TRACED_AXES]
    if len(static) < 2:
        return data
    # Without an unseen pair there are no deviations, and nothing to stack.
    data = data.drop_vars([name for name in data.data_vars if data[name].size == 0])
    # Under other names: xarray takes an array with an axis called `keys` for a dict.
    names = [f'static_{i}' for i in range(len(static))]
    renamed = data.rename(dict(zip(static, names, strict=True)))
    joined = renamed.stack(row=names, create_index=False)
    labels = _join_labels([joined[name].values for name in names])
    row_name = ', '.join(static)
    joined = joined.drop_vars(names).rename(row=row_name)
    return joined.assign_coords({row_name: labels})


def _join_labels(values_of_axes: list[np.ndarray]) -> list[str]:
    """'2, 64' for every row, from the value of each axis in it."""
    return [', '.join(map(str, row)) for row in zip(*values_of_axes, strict=True)]


def _select_agreement(data: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    """(on the unseen pair, [mapping R, axes]; on held-out seen pairs, [axes])."""
    seen = data.agreement.sel(probe='seen_heldout', mapping='assigned')
    if has_unseen_pair(data):
        unseen = data.agreement.sel(probe='unseen', mapping=list(UNSEEN_MAPPINGS))
    else:
        unseen = data.agreement.isel(probe=0, mapping=slice(0))
    return unseen.transpose('mapping', ...), seen


def _find_best_rate(seen: xr.DataArray) -> int:
    """Index of the learning rate whose members score highest on held-out seen pairs."""
    others = [dim for dim in seen.dims if dim != 'learning_rate']
    mean = seen.mean(others).fillna(-1)
    return int(mean.values.argmax())


def _has_unseen_pair(result: Result) -> bool:
    return len(result.best) > 0


def _draw_unseen_pair(axes: np.ndarray, result: Result) -> None:
    fixed = (result.seen_fixed, result.converged_fixed)
    panels = [
        (_name_rate(result), result.fixed, *fixed),
        ('share of converged seeds', result.fraction, *fixed),
    ]
    if result.num_rates > 1:
        best = (result.best, result.seen_best, result.converged_best)
        panels.insert(0, ('best learning rate per mapping', *best))
    for column, (title, values, seen, converged) in enumerate(panels):
        for row, mapping in enumerate(UNSEEN_MAPPINGS):
            axis = axes[row, column]
            colours = style.MAPS[mapping]
            _draw_heatmap(axis, result, values[row], colours)
            _hatch_cells(axis, seen < SEEN_ENOUGH, '////')
            _hatch_cells(axis, converged < 1, '....')
            axis.set_title(f'{mapping}: {title}')


def _draw_seen_pairs(axes: np.ndarray, result: Result) -> None:
    panels = [(_name_rate(result), result.seen_fixed, result.converged_fixed)]
    if result.num_rates > 1:
        best = (result.seen_best, result.converged_best)
        panels.insert(0, ('best learning rate', *best))
    for axis, (title, values, converged) in zip(axes[0], panels, strict=True):
        _draw_heatmap(axis, result, values, 'Greys')
        _hatch_cells(axis, values < SEEN_ENOUGH, '////')
        _hatch_cells(axis, converged < 1, '....')
        axis.set_title(title)


def _explain_dots(result: Result) -> str:
    if result.members and not result.converged:
        return f'dots: none of the {result.members} trained members has converged'
    return f'dots: not all converged ({result.converged} of {result.members} have)'


def _name_rate(result: Result) -> str:
    return f'learning rate {result.learning_rate:g}'


def _draw_heatmap(axis: Axes, result: Result, values: np.ndarray, colours: str) -> None:
    """Values in [0, 1], with a number in every cell."""
    axis.imshow(values, cmap=colours, vmin=0, vmax=1, origin='lower', aspect='auto')
    style.label_grid(axis, result.gamma, result.rows)
    style.write_cells(axis, values, '.2f', values > 0.6, size=7)


def _hatch_cells(axis: Axes, is_hatched: np.ndarray, pattern: str) -> None:
    for y, x in np.argwhere(is_hatched):
        corner = (x - 0.5, y - 0.5)
        hatch = Rectangle(corner, 1, 1, fill=False, hatch=pattern, lw=0, ec='#888888')
        axis.add_patch(hatch)
