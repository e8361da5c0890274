"""What the members of a sweep of a real task answer: the numbers behind the figure."""

from typing import NamedTuple

import numpy as np

from analysis.real.members import TESTED, Table


class Result(NamedTuple):
    """Members at the end of training; NaN on a probe or group that a member lacks."""

    task: str
    members: Table
    criterion: str  # of convergence
    diverged: int  # members that are left out
    last_step: int
    probe: np.ndarray  # [P] names
    agreement_MP: np.ndarray  # exact match of whole answers
    loss_MP: np.ndarray  # nats a scored token
    perplexity_MP: np.ndarray
    group: np.ndarray  # [G] names
    agreement_MPG: np.ndarray
    baseline: np.ndarray  # [K] names, see baselines.py
    baseline_KMP: np.ndarray  # exact match of each, for a member's own data

    @property
    def tested(self) -> int:
        """The probe that is about generalization."""
        return self.probe.tolist().index(TESTED[self.task])
