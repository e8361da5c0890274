"""The networks of a run, the kinds of their tokens, and their snapshots.

A figure's result has the dimension `member`: the networks that were trained and did
not diverge, with the coordinates gamma, seed, setting, train_loss and converged.

P2 Fig 4 shows epochs 50 and 900 of 1,000 (PAPERS 2.3). In a shorter training with
another schedule the same share may lie in the warm-up, where nothing has moved. P2's
theory is about the time before labels are learned, so here

  early  the last snapshot before reasoning is learned at a small start: before the loss
         of its training combinations falls below half of ln V, median of those members
         at the largest gamma, of any setting, that learn it; where none does, the last
         snapshot of all
  late   the snapshot nearest to 90 % of training
"""

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from analysis import frame
from analysis.changes.crossings import find_crossings
from analysis.members.selection import find_common_steps, require_task
from analysis.members.untrained import make_untrained
from anchorjax.network import Network
from anchorjax.storage.reader import Run
from anchorjax.tasks import TaskConfig
from anchorjax.tasks.memory_reasoning import MemoryReasoningConfig

TASK = 'memory_reasoning'
# 'both' is all anchors, to see whether the kinds differ from each other.
KINDS = ('memory', 'reasoning', 'both', 'keys')
SINGLE_KINDS = ('memory', 'reasoning', 'keys')
COLOURS = {
    'memory': '#0072B2',
    'reasoning': '#009E73',
    'both': '#777777',
    'keys': '#E69F00',
}
LEARNED = 0.5  # of ln V
LATE = 0.9  # of training


def list_tokens(config: TaskConfig) -> dict[str, np.ndarray]:
    """The tokens of each of KINDS, in increasing order; UserError: of another task."""
    config = require_task(config, MemoryReasoningConfig)
    memory = np.arange(*config.memory_anchors)
    reasoning = np.arange(*config.reasoning_anchors)
    return {
        'memory': memory,
        'reasoning': reasoning,
        'both': np.union1d(memory, reasoning),
        'keys': np.arange(*config.keys),
    }


def follow_training(run: Run, measure: Callable[[Network], xr.Dataset]) -> xr.Dataset:
    """`follow` of every network of P2's task; step 0 is before training.

    The attributes early and late are two of the steps, see above.

    Raises:
      UserError: another task, or no trained member.
    """
    members = frame.list_usable(run, TASK)
    snapshots, ends = choose_snapshots(run, members)
    return follow(run, members, [0, *snapshots], measure).assign_attrs(ends)


def choose_snapshots(
    run: Run, members: pd.DataFrame
) -> tuple[list[int], dict[str, int]]:
    """(the snapshots after the start that these networks have, early and late)."""
    snapshots = find_snapshots(run, members)
    moment = find_reasoning_crossing(run, members)
    early = find_last_before(snapshots, moment)
    return snapshots, {'early': early, 'late': find_late(run, snapshots)}


def follow(
    run: Run,
    members: pd.DataFrame,
    steps: Sequence[int],
    measure: Callable[[Network], xr.Dataset],
) -> xr.Dataset:
    """What `measure` finds of every network at every step, [member, step, ...].

    Args:
      members: rows of `frame.list_usable`.
      steps: snapshots, and 0: before training.
    """
    found = []
    for path in open_paths(run, members, steps):
        of_steps = [measure(member) for member in path]
        found.append(xr.concat(of_steps, pd.Index(steps, name='step')))
    return gather(run, members, found)


def open_paths(
    run: Run, members: pd.DataFrame, steps: Sequence[int]
) -> Iterator[list[Network]]:
    """Every network at some steps; at step 0 it is drawn anew, snapshot or not.

    Args:
      members: rows of `frame.list_usable`.
    """
    for _, last in frame.open_networks(run, members, run.experiment.name):
        path = []
        for step in steps:
            if step == 0:
                path.append(make_untrained(last))
            else:
                path.append(run.network(step, **last.point))
        yield path


def read_curves(run: Run, members: pd.DataFrame) -> xr.Dataset:
    """The losses and agreements of every network, [member, step, eval set, ...]."""
    curves = run.curves[['eval_set_loss', 'agreement']]
    curves = frame.select_members(run, members, curves)
    labelled = label_members(run, members, curves)
    return labelled.transpose('member', 'step', 'eval_set', ...)


def time_to_threshold(loss: xr.DataArray, threshold: float) -> xr.DataArray:
    """The step at which each loss [member, step, kind] falls below a threshold.

    [member, kind]; NaN: never.
    """
    moments = []
    for loss_SX in loss.values:
        moments.append(find_crossings(loss.step.values, loss_SX, threshold))
    return loss.isel(step=0, drop=True).copy(data=np.array(moments))


def average_training(curve: xr.DataArray) -> xr.DataArray:
    """The mean of a curve [..., step] over the steps from its first record to its last.

    That of the records is another number: there are more of them where snapshots are.
    NaN with a single record.
    """
    return curve.integrate('step') / (curve.step[-1] - curve.step[0])


def gather(run: Run, members: pd.DataFrame, found: list[xr.Dataset]) -> xr.Dataset:
    """What was found of each network as one result, with the coordinates above."""
    return label_members(run, members, xr.concat(found, 'member', join='outer'))


def label_members(run: Run, members: pd.DataFrame, result: xr.Dataset) -> xr.Dataset:
    """The result with the coordinates above."""
    table = members.assign(setting=frame.name_settings(run, members, ('gamma', 'seed')))
    names = ('gamma', 'seed', 'setting', 'train_loss', 'converged')
    return result.assign_coords(
        {name: ('member', table[name].tolist()) for name in names}
    )


def list_panels(result: xr.Dataset) -> dict[str, xr.Dataset]:
    """The networks that differ in their seed alone, by title: 'γ 0.8, seq_len=3'."""
    panels = {}
    for setting in dict.fromkeys(result.setting.values.tolist()):
        for gamma in np.unique(result.gamma):
            is_here_M = (result.setting == setting) & (result.gamma == gamma)
            if is_here_M.any():
                title = f'γ {gamma:g}, {setting}'.removesuffix(', ')
                panels[title] = result.isel(member=np.flatnonzero(is_here_M))
    return panels


def find_snapshots(run: Run, members: pd.DataFrame) -> list[int]:
    """The snapshot steps after the start that all these networks have, in order."""
    steps = find_common_steps(run, frame.find_points(run, members))
    return steps[steps > 0].tolist()


def find_last_before(steps: list[int], moment: float) -> int:
    """The last of some steps before a moment; the first of all if none is.

    Args:
      moment: NaN: it never comes, so that the last of all is before it.
    """
    if math.isnan(moment):
        return steps[-1]
    before = [step for step in steps if step < moment]
    return before[-1] if before else steps[0]


def find_reasoning_crossing(run: Run, members: pd.DataFrame) -> float:
    """The step at which reasoning is learned at the largest gamma; NaN: never.

    The median of the members that learn it.
    """
    largest = members[members.gamma == members.gamma.max()]
    loss = read_curves(run, largest).eval_set_loss.sel(eval_set=['reasoning_train'])
    moments = time_to_threshold(loss, LEARNED * math.log(run.experiment.task.vocab))
    return float(moments.median())


def find_late(run: Run, steps: list[int]) -> int:
    """The snapshot that is nearest, by ratio, to LATE."""
    distance = np.abs(np.log(np.divide(steps, LATE * run.experiment.train.num_steps)))
    return steps[distance.argmin()]
