"""The snapshots of a sweep: which steps are early and late, and the embedding there."""

import numpy as np

from analysis.members.point import Point
from anchorjax.errors import UserError, require
from anchorjax.storage.reader import Run

# P2 Fig 4 shows epochs 50 and 900 of 1,000 (PAPERS 2.3): the same shares of training.
EARLY = 0.05
LATE = 0.9


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


def choose_step(steps_S: np.ndarray, num_steps: int, share: float) -> int:
    """The snapshot after the start that is nearest to a share of training, by ratio."""
    later = steps_S[steps_S > 0]
    if len(later) == 0:
        return int(steps_S[-1])
    distance = np.abs(np.log(later / (share * num_steps)))
    return int(later[distance.argmin()])


def find_step(
    run: Run, steps_S: np.ndarray, step: int | None, share: float, name: str
) -> int:
    """The step that is asked for, or the one nearest to a share of training.

    Raises:
      UserError: no such snapshot.
    """
    if step is None:
        return choose_step(steps_S, run.experiment.train.num_steps, share)
    require(step in steps_S, name, step, f'a snapshot step, {steps_S.tolist()}')
    return step
