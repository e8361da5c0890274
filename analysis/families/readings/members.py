"""The ends of a sweep's gammas, and the members that a claim reads."""

from typing import NamedTuple

import numpy as np

from analysis.members.statistics import MIN_SEEDS
from analysis.members.table import Table
from analysis.old_claims.reading import Reading, undecided


class Ends(NamedTuple):
    """The two ends of the gammas of a sweep."""

    large: float  # initialization: the smallest gamma
    small: float


def find_ends(members: Table) -> Ends | None:
    """The smallest and the largest gamma; None if there is one only."""
    gammas = np.unique(members['gamma'])
    if len(gammas) < 2:
        return None
    return Ends(float(gammas[0]), float(gammas[-1]))


def describe_members(members: Table, is_here_M: np.ndarray) -> str:
    """'5 of 5 converged, train loss 0.01'."""
    counts = count_converged(members, is_here_M)
    loss = members['train_loss'][is_here_M].mean()
    return f'{counts} converged, train loss {loss:.2g}'


def require_converged(
    reading: Reading, members: Table, groups: dict[str, np.ndarray]
) -> Reading:
    """The reading, undecided if a group has fewer than MIN_SEEDS converged members."""
    for name, is_here_M in groups.items():
        converged = members['converged'][is_here_M].sum()
        if converged < MIN_SEEDS:
            few = f'{count_converged(members, is_here_M)} converged at {name}'
            return undecided(few, reading.number, reading.null, reading.note)
    return reading


def count_converged(members: Table, is_here_M: np.ndarray) -> str:
    """'4 of 5'."""
    converged = members['converged'][is_here_M].sum()
    return f'{converged} of {is_here_M.sum()}'
