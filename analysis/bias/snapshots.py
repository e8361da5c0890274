"""The snapshots of a sweep: which of them are early, and which late.

P2 Fig 4 shows epochs 50 and 900 of 1,000 (PAPERS 2.3). Of a shorter training with
another schedule a twentieth may lie in its warm-up, where nothing has moved. P2's
theory is about the time before labels are learned, so by default

  early  the last snapshot before reasoning is learned at a small start: before the loss
         of its training combinations falls below half of ln V, median of the members at
         the largest gamma; where it never does, the last snapshot of all
  late   the snapshot nearest to 90 % of training
"""

import math

import numpy as np

from analysis.changes.moments import find_crossings
from analysis.members.point import Point
from anchorjax.errors import UserError, require
from anchorjax.storage.reader import Run

LATE_SHARE = 0.9
_LEARNED = 0.5  # of ln V


def find_common_steps(run: Run, points: list[Point]) -> np.ndarray:
    """The snapshot steps that all these members have, in order.

    Raises:
      UserError: there is none.
    """
    common: set[int] = set(run.steps(**points[0]))
    for point in points[1:]:
        common &= set(run.steps(**point))
    if not common:
        raise UserError(f'{run.folder.workdir}: its members share no snapshot step')
    return np.array(sorted(common))


def find_early(
    run: Run, points: list[Point], steps_S: np.ndarray, step: int | None = None
) -> int:
    """The early one of some snapshots, or the one that is asked for.

    Raises:
      UserError: no such snapshot.
    """
    if step is not None:
        return _require_step('early', step, steps_S)
    moment = find_reasoning_moment(run, points)
    later = steps_S[steps_S > 0]
    before = later[later < moment]
    if math.isnan(moment) or len(later) == 0:
        return int(steps_S[-1])
    return int(before[-1] if len(before) else later[0])


def find_late(run: Run, steps_S: np.ndarray, step: int | None = None) -> int:
    """The late one of some snapshots, or the one that is asked for.

    Raises:
      UserError: no such snapshot.
    """
    if step is not None:
        return _require_step('late', step, steps_S)
    return choose_step(steps_S, run.experiment.train.num_steps, LATE_SHARE)


def find_reasoning_moment(run: Run, points: list[Point]) -> float:
    """The step at which reasoning is learned at the largest gamma; NaN: never."""
    largest = max(point['gamma'] for point in points)
    threshold = _LEARNED * math.log(run.experiment.task.vocab)
    loss = run.curves.probe_loss.sel(probe='reasoning_train')
    moments = []
    for point in points:
        if point['gamma'] == largest:
            loss_S1 = loss.sel(run.labels(**point)).values[:, None]
            moments += find_crossings(loss.step.values, loss_S1, threshold).tolist()
    known = [moment for moment in moments if math.isfinite(moment)]
    return float(np.median(known)) if known else math.nan


def choose_step(steps_S: np.ndarray, num_steps: int, share: float) -> int:
    """The snapshot after the start that is nearest to a share of training, by ratio."""
    later = steps_S[steps_S > 0]
    if len(later) == 0:
        return int(steps_S[-1])
    distance = np.abs(np.log(later / (share * num_steps)))
    return int(later[distance.argmin()])


def _require_step(name: str, step: int, steps_S: np.ndarray) -> int:
    require(step in steps_S, name, step, f'a snapshot step, {steps_S.tolist()}')
    return step
