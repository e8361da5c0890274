"""Decay against gamma or against the rate: P3 Figs 3 and 5 C, P1 Figs 14 to 16.

Across goes gamma, or the learning rate in a sweep with one gamma; upwards the weight
decay. Every cell is the mean over seeds. Agreement with the composed mapping is read
at the last step and, as in P3, as the maximum over all records. What the numbers are,
and the phases of P3, is said in `analysis/p3/members.py`.

  python -m analysis decay_map --run runs/decay
"""

from typing import Any

import numpy as np
import pandas as pd

from analysis import frame
from analysis.drawing import style
from analysis.drawing.gammas import label_gamma_cells
from analysis.members.selection import find_column_axis
from analysis.names import name_matrix, name_values
from analysis.p1 import condensation
from analysis.p3.members import PHASES, measure_networks
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

TITLE = 'Decay, γ and rate'
PAPER = 'P3 Figs 3, 5 C; P1 Figs 14 to 16'
CAPTION = (
    'Answers to unseen pairs, and complexity, by weight decay and γ or learning rate; '
    'every cell is the mean over seeds.'
)
PANELS = {
    'seen_heldout_assigned': 'held-out',
    'unseen_composed': 'composed',
    'best_record': 'composed, best record',
    'commutativity': 'commutativity',
    'phase': 'median phase (0: 1, 1: 2a, 2: 2b, 3: 3)',
    'stable_rank': f'stable rank, {name_matrix(condensation.MATRIX)}',
    'directions': f'directions, {name_matrix(condensation.MATRIX)}',
    'order': 'order of the embedding',
}
AT_LEAST_ONE = ('stable_rank', 'directions')  # the others are shares


def compute(run: Run, **point: Any) -> pd.DataFrame:
    """A row per trained network at `point`, with the columns of PANELS and `chance`.

    Raises:
      UserError: as `frame.fix_axes`; a task without an unseen pair of two anchors, or
        no trained member.
    """
    members = frame.list_usable(run, 'anchors')
    axes = run.experiment.axes
    shown = ('weight_decay', find_column_axis(axes), 'seed')
    fixed = frame.fix_axes(run, point, shown)
    for axis, label in run.labels(**fixed).items():
        members = members[members[axis] == label]
    if not len(members):
        raise UserError('no member of this map is trained yet')
    names = [*axes, 'converged', 'train_loss', *PANELS, 'chance']
    table = members.join(measure_networks(run, members))
    networks = frame.add_width(run, table[names])
    networks.attrs['selection'] = name_values(fixed)
    return networks


def draw(networks: pd.DataFrame, axes: np.ndarray) -> None:
    """Fills axes [2, 4]; a dot marks cells of which a seed has not converged.

    There is no panel of a phase that all networks are in: the title says so.
    """
    across = _find_across(networks)
    is_open = _arrange(networks, 'converged', 'min') == 0
    panels = list(PANELS)
    seeds = networks.seed.nunique()
    words = f'means over {seeds} seeds; red: a seed has not converged'
    if networks.phase.nunique() == 1:
        panels.remove('phase')
        phase = PHASES[int(networks.phase.iloc[0])]
        words += f"; all networks are in P3's phase {phase}"
        axes.flat[-1].set_axis_off()
    for axis, column in zip(axes.flat, panels, strict=False):
        _draw_panel(axis, networks, column)
        axis.invert_yaxis()
        for y, x in np.argwhere(is_open.values):
            axis.plot(x + 0.4, y + 0.4, '.', ms=3, color='C3')
        if across == 'gamma':
            gammas = is_open.columns.to_numpy()
            label_gamma_cells(axis, gammas, networks.width.iloc[0])
        else:
            axis.set_xlabel('learning rate')
    for axis in axes[:, 0]:
        axis.set_ylabel('weight decay')
    axes[0, 0].figure.suptitle(words)


def layout(networks: pd.DataFrame) -> style.Layout:
    height = 1.3 + 0.35 * networks.weight_decay.nunique()
    return style.Layout(2, 4, 10.0, 2 * height)


def _find_across(networks: pd.DataFrame) -> str:
    """'gamma', or the learning rate if that alone varies."""
    varying = {axis: networks[axis].unique() for axis in ('gamma', 'learning_rate')}
    return find_column_axis(varying)


def _arrange(networks: pd.DataFrame, column: str, statistic: str) -> pd.DataFrame:
    """A statistic over the seeds of every cell: decays down, gammas or rates across."""
    place = ['weight_decay', _find_across(networks)]
    cells = networks.groupby(place)[column].agg(statistic)
    return cells.unstack().sort_index()


def _draw_panel(axis: style.Axes, networks: pd.DataFrame, column: str) -> None:
    """Shares in blue, from 0 to 1; numbers that are at least 1 in grey; phases."""
    title = PANELS[column]
    if column == 'phase':
        cells = _arrange(networks, column, 'median')
        style.draw_heatmap(axis, cells, 'viridis_r', (0, 3))
        axis.set_title(title, fontsize=7)
        return
    cells = _arrange(networks, column, 'mean')
    if column in AT_LEAST_ONE:
        largest = max(1.01, np.nanmax(cells.fillna(1)))
        style.draw_heatmap(axis, cells, 'Greys', (1, largest))
    else:
        style.draw_heatmap(axis, cells, 'Blues', (0, 1))
    axis.set_title(title)
