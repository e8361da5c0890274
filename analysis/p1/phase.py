"""The phase diagram: which solution a network reaches, over gamma and depth.

P1 Fig 2 (a, b). Three readings of one sweep, from flattering to plain:

  best    the paper's: the best learning rate for EACH mapping, mean over seeds
  fixed   one learning rate for all: the best one on held-out seen pairs
  share   at that rate, the share of converged seeds at each solution

With one learning rate `best` is `fixed`, and is left out of the picture.

Lines: agreement on held-out seen pairs is below 0.9. Dots: some seeds have not
converged, so that the cell says more about the length of training than about its end.
For a task without an unseen pair the diagram shows the held-out seen pairs alone.

  python -m analysis phase --run runs/phase
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from analysis.drawing import style
from analysis.drawing.gammas import label_gamma_cells
from analysis.members.columns import list_axes, list_static_axes, list_varying_axes
from anchorjax.errors import UserError
from anchorjax.storage.solution import (
    SEEN_ENOUGH,
    SOLUTIONS,
    UNSEEN_MAPPINGS,
    classify_members,
)

TITLE = 'Phase diagram'
PAPER = 'P1 Fig 2 (a, b)'
CAPTION = (
    'The diagrams show how networks answer the unseen pair: above, the share of '
    'composed (inferential) answers, and below, the share that are those of the '
    'reversed pair (symmetric). Every column says at its top what it shows: means over '
    'the seeds, at one learning rate or at the best one of each cell, or the share of '
    'converged seeds that are at a solution.'
)
CELL = ['row', 'gamma']
SCORES = {
    'seen_heldout_assigned': 'held_out',
    'unseen_inferential': 'inferential',
    'unseen_symmetric': 'symmetric',
}


def compute(members: pd.DataFrame) -> pd.DataFrame:
    """A row per cell of the diagram; NaN where nothing is trained.

    A `row` is a combination of the values of all static axes, `row_name`; without any
    it is a weight decay. Other axes are `averaged` like seeds: select first to see one
    value. Diverged members count with the agreement they have.

    Returns:
      best_, fixed_  each `inferential` and `symmetric` (if there is an unseen pair),
                     `held_out` and the share of members that have `converged`
      share_         each of SOLUTIONS, among the converged members at the fixed rate

    Raises:
      UserError: the task has no held-out probe.
    """
    if 'seen_heldout_assigned' not in members:
        raise UserError('phase: needs a probe seen_heldout with the mapping assigned')
    row_axes = list_static_axes(members) or ['weight_decay']
    axes = list_axes(members)
    axes.remove('learning_rate')
    members = members.rename(columns=SCORES).assign(
        solution=classify_members(members),
        row=members[row_axes].astype(str).agg(', '.join, axis=1),
        converged=members.converged.where(members.trained).astype(float),
    )
    scores = [name for name in SCORES.values() if name in members]
    measured = [*scores, 'converged']

    best = members.groupby(['row', *axes], sort=False)[measured].max()
    best = best.groupby(CELL, sort=False).mean()
    best['converged'] = members.groupby(CELL, sort=False).converged.mean()

    by_rate = members.groupby('learning_rate', sort=False).held_out.mean()
    rate = by_rate.fillna(-1).idxmax()
    at_rate = members[members.learning_rate == rate]
    fixed = at_rate.groupby(CELL, sort=False)[measured].mean()

    readings = (
        best.add_prefix('best_'),
        fixed.add_prefix('fixed_'),
        share_solutions(at_rate).add_prefix('share_'),
    )
    cells = pd.concat(readings, axis=1).reset_index()
    averaged = []
    for axis in list_varying_axes(members):
        if axis not in ('gamma', 'learning_rate', *row_axes):
            averaged.append(axis.replace('_', ' '))
    widths = members.width.unique()
    return cells.assign(
        row_name=', '.join(row_axes),
        learning_rate=rate,
        has_rates=len(by_rate) > 1,
        averaged=' and '.join(averaged),
        trained=members.trained.sum(),
        converged=int(members.converged.sum()),
        width=widths[0] if len(widths) == 1 else np.nan,
    )


def share_solutions(members: pd.DataFrame) -> pd.DataFrame:
    """The share of each of SOLUTIONS among the converged members of every cell."""
    is_at = pd.get_dummies(members.solution, dtype=float)
    is_at = is_at.reindex(columns=list(SOLUTIONS), fill_value=0.0)
    counted = is_at.where(members.converged == 1)
    return counted.join(members[CELL]).groupby(CELL, sort=False).mean()


def draw(cells: pd.DataFrame, axes: np.ndarray) -> None:
    """Fills axes [answers, readings]: rows inferential and symmetric.

    Without an unseen pair fills axes [1, readings] with held-out seen pairs.
    """
    first = cells.iloc[0]
    titles = {
        'best': 'best learning rate per mapping',
        'fixed': f'learning rate {first.learning_rate:g}',
        'share': 'share of converged seeds',
    }
    for column, reading in enumerate(_list_readings(cells)):
        rates = 'best' if reading == 'best' else 'fixed'
        is_unsure = _arrange(cells, f'{rates}_held_out') < SEEN_ENOUGH
        is_open = _arrange(cells, f'{rates}_converged') < 1
        for axis, answer in zip(axes[:, column], _list_answers(cells), strict=True):
            values = _arrange(cells, f'{reading}_{answer}')
            colours = style.MAPS.get(answer, 'Greys')
            style.draw_heatmap(axis, values, colours, (0, 1), size=7)
            axis.invert_yaxis()
            label_gamma_cells(axis, values.columns, first.width)
            _hatch_cells(axis, is_unsure, '////')
            _hatch_cells(axis, is_open, '....')
            axis.set_title(f'{answer.replace("_", " ")}: {titles[reading]}')
    for axis in axes[:, 0]:
        axis.set_ylabel(first.row_name.replace('_', ' '))
    axes[0, 0].figure.suptitle(_explain(cells), fontsize=8)


def layout(cells: pd.DataFrame) -> style.Layout:
    rows = len(_list_answers(cells))
    columns = len(_list_readings(cells))
    height = 0.8 + rows * (0.8 + 0.25 * cells['row'].nunique())
    return style.Layout(rows, columns, 2.8 + 1.4 * columns, height)


def _list_answers(cells: pd.DataFrame) -> tuple[str, ...]:
    return UNSEEN_MAPPINGS if _has_unseen_pair(cells) else ('held_out',)


def _has_unseen_pair(cells: pd.DataFrame) -> bool:
    """Whether both answers to it are known."""
    return {f'fixed_{mapping}' for mapping in UNSEEN_MAPPINGS} <= set(cells)


def _list_readings(cells: pd.DataFrame) -> list[str]:
    """One rate has no best one, and held-out pairs alone make no solution."""
    readings = ['fixed']
    if cells.has_rates.any():
        readings.insert(0, 'best')
    if _has_unseen_pair(cells):
        readings.append('share')
    return readings


def _arrange(cells: pd.DataFrame, column: str) -> pd.DataFrame:
    """One number as the diagram shows it: rows upwards, gammas across."""
    return cells.set_index(CELL)[column].unstack(sort=False)


def _explain(cells: pd.DataFrame) -> str:
    first = cells.iloc[0]
    title = 'agreement on the unseen pair'
    if not _has_unseen_pair(cells):
        title = 'agreement on held-out seen pairs; the task has no unseen pair'
    if first.averaged:
        title += f'; means over seeds and {first.averaged}'
    dots = f'not all converged ({first.converged} of {first.trained} have)'
    if first.trained and not first.converged:
        dots = f'none of the {first.trained} trained members has converged'
    return f'{title}\nlines: seen pairs < {SEEN_ENOUGH:g}; dots: {dots}'


def _hatch_cells(axis: Axes, is_hatched: pd.DataFrame, pattern: str) -> None:
    for y, x in np.argwhere(is_hatched.values):
        corner = (x - 0.5, y - 0.5)
        hatch = Rectangle(corner, 1, 1, fill=False, hatch=pattern, lw=0, ec='#888888')
        axis.add_patch(hatch)
