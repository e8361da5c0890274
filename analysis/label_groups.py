"""Do early answers stay among the labels of their group? (P2 Fig 8 right)

P2 gives groups of memory anchors their own ranges of labels, {30, ..., 29 + 20 i}, and
says that early answers never leave the range of their group. The ranges lie within each
other, so that a network that always answers 30 stays in all of them. Its null is
therefore the answers to another group: how many of those to the widest group lie in
a group's range. Fig 8 left compares two
settings of one run, whose moments are in `learning_order`.

  python analysis/label_groups.py --run runs/memory_reasoning_groups
"""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from analysis.bias.snapshots import find_common_steps, find_early
from analysis.bias.tokens import TASK
from analysis.drawing import command, style
from analysis.drawing.bands import draw_band, scale_steps
from analysis.members.member import Member, member_of
from analysis.members.selection import report_progress
from analysis.members.table import (
    Table,
    list_panels,
    list_points,
    tabulate_members,
)
from analysis.members.untrained import make_untrained
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

COLOURS = ('#0072B2', '#56B4E9', '#009E73', '#E69F00', '#D55E00', '#CC79A7')


class Result(NamedTuple):
    """Axes: member M, snapshot S (0 is before training), group, range."""

    members: Table
    step_S: np.ndarray
    early: int
    ranges: np.ndarray  # [group, 2] labels from the first up to, not including, the end
    share: np.ndarray  # [M, S, group, range] of a group's answers in a range
    accuracy: np.ndarray  # [M, S, group]
    chance: np.ndarray  # [range] of uniform answers over the vocabulary


def compute(run: Run, early: int | None = None) -> Result:
    """The answers to memory's probe at all snapshots, by group.

    Raises:
      UserError: another task, or one without groups.
    """
    points = list_points(run, TASK)
    task = run.experiment.task
    if not task.label_ranges:
        raise UserError('task.label_ranges = (): this figure is about groups of labels')
    ranges = np.array(task.label_ranges)
    steps = find_common_steps(run, points)
    step_S = np.union1d([0], steps)
    shares, accuracies = [], []
    for point in report_progress(points, 'label_groups'):
        last = member_of(run, int(steps[-1]), **point)
        for step in step_S:
            member = make_untrained(last)
            if step > 0:
                member = member_of(run, int(step), **point)
            share, accuracy = measure_answers(member)
            shares.append(share)
            accuracies.append(accuracy)
    shape = (len(points), len(step_S))
    share = np.array(shares)
    accuracy = np.array(accuracies)
    return Result(
        members=tabulate_members(run, points),
        step_S=step_S,
        early=find_early(run, points, steps, early),
        ranges=ranges,
        share=share.reshape(*shape, *share.shape[1:]),
        accuracy=accuracy.reshape(*shape, -1),
        chance=(ranges[:, 1] - ranges[:, 0]) / task.vocab,
    )


def measure_answers(member: Member) -> tuple[np.ndarray, np.ndarray]:
    """(share of a group's answers in every range [group, range], accuracy [group])."""
    task = member.experiment.task
    probe = list(member.task.probe_names).index('memory')
    tokens_BT = member.probes.tokens_PBT[probe]
    label_B = member.probes.labels_PRB[probe, 0]
    logits_BTV = member.forward(tokens_BT).logits
    answer_B = logits_BTV[:, -1].argmax(-1)
    group_B = find_groups(tokens_BT, task.memory_anchors, task.anchors_per_group)
    ranges = np.array(task.label_ranges)
    is_in_BR = (answer_B[:, None] >= ranges[:, 0]) & (answer_B[:, None] < ranges[:, 1])
    shares, accuracies = [], []
    for group in range(task.num_groups):
        is_group_B = group_B == group
        shares.append(is_in_BR[is_group_B].mean(0))
        accuracies.append((answer_B == label_B)[is_group_B].mean())
    return np.array(shares), np.array(accuracies)


def find_groups(
    tokens_BT: np.ndarray, memory_anchors: tuple[int, int], per_group: int
) -> np.ndarray:
    """The group of the first memory anchor in every sequence, [B]."""
    first, end = memory_anchors
    is_anchor_BT = (tokens_BT >= first) & (tokens_BT < end)
    row_B = np.arange(len(tokens_BT))
    anchor_B = tokens_BT[row_B, is_anchor_BT.argmax(-1)]
    return (anchor_B - first) // per_group


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [2, panel]: share of answers in the own range, then accuracy.

    Dotted: answers to the widest group in the range of each other group.
    """
    widest = find_widest(result)
    for column, panel in enumerate(list_panels(result.members)):
        axis = axes[0, column]
        here = panel.is_here_M
        for g, (first, end) in enumerate(result.ranges):
            colour = COLOURS[g % len(COLOURS)]
            label = f'{first} to {end - 1}'
            draw_band(axis, result.step_S, result.share[here, :, g, g], colour, label)
            others_S = result.share[here, :, widest, g].mean(0)
            axis.plot(result.step_S, others_S, ':', color=colour, lw=0.8)
            accuracy_MS = result.accuracy[here, :, g]
            draw_band(axes[1, column], result.step_S, accuracy_MS, colour, None)
        train_loss = result.members['train_loss'][here].mean()
        axis.set_title(f'{panel.title}, train loss {train_loss:.2g}', fontsize=7)
        _arrange(axis, result.early)
        _arrange(axes[1, column], result.early)
        axes[1, column].set_xlabel('step')
    axes[0, 0].set_ylabel('answers in the range')
    axes[1, 0].set_ylabel('accuracy')
    axes[0, 0].legend(fontsize=5)


def find_widest(result: Result) -> int:
    """The group with the most labels."""
    return int((result.ranges[:, 1] - result.ranges[:, 0]).argmax())


def _arrange(axis: Axes, early: int) -> None:
    scale_steps(axis)
    axis.set_ylim(-0.03, 1.03)
    axis.axvline(early, color='#BBBBBB', lw=0.8)


def layout(result: Result) -> style.Layout:
    columns = len(list_panels(result.members))
    return style.Layout(2, columns, 0.6 + 2.5 * columns, 4.0)


if __name__ == '__main__':
    command.run_sweep_figure(
        __doc__,
        'label_groups',
        compute,
        draw,
        layout,
        early=command.Flag(
            command.parse_count, None, 'snapshot; default: the last before reasoning'
        ),
    )
