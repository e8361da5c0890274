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

from analysis.drawing import style
from analysis.drawing.bands import draw_band, scale_steps
from analysis.members.selection import require_task
from analysis.p2 import networks
from analysis.p2.networks import list_panels
from anchorjax.errors import UserError
from anchorjax.network import Network
from anchorjax.storage.reader import Run
from anchorjax.tasks.memory_reasoning import MemoryReasoningConfig

TITLE = 'Labels by group'
PAPER = 'P2 Fig 8 right'
CAPTION = (
    'Do early answers stay among the labels of their group? Share of answers in the '
    'range of the group, and accuracy, over training.'
)
COLOURS = ('#0072B2', '#56B4E9', '#009E73', '#E69F00', '#D55E00', '#CC79A7')
UNLEARNED = 0.5  # accuracy up to which answers are early ones


def compute(run: Run) -> xr.Dataset:
    """The numbers of `measure_answers` of every network; step 0 is before training.

    A group has the labels from its `low` up to, not including, its `high`.

    Raises:
      UserError: another task, one without groups, or no trained member.
    """
    result = networks.follow_training(run, measure_answers)
    task = require_task(run.experiment.task, MemoryReasoningConfig)
    low, high = np.transpose(task.label_ranges)
    return result.assign_coords(low=('group', low), high=('group', high))


def measure_answers(member: Network) -> xr.Dataset:
    """A network's answers to memory's eval set, by `group`.

    own       share of the answers to a group that are in its range
    null      share of the answers to the widest group there; NaN of that group
    accuracy
    """
    task = require_task(member.experiment.task, MemoryReasoningConfig)
    if not task.label_ranges:
        raise UserError('task.label_ranges = (): this figure is about groups of labels')
    eval_set = member.task.eval_set_names.index('memory')
    is_asked_B = member.is_asked_PB[eval_set]
    tokens_BT = member.eval_sets.tokens_PBT[eval_set, is_asked_B]
    answer_B = member.answer(tokens_BT)
    is_right_B = answer_B == member.eval_sets.labels_PRB[eval_set, 0, is_asked_B]
    group_B = find_groups(tokens_BT, task.memory_anchors, task.anchors_per_group)
    widest = np.diff(task.label_ranges).argmax()
    rows = []
    for group, (low, high) in enumerate(task.label_ranges):
        is_in_B = (answer_B >= low) & (answer_B < high)
        own = is_in_B[group_B == group].mean()
        null = np.nan if group == widest else is_in_B[group_B == widest].mean()
        rows.append((own, null, is_right_B[group_B == group].mean()))
    table = pd.DataFrame(rows, columns=['own', 'null', 'accuracy'])
    return table.rename_axis('group').to_xarray()


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


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [2, panel]: share of answers in the own range, then accuracy.

    Dotted: answers to the widest group in the range of each other group.
    """
    for column, (title, panel) in enumerate(list_panels(result).items()):
        above, below = axes[:, column]
        for g in range(panel.sizes['group']):
            group = panel.isel(group=g)
            colour = COLOURS[g % len(COLOURS)]
            label = f'{int(group.low)} to {int(group.high) - 1}'
            draw_band(above, panel.step, group.own.values, colour, label)
            null_S = group.null.mean('member', skipna=False)
            above.plot(panel.step, null_S, ':', color=colour, lw=0.8)
            draw_band(below, panel.step, group.accuracy.values, colour, None)
        train_loss = float(panel.train_loss.mean())
        above.set_title(f'{title}, train loss {train_loss:.2g}', fontsize=7)
        for axis in (above, below):
            scale_steps(axis)
            axis.set_ylim(-0.03, 1.03)
            axis.axvline(result.early, color='#BBBBBB', lw=0.8)
        below.set_xlabel('step')
    axes[0, 0].set_ylabel('answers in the range')
    axes[1, 0].set_ylabel('accuracy')
    axes[0, 0].legend(fontsize=5)


def layout(result: xr.Dataset) -> style.Layout:
    columns = len(list_panels(result))
    return style.Layout(2, columns, 0.6 + 2.5 * columns, 4.0)
