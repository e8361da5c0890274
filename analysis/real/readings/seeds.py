"""The members that a claim about a real task reads, and the verdict on what they say.

They are those of one setting, one training-set size and one corner of gamma and decay.
Only members that have converged count; how many were left out is said.
"""

from typing import NamedTuple

import numpy as np

from analysis.members.seeds import match_seeds
from analysis.members.statistics import MIN_SEEDS, Mean
from analysis.old_claims.borders import conclude_seeds
from analysis.old_claims.reading import Reading, undecided
from analysis.old_claims.verdicts import (
    DOES_NOT_HOLD,
    HOLDS,
    OPPOSITE,
    UNDECIDED,
    Verdict,
)
from analysis.real.corners import Corner, is_at
from analysis.real.members import Table

SAME = 0.02  # accuracies that differ by less are the same
NEARLY = 1.1  # times: numbers of steps that near are the same


class Place(NamedTuple):
    """What a row of the table is about, besides its claim."""

    setting: str
    size: int  # training examples


class Seeds(NamedTuple):
    """Members that differ in their seed alone."""

    corner: Corner
    index: np.ndarray  # of the members that count, along M
    seed: np.ndarray  # of the same members
    converged: int  # of all members here
    total: int
    needs_convergence: bool


def select_seeds(
    members: Table, place: Place, corner: Corner, needs_convergence: bool = True
) -> Seeds:
    """The seeds at a place and a corner.

    All of them count if fewer than MIN_SEEDS have converged: `decide` then says so.
    """
    is_here_M = is_at(members, corner)
    is_here_M &= members['setting'] == place.setting
    is_here_M &= members['size'] == place.size
    is_counted_M = is_here_M & members['converged']
    converged = int(is_counted_M.sum())
    if not needs_convergence or converged < MIN_SEEDS:
        is_counted_M = is_here_M
    return Seeds(
        corner=corner,
        index=np.flatnonzero(is_counted_M),
        seed=members['seed'][is_counted_M],
        converged=converged,
        total=int(is_here_M.sum()),
        needs_convergence=needs_convergence,
    )


def pair_values(
    first: Seeds, first_M: np.ndarray, second: Seeds, second_M: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The values of both for the seeds that both have, in the order of the seeds.

    Args:
      first_M, second_M: values of all members; they may be of different runs.
    """
    i, j = match_seeds(first.seed, second.seed)
    at_first = first.index[i]
    at_second = second.index[j]
    return first_M[at_first], second_M[at_second]


def decide(
    groups: list[Seeds],
    verdict: Verdict,
    number: str,
    null: str,
    values: np.ndarray,
    why: str = 'the interval covers its border',
) -> Reading:
    """The Reading, undecided if too few seeds converged or a number is NaN.

    Args:
      values: the numbers behind the verdict, one per seed.
      why: the reason if the verdict is undecided although all this is in order.
    """
    note = '; '.join(describe_seeds(group) for group in groups)
    for group in groups:
        if group.needs_convergence and group.converged < MIN_SEEDS:
            few = f'fewer than {MIN_SEEDS} converged seeds'
            return undecided(few, number, null, note)
    return conclude_seeds(verdict, number, null, note, values, why)


def describe_seeds(seeds: Seeds) -> str:
    """'γ 0.7, decay 0.5: 3 of 4 converged, 1 left out'."""
    text = f'{seeds.corner.title}: {seeds.converged} of {seeds.total} converged'
    if not seeds.needs_convergence:
        return f'{text} (not required)'
    left_out = seeds.total - len(seeds.index)
    return f'{text}, {left_out} left out' if left_out else text


def judge_difference(found: Mean) -> Verdict:
    """Whether a difference of accuracies is positive.

    holds, opposite  the interval is above, below 0
    does not hold    it covers 0 and is within SAME of it
    undecided        otherwise, or NaN
    """
    return _judge(found, 0.0, -SAME, SAME)


def judge_ratio(found: Mean) -> Verdict:
    """Whether a ratio of steps is above 1, likewise; the same is within NEARLY of 1."""
    return _judge(found, 1.0, 1 / NEARLY, NEARLY)


def judge_equality(found: Mean, margin: float) -> Verdict:
    """Whether two accuracies are the same.

    holds          the interval of their difference is within the margin
    does not hold  it is below the margin
    opposite       it is above the margin
    undecided      otherwise, or NaN
    """
    if found.low > -margin and found.high < margin:
        return HOLDS
    if found.high <= -margin:
        return DOES_NOT_HOLD
    return OPPOSITE if found.low >= margin else UNDECIDED


def _judge(found: Mean, zero: float, low: float, high: float) -> Verdict:
    if found.low > zero:
        return HOLDS
    if found.high < zero:
        return OPPOSITE
    if found.low > low and found.high < high:
        return DOES_NOT_HOLD
    return UNDECIDED
