"""Did a network learn features, or stay near its start? Its tangent kernel tells.

A lazy network moves its parameters, yet the gradients of its answers, and so its
tangent kernel, stay what they were: it is a kernel machine. Kernel distance as in Fort
et al. 2020 (arXiv 2010.15110): 0 is lazy, towards 1 the kernel was learnt. The null is
the distance of two independent untrained networks of the same gamma: a lazy network is
much nearer to its own start than that. Beside it: how far the parameters moved, and how
many neurons of the MLPs switched.

  python -m analysis lazy --run runs/phase
"""

import math
from typing import Annotated

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis import frame
from analysis.changes.distances import measure_change, measure_kernel_distance
from analysis.drawing import style
from analysis.drawing.gammas import label_gamma
from analysis.members.selection import find_row_axis, require_heldout_eval_set
from analysis.members.untrained import draw_independent, make_untrained
from anchorjax.errors import UserError
from anchorjax.limits import at_least, at_most
from anchorjax.network import Network
from anchorjax.storage.reader import Run
from anchorjax.tasks.solution import NOT_CONVERGED, SOLUTIONS, name_ends

TITLE = 'Distance from the initialization'
PAPER = 'P1 Sec 5'
CAPTION = (
    'The panels show how far training moves a network from its start: its weights, '
    'which neurons are active, and its tangent kernel (how a step on one example '
    'changes the answers to others). Near 0 the network would hardly have learned '
    'features.'
)
_OTHER_START = 1_000_003  # added to a seed: an initialization that no member has
PANELS = {
    'kernel': 'distance of tangent kernels',
    'movement': 'relative movement of parameters',
    'pattern': 'share of neurons switched',
}
_MARKERS = 'osD^v'  # one per row
_LOOKS = {name: {'color': style.COLOURS[name], 'mew': 0} for name in SOLUTIONS}
_LOOKS[NOT_CONVERGED] = {'color': 'black', 'mew': 0.6, 'mfc': 'none'}


def compute(
    run: Run,
    number: Annotated[
        int, at_least(2), at_most(10_000), 'sequences to compare kernels on'
    ] = 48,
    start: Annotated[
        int, at_least(0), 'compare with the first snapshot from this step on'
    ] = 0,
) -> pd.DataFrame:
    """Compares every member with its own start, on `number` sequences of its eval sets.

    Args:
      start: compare with the first snapshot from this step on. At a very small
        initialization the kernel of step 0 shows only which sequences share an answer;
        a later start shows more.

    Returns:
      A row per member that is trained and has two snapshots: its labels along the axes,
      `solution` and whether it has converged; the steps that are compared, `start` (0,
      or the first snapshot) and `end`; `kernel`, the distance of the tangent kernels,
      in [0, 1]; `null`, the same of two independent untrained networks of its gamma
      (NaN if all members start from the same weights);
      `pattern`, the share of neurons x positions x sequences that switched; `movement`,
      |theta_T - theta_0| / |theta_0|, and `movement_NAME` of the parameters of one name
      (NaN if absent or zero at the start). In all rows `row_name`, the axis that
      markers tell apart, and the `width`.

    Raises:
      UserError: no member has two snapshots, or the task has no held-out seen pairs.
    """
    require_heldout_eval_set(run)
    usable = frame.list_usable(run)
    nulls = {}  # members of one model, task, gamma and seed share it
    rows = {}
    for place, member in frame.open_networks(run, usable, 'lazy'):
        steps = [step for step in run.steps(**member.point) if step >= start]
        if len(steps) < 2:
            continue
        first = run.network(steps[0], **member.point)
        config, point = member.experiment, member.point
        start_of = (config.model, config.task, point['gamma'], point['seed'])
        if start_of not in nulls:
            nulls[start_of] = _measure_null(member, number)
        rows[place] = {
            'start': first.step,
            'end': member.step,
            'null': nulls[start_of],
            **measure_change(first, member, number),
        }
    if not rows:
        raise UserError(f'lazy: no trained member has two snapshots from {start} on')
    axes = list(run.experiment.axes)
    # A task without an unseen pair has no column of solutions.
    members = usable[[*axes, 'converged']].assign(solution=name_ends(usable))
    members = members.join(pd.DataFrame.from_dict(rows, 'index'), how='inner')
    return frame.add_width(run, members).assign(row_name=find_row_axis(axes))


def _measure_null(member: Network, number: int) -> float:
    """The distance of two independent untrained networks, one of them the member's.

    NaN where all members start from the same weights: no two are independent.
    """
    other = draw_independent(member, (member.point['seed'] + _OTHER_START) % 2**31)
    if other is None:
        return math.nan
    return measure_kernel_distance(make_untrained(member), other, number)


def draw(members: pd.DataFrame, axes: np.ndarray) -> None:
    """Fills axes [1, 3]: kernel distance, movement and switched neurons over gamma."""
    width, *others = members.width.unique()
    for axis, (column, title) in zip(axes[0], PANELS.items(), strict=True):
        _draw_members(axis, members, column)
        axis.set(title=title, ylim=(0, None if column == 'movement' else 1))
        label_gamma(axis, np.nan if others else width)
    null = members.groupby('gamma').null.agg(['mean', 'min', 'max'])
    first = axes[0, 0]
    first.fill_between(
        null.index, null['min'], null['max'], color='black', alpha=0.15, lw=0
    )
    if null['mean'].notna().any():
        label = 'two untrained networks'
        first.plot(null.index, null['mean'], 'k--', marker='_', lw=0.8, label=label)
    _draw_legend(first, members)


layout = style.Layout(1, 3, 7.0, 3.0)


def _draw_members(axis: Axes, members: pd.DataFrame, column: str) -> None:
    """One marker a member: colour by solution, shape by row, rows side by side."""
    rows = list(members.groupby(members.row_name.iloc[0]))
    spacing = 0.02 * np.ptp(members.gamma)
    for i, (_, of_row) in enumerate(rows):
        shift = spacing * (i - (len(rows) - 1) / 2)
        for solution, here in of_row.groupby('solution'):
            look = {'marker': _MARKERS[i % 5], 'ms': 4, 'alpha': 0.8}
            axis.plot(
                here.gamma + shift, here[column], ls='', **look, **_LOOKS[solution]
            )


def _draw_legend(axis: Axes, members: pd.DataFrame) -> None:
    """Below all panels: colours, markers, and from which step on the change counts."""
    for name, look in _LOOKS.items():
        if name in set(members.solution):
            axis.plot([], [], 'o', ms=4, label=name, **look)
    row_name = members.row_name.iloc[0]
    for i, row in enumerate(sorted(members[row_name].unique())):
        marker = _MARKERS[i % 5]
        label = f'{row_name.replace("_", " ")} {row}'
        axis.plot([], [], marker, ms=4, color='black', mfc='none', label=label)
    first, last = members.start.min(), members.start.max()
    start = f'{first:,}' if first == last else f'{first:,}-{last:,}'
    converged = members.converged.sum()
    counts = f'{len(members)} members, {converged} converged (others hollow)'
    title = f'{counts}, from step {start} to {members.end.max():,}'
    axis.figure.legend(
        loc='outside lower center', ncols=6, title=title, title_fontsize=7
    )
