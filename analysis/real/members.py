"""The members of a sweep of a real task, and when each of them has converged.

A member has converged when the loss that decides (analysis/members/convergence.py) is
at most `train.converged_loss` at the end, and its moment is the step at which this loss
first falls below it.
"""

from typing import NamedTuple

import numpy as np

from analysis.changes.moments import find_crossings
from analysis.members.convergence import read_deciding_loss
from analysis.members.point import Point, name_setting
from analysis.members.selection import list_usable_points
from anchorjax.storage.reader import Run

# The probe on which each task is about generalization.
TESTED = {
    'addition': 'test',
    'cogs': 'gen',
    'prontoqa': 'seen_heldout',
    'scan': 'test',
}
POOLED = ('num_examples', 'gamma', 'weight_decay', 'seed')
_COLUMNS = ('size', 'gamma', 'weight_decay', 'seed', 'setting')

# size (training examples), gamma, weight_decay, seed, setting, train_loss, converged
# and moment (step; NaN: never) of members, [M] each.
Table = dict[str, np.ndarray]


class Convergence(NamedTuple):
    """Of members, [M] each."""

    converged: np.ndarray
    moment: np.ndarray  # step; NaN: never


def list_points(run: Run) -> list[Point]:
    """The points of the members that are trained and did not diverge.

    Raises:
      UserError: another task, or there is no such member.
    """
    return list_usable_points(run, TESTED, f'tasks {", ".join(TESTED)}')


def tabulate_members(run: Run, points: list[Point]) -> Table:
    """The table of these members."""
    rows = []
    train_losses = []
    for point in points:
        experiment = run.experiment_of(**point)
        size = experiment.task.make().num_train
        setting = name_setting(run, point, POOLED)
        rows.append(
            (size, point['gamma'], point['weight_decay'], point['seed'], setting)
        )
        member = run.results.sel(run.labels(**point))
        train_losses.append(float(member.train_loss.item()))
    members = {}
    for name, column in zip(_COLUMNS, zip(*rows, strict=True), strict=True):
        members[name] = np.array(column)
    members['train_loss'] = np.array(train_losses)
    members.update(find_convergence(run, points)._asdict())
    return members


def find_convergence(run: Run, points: list[Point]) -> Convergence:
    """Whether and when these members have converged; see the top of this file."""
    threshold = run.experiment.train.converged_loss
    losses = []
    for point in points:
        curves = run.curves.sel(run.labels(**point))
        loss = read_deciding_loss(curves, run.experiment)
        losses.append(loss.values.reshape(-1))
    loss_SM = np.array(losses).T
    moment = find_crossings(run.curves.step.values, loss_SM, threshold)
    return Convergence(loss_SM[-1] <= threshold, moment)
