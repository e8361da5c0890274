"""The phase diagram: how networks answer the unseen pair, over γ and depth.

P1 Fig 2 (a, b). Of several learning rates P1 counts the best, for each seed and each of
the two answers: a network that composes and one that answers symmetrically may then
stand in one cell. `--rates=mean` takes the mean of all rates instead. All networks
count at the last step that did not diverge, converged or not, as in claims.

What makes a cell less sure is at its edges: hatched above, where the networks whose
answers count know less than 0.9 of the held-out questions (P1's shadow zone); below,
how many have converged, where not all have. A task without an unseen pair shows the
held-out questions alone.

  python -m analysis phase --run runs/phase
"""

from typing import Annotated, Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from analysis.drawing import style
from analysis.drawing.gammas import label_gamma_cells
from analysis.members.columns import list_axes, list_static_axes, list_varying_axes
from anchorjax.errors import UserError
from anchorjax.tasks.solution import SEEN_ENOUGH, UNSEEN_MAPPINGS

TITLE = 'Phase diagram'
PAPER = 'P1 Fig 2 (a, b)'
CAPTION = (
    'How networks answer the unseen pair: (a) the share of answers as for the reversed '
    'pair (symmetric), (b) the share that compose both functions, in the mean of the '
    'networks of a cell. Hatched above: the same networks know less than 0.9 of the '
    'held-out questions. Below: how many have converged, where not all have.'
)
CELL = ['row', 'gamma']
HELD_OUT = 'seen_heldout_assigned'
SCORES = {
    HELD_OUT: 'held_out',
    'unseen_composed': 'composed',
    'unseen_symmetric': 'symmetric',
}
PANELS = {'symmetric': '(a) symmetric', 'composed': '(b) composed'}
EDGE = 0.13  # the height of the hatched strip, in cells


def compute(
    members: pd.DataFrame,
    rates: Annotated[Literal['best', 'mean'], 'of several learning rates'] = 'best',
) -> pd.DataFrame:
    """A row per cell of the diagram; NaN where nothing is trained.

    A `row` is a combination of the values of all static axes, `row_name`; without any
    it is a weight decay. Other axes are `averaged` like seeds: select first to see one
    value.

    Returns:
      `composed` and `symmetric` (if there is an unseen pair) and `held_out`: means
      of shares of answers; `known_composed` and so on: held-out questions of the
      networks that gave these shares, of the same rates; `trained` and `converged`:
      numbers of networks.

    Raises:
      UserError: the task has no held-out eval set, or `answers` shows all that the
        sweep has.
    """
    if HELD_OUT not in members:
        raise UserError(
            'phase: needs an eval set seen_heldout with the mapping assigned'
        )
    row_axes = list_static_axes(members) or ['weight_decay']
    rows = members[row_axes].astype(str).agg(', '.join, axis=1)
    varies = rows.nunique() > 1 or members.learning_rate.nunique() > 1
    if set(SCORES) <= set(members) and not varies:
        raise UserError('phase: needs a second axis, as the depth; see `answers`')
    members = members.rename(columns=SCORES).assign(row=rows)
    scores = [name for name in SCORES.values() if name in members]
    members[scores] = members[scores].where(members.diverged < 0)
    axes = [axis for axis in list_axes(members) if axis != 'learning_rate']
    cells = members.groupby(CELL, sort=False)[['trained', 'converged']].sum()
    for score in scores:
        known = f'known_{score}'
        networks = members[['row', *axes, score]].assign(**{known: members.held_out})
        by_seed = ['row', *axes]
        if rates == 'best':
            networks = networks.sort_values([score, known], na_position='first')
            of_seed = networks.groupby(by_seed).tail(1)
        else:
            of_seed = networks.groupby(by_seed)[[score, known]].mean().reset_index()
        means = of_seed.groupby([*CELL, 'seed'])[[score, known]].mean()
        cells = cells.join(means.groupby(CELL).mean())
    cells = cells.reset_index()

    averaged = []
    for axis in list_varying_axes(members):
        if axis not in ('gamma', 'learning_rate', *row_axes):
            averaged.append(axis.replace('_', ' '))
    widths = members.width.unique()
    return cells.assign(
        row_name=', '.join(row_axes),
        rates=rates,
        num_rates=members.learning_rate.nunique(),
        averaged=' and '.join(averaged),
        width=widths[0] if len(widths) == 1 else np.nan,
    )


def draw(cells: pd.DataFrame, axes: np.ndarray) -> None:
    """Fills axes [1, panels]; γ across, rows upwards."""
    first = cells.iloc[0]
    trained, converged = _arrange(cells, 'trained'), _arrange(cells, 'converged')
    for axis, (answer, title) in zip(axes[0], _list_panels(cells).items(), strict=True):
        values = _arrange(cells, answer)
        colours = style.MAPS.get(answer, 'Greys')
        style.draw_heatmap(axis, values, colours, (0, 1), size=8)
        axis.invert_yaxis()
        label_gamma_cells(axis, values.columns.to_numpy(), first.width)
        axis.set_title(title)
        for border in range(1, len(values)):
            axis.axhline(border - 0.5, color='white', lw=1.5)
        _mark_unsure(axis, _arrange(cells, f'known_{answer}') < SEEN_ENOUGH)
        _count_converged(axis, trained, converged)
    axes[0, 0].set_ylabel(first.row_name.replace('_', ' '))
    axes[0, 0].figure.suptitle(_explain(cells))


def layout(cells: pd.DataFrame) -> style.Layout:
    panels = len(_list_panels(cells))
    width = 0.7 + panels * max(1.6, 0.55 * cells.gamma.nunique())
    return style.Layout(1, panels, width, 1.5 + 0.45 * cells['row'].nunique())


def _list_panels(cells: pd.DataFrame) -> dict[str, str]:
    """The columns that are drawn, each with its title."""
    if set(UNSEEN_MAPPINGS) <= set(cells):
        return PANELS
    return {'held_out': 'held-out questions'}


def _arrange(cells: pd.DataFrame, column: str) -> pd.DataFrame:
    """One number as the diagram shows it: rows upwards, gammas across."""
    return cells.set_index(CELL)[column].unstack(sort=False)


def _explain(cells: pd.DataFrame) -> str:
    first = cells.iloc[0]
    means = ['seeds', first.averaged] if first.averaged else ['seeds']
    if first.num_rates > 1 and first.rates == 'mean':
        means.append(f'{first.num_rates} learning rates')
    words = f'share of answers to the unseen pair, means over {" and ".join(means)}'
    if 'held_out' in _list_panels(cells):
        words = f'share of right answers, means over {" and ".join(means)}'
    if first.num_rates > 1 and first.rates == 'best':
        words += f'\nof each seed the best of {first.num_rates} rates, as P1 counts'
    count = f'{cells.converged.sum()} of {cells.trained.sum()} networks have converged'
    return (
        f'{words}\n{count}; hatched: they know < {SEEN_ENOUGH:g} of held-out questions'
    )


def _mark_unsure(axis: Axes, is_unsure: pd.DataFrame) -> None:
    """A hatched strip along the upper edge of these cells."""
    for y, x in np.argwhere(is_unsure.values):
        corner = (x - 0.5, y + 0.5 - EDGE)
        look = {'fc': 'white', 'ec': '#666666', 'lw': 0, 'hatch': '//////'}
        axis.add_patch(Rectangle(corner, 1, EDGE, **look))


def _count_converged(
    axis: Axes, trained: pd.DataFrame, converged: pd.DataFrame
) -> None:
    """'5 of 6' at the lower edge of the cells in which not all have converged."""
    for y, x in np.argwhere((converged < trained).values):
        words = f'{converged.iat[y, x]:.0f} of {trained.iat[y, x]:.0f}'
        box = {'fc': 'white', 'ec': 'none', 'pad': 0.8}
        look = {'ha': 'center', 'va': 'bottom', 'fontsize': 5, 'bbox': box}
        axis.text(x, y - 0.44, words, **look)
