"""Do early answers stay among the labels of their group? (P2 Fig 8 right)

P2 gives groups of memory anchors their own ranges of labels, {30, ..., 29 + 20 i}, and
says that early answers never leave the range of their group. The ranges lie within each
other, so that a network that always answers 30 stays in all of them. Its null is
therefore the answers to another group: how many of those to the widest group lie in
a group's range. Fig 8 left compares two settings of one run, whose moments are in
`learning_order`.

  python -m analysis label_groups --run runs/memory_reasoning_groups
"""

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from analysis.drawing import style
from analysis.drawing.bands import draw_band, scale_steps
from analysis.members.member import Member
from analysis.members.selection import report_progress
from analysis.p2 import networks
from analysis.p2.networks import list_panels
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

TITLE = 'Labels by group'
PAPER = 'P2 Fig 8 right'
CAPTION = (
    'Do early answers stay among the labels of their group? Share of answers in the '
    'range of the group, and accuracy, over training.'
)
COLOURS = ('#0072B2', '#56B4E9', '#009E73', '#E69F00', '#D55E00', '#CC79A7')
UNLEARNED = 0.5  # accuracy up to which answers are early ones


def compute(run: Run, early: networks.Early = None) -> xr.Dataset:
    """The answers to memory's probe by group, at all steps; 0 is before training.

      share      [member, step, group, range] of a group's answers in a range
      accuracy   [member, step, group]
      low, high  [range] labels from `low` up to, not including, `high`

    Raises:
      UserError: another task, or one without groups.
    """
    points = networks.list_points(run)
    task = run.experiment.task
    if not task.label_ranges:
        raise UserError('task.label_ranges = (): this figure is about groups of labels')
    snapshots = networks.find_snapshots(run, points)
    steps = pd.Index([0, *snapshots], name='step')
    found = []
    for point in report_progress(points, 'label_groups'):
        of_steps = []
        for step in steps.tolist():
            member = networks.read_member(run, step, point)
            of_steps.append(measure_answers(member))
        found.append(xr.concat(of_steps, steps))
    low, high = np.transpose(task.label_ranges)
    result = networks.gather(run, points, found)
    result = result.assign_coords(low=('range', low), high=('range', high))
    early = networks.find_early(run, points, snapshots, early)
    return result.assign_attrs(early=early)


def measure_answers(member: Member) -> xr.Dataset:
    """Share of a group's answers in every range [group, range], accuracy [group]."""
    task = member.experiment.task
    probe = list(member.task.probe_names).index('memory')
    tokens_BT = member.probes.tokens_PBT[probe]
    label_B = member.probes.labels_PRB[probe, 0]
    answer_B = member.forward(tokens_BT).logits[:, -1].argmax(-1)
    group_B = find_groups(tokens_BT, task.memory_anchors, task.anchors_per_group)
    low, high = np.transpose(task.label_ranges)
    is_in_BR = (answer_B[:, None] >= low) & (answer_B[:, None] < high)
    shares, accuracies = [], []
    for group in range(task.num_groups):
        is_group_B = group_B == group
        shares.append(is_in_BR[is_group_B].mean(0))
        accuracies.append((answer_B == label_B)[is_group_B].mean())
    return xr.Dataset(
        {'share': (('group', 'range'), shares), 'accuracy': ('group', accuracies)}
    )


def find_groups(
    tokens_BT: np.ndarray, memory_anchors: tuple[int, int], per_group: int
) -> np.ndarray:
    """The group of the first memory anchor in every sequence, [B]."""
    first, end = memory_anchors
    is_anchor_BT = (tokens_BT >= first) & (tokens_BT < end)
    row_B = np.arange(len(tokens_BT))
    anchor_B = tokens_BT[row_B, is_anchor_BT.argmax(-1)]
    return (anchor_B - first) // per_group


def find_early_answers(result: xr.Dataset) -> xr.DataArray:
    """Whether answers are early ones, [member, step].

    From the early step to the last one before a group has an accuracy of UNLEARNED; the
    early step always is.
    """
    is_later = result.step >= result.early
    is_learned = (result.accuracy >= UNLEARNED).any('group') & is_later
    has_learned = is_learned.cumsum('step') > 0
    return (~has_learned & is_later) | (result.step == result.early)


def measure_own_range(result: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    """(lowest share of a group's early answers in its range, null), [member] each.

    The first is over all groups and early steps. The null is the mean share of the
    answers to the widest group in the ranges of the others.
    """
    is_early = find_early_answers(result)
    own, of_widest = compare_ranges(result)
    null = of_widest.drop_isel(group=find_widest(result))
    lowest = own.where(is_early).min(('step', 'group'))
    return lowest, null.where(is_early).mean(('step', 'group'))


def compare_ranges(result: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    """(answers of each group in its range, answers of the widest group there)."""
    groups = xr.DataArray(np.arange(result.sizes['group']), dims='group')
    own = result.share.isel(group=groups, range=groups)
    of_widest = result.share.isel(group=find_widest(result)).rename(range='group')
    return own, of_widest


def find_widest(result: xr.Dataset) -> int:
    """The group with the most labels."""
    return int((result.high - result.low).values.argmax())


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [2, panel]: share of answers in the own range, then accuracy.

    Dotted: answers to the widest group in the range of each other group.
    """
    for column, (title, panel) in enumerate(list_panels(result).items()):
        above, below = axes[:, column]
        own, of_widest = compare_ranges(panel)
        for group in range(panel.sizes['group']):
            colour = COLOURS[group % len(COLOURS)]
            label = f'{int(panel.low[group])} to {int(panel.high[group]) - 1}'
            draw_band(above, panel.step, own.isel(group=group).values, colour, label)
            mean_S = of_widest.isel(group=group).mean('member')
            above.plot(panel.step, mean_S, ':', color=colour, lw=0.8)
            accuracy_MS = panel.accuracy.isel(group=group).values
            draw_band(below, panel.step, accuracy_MS, colour, None)
        train_loss = float(panel.train_loss.mean())
        above.set_title(f'{title}, train loss {train_loss:.2g}', fontsize=7)
        _arrange(above, result.early)
        _arrange(below, result.early)
        below.set_xlabel('step')
    axes[0, 0].set_ylabel('answers in the range')
    axes[1, 0].set_ylabel('accuracy')
    axes[0, 0].legend(fontsize=5)


def _arrange(axis: Axes, early: int) -> None:
    scale_steps(axis)
    axis.set_ylim(-0.03, 1.03)
    axis.axvline(early, color='#BBBBBB', lw=0.8)


def layout(result: xr.Dataset) -> style.Layout:
    columns = len(list_panels(result))
    return style.Layout(2, columns, 0.6 + 2.5 * columns, 4.0)
