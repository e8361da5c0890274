"""The networks of a run, the kinds of their tokens, and their snapshots.

A figure's result has the dimension `member`: the networks that were trained and did
not diverge, with the coordinates gamma, seed, setting, train_loss and converged.

P2 Fig 4 shows epochs 50 and 900 of 1,000 (PAPERS 2.3). In a shorter training with
another schedule the same share may lie in the warm-up, where nothing has moved. P2's
theory is about the time before labels are learned, so by default

  early  the last snapshot before reasoning is learned at a small start: before the loss
         of its training combinations falls below half of ln V, median of the members at
         the largest gamma; where it never does, the last snapshot of all
  late   the snapshot nearest to 90 % of training
"""

import math
from typing import Annotated

import numpy as np
import pandas as pd
import threadpoolctl
import xarray as xr

from analysis.changes.moments import find_crossings
from analysis.members.member import Member, make_untrained, member_of
from analysis.members.point import Point, name_setting
from analysis.members.selection import find_common_steps, list_usable_points
from anchorjax.errors import require
from anchorjax.storage.reader import Run
from anchorjax.tasks import MemoryReasoningConfig

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
POOLED = ('gamma', 'seed')  # every other axis is part of a member's setting
LEARNED = 0.5  # of ln V
LATE = 0.9  # of training

# One thread gives the same bits on every machine, and is faster for small matrices.
single_thread = threadpoolctl.threadpool_limits.wrap(limits=1)

# The parameter of a figure that chooses its early snapshot; None: as above.
Early = Annotated[int | None, 'snapshot; by default the last before reasoning']


def list_tokens(config: MemoryReasoningConfig) -> dict[str, np.ndarray]:
    """The tokens of each of KINDS, in increasing order."""
    memory = np.arange(*config.memory_anchors)
    reasoning = np.arange(*config.reasoning_anchors)
    return {
        'memory': memory,
        'reasoning': reasoning,
        'both': np.union1d(memory, reasoning),
        'keys': np.arange(*config.keys),
    }


def list_points(run: Run, task: str = TASK) -> list[Point]:
    """The points of the networks of a result.

    Raises:
      UserError: another task, or there is no such network.
    """
    return list_usable_points(run, (task,), f'task {task!r}')


def gather(run: Run, points: list[Point], found: list[xr.Dataset]) -> xr.Dataset:
    """What was found of each network as one result, with the coordinates above."""
    result = xr.concat(found, 'member', join='outer')
    rows = []
    for point in points:
        end = run.results.sel(run.labels(**point))
        row = {name: point[name] for name in POOLED}
        row['setting'] = name_setting(run, point, POOLED)
        row['train_loss'] = float(end.train_loss)
        row['converged'] = bool(end.converged)
        rows.append(row)
    for name, column in pd.DataFrame(rows).items():
        result.coords[name] = ('member', column.tolist())
    return result


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


def find_snapshots(run: Run, points: list[Point]) -> np.ndarray:
    """The snapshot steps after the start that all these networks have, in order."""
    steps = find_common_steps(run, points)
    return steps[steps > 0]


def read_member(run: Run, step: int, point: Point) -> Member:
    """A network at a step; at step 0 it is drawn anew, with or without a snapshot."""
    if step == 0:
        return make_untrained(member_of(run, **point))
    return member_of(run, step, **point)


def read_embeddings(run: Run, steps: np.ndarray, point: Point) -> list[np.ndarray]:
    """W_embed at some steps; at step 0 as in `read_member`."""
    found = []
    for step in steps:
        if step == 0:
            found.append(read_member(run, 0, point).matrix('W_embed'))
        else:
            found.append(run.parameter('W_embed', int(step), **point))
    return found


def find_early(
    run: Run, points: list[Point], steps: np.ndarray, wanted: int | None = None
) -> int:
    """The early one of some snapshots after the start, or the one that is asked for.

    Raises:
      UserError: no such snapshot.
    """
    if wanted is not None:
        return require_step('early', wanted, steps)
    moment = find_reasoning_moment(run, points)
    if math.isnan(moment):
        return int(steps[-1])
    return find_last_before(steps, moment)


def find_last_before(steps: np.ndarray, moment: float) -> int:
    """The last of some steps before a moment; the first of all if none is."""
    before = steps[steps < moment]
    return int(before[-1] if len(before) else steps[0])


def find_reasoning_moment(run: Run, points: list[Point]) -> float:
    """The step at which reasoning is learned at the largest gamma; NaN: never."""
    largest = max(point['gamma'] for point in points)
    threshold = LEARNED * math.log(run.experiment.task.vocab)
    loss = run.curves.probe_loss.sel(probe='reasoning_train')
    moments = []
    for point in points:
        if point['gamma'] == largest:
            loss_S1 = loss.sel(run.labels(**point)).values[:, None]
            (moment,) = find_crossings(loss.step.values, loss_S1, threshold)
            moments.append(moment)
    if np.isnan(moments).all():
        return math.nan
    return float(np.nanmedian(moments))


def find_late(run: Run, steps: np.ndarray, wanted: int | None = None) -> int:
    """The snapshot that is nearest, by ratio, to LATE, or the one that is asked for.

    Raises:
      UserError: no such snapshot.
    """
    if wanted is not None:
        return require_step('late', wanted, steps)
    distance = np.abs(np.log(steps / (LATE * run.experiment.train.num_steps)))
    return int(steps[distance.argmin()])


def require_step(name: str, step: int, steps: np.ndarray) -> int:
    """The step, if it is one of the snapshots."""
    require(step in steps, name, step, f'a snapshot step, {steps.tolist()}')
    return step
