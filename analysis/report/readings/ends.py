"""A number of the members at both ends of a sweep of gamma.

Small gamma is a LARGE initialization. The ends are the smallest and the largest gamma
with enough converged seeds. Only settings (values of all other axes) with members at
both ends count, so that a difference is not one of depth or learning rate. Members of
one seed are averaged first: the interval is over seeds.
"""

from typing import NamedTuple

import numpy as np

from analysis.members.rows import average_by_seed
from analysis.members.statistics import MIN_SEEDS, Mean
from analysis.old_claims.borders import estimate, format_mean
from analysis.old_claims.reading import format_gamma
from analysis.old_claims.verdicts import (
    DOES_NOT_HOLD,
    HOLDS,
    OPPOSITE,
    UNDECIDED,
    Verdict,
)


class Ends(NamedTuple):
    """The mean over seeds at each end."""

    large: Mean  # initialization: the smallest gamma
    small: Mean  # initialization: the largest gamma
    large_gamma: float
    small_gamma: float
    seeds: int  # at the end with fewer
    members: int  # at both ends


def find_ends(points: dict[str, np.ndarray]) -> tuple[float, float] | str:
    """(smallest gamma, largest gamma), or why there are no two ends.

    Args:
      points: labels [M] of the converged members along every axis.
    """
    gammas = np.unique(points['gamma'])
    if len(gammas) == 0:
        return 'no converged member'
    if len(gammas) == 1:
        return 'one gamma only'
    enough = []
    for gamma in gammas:
        seeds = np.unique(points['seed'][points['gamma'] == gamma])
        if len(seeds) >= MIN_SEEDS:
            enough.append(float(gamma))
    if len(enough) < 2:
        return f'fewer than two γ with {MIN_SEEDS} converged seeds'
    large_gamma, small_gamma = enough[0], enough[-1]
    is_counted = select_ends(points, large_gamma, small_gamma)
    for gamma in (large_gamma, small_gamma):
        seeds = np.unique(points['seed'][is_counted & (points['gamma'] == gamma)])
        if len(seeds) < MIN_SEEDS:
            return f'no setting with {MIN_SEEDS} converged seeds at both ends of γ'
    return large_gamma, small_gamma


def select_ends(
    points: dict[str, np.ndarray], large_gamma: float, small_gamma: float
) -> np.ndarray:
    """Mask [M] of the members at the ends whose setting occurs at both."""
    settings_M = list_settings(points)
    at_large_M = points['gamma'] == large_gamma
    at_small_M = points['gamma'] == small_gamma
    at_both = np.intersect1d(settings_M[at_large_M], settings_M[at_small_M])
    return (at_large_M | at_small_M) & np.isin(settings_M, at_both)


def list_settings(points: dict[str, np.ndarray]) -> np.ndarray:
    """The values of all axes but gamma and the seed, as one text per member [M]."""
    settings_M = np.full(len(points['gamma']), '')
    for axis, labels_M in points.items():
        if axis not in ('gamma', 'seed'):
            parts_M = np.char.add(f' {axis}=', labels_M.astype(str))
            settings_M = np.char.add(settings_M, parts_M)
    return settings_M


def measure_ends(
    points: dict[str, np.ndarray], values_M: np.ndarray, ends: tuple[float, float]
) -> Ends:
    """A number of the members at the ends that `find_ends` found."""
    large_gamma, small_gamma = ends
    is_counted = select_ends(points, large_gamma, small_gamma)
    means = []
    seeds = []
    for gamma in ends:
        is_here = is_counted & (points['gamma'] == gamma)
        averages = average_by_seed(values_M[is_here], points['seed'][is_here])
        means.append(estimate(averages))
        seeds.append(len(averages))
    large, small = means
    members = int(is_counted.sum())
    return Ends(large, small, large_gamma, small_gamma, min(seeds), members)


def judge_ends(ends: Ends, few: float, many: float) -> Verdict:
    """Whether a number is below `few` at a small initialization and above `many` else.

    holds          so are both intervals
    opposite       both are, with the ends exchanged
    does not hold  otherwise, if the interval of an end is on the wrong side
    undecided      otherwise, or NaN
    """
    if ends.small.high < few and ends.large.low > many:
        return HOLDS
    if ends.large.high < few and ends.small.low > many:
        return OPPOSITE
    is_wrong = ends.small.low >= few or ends.large.high <= many
    return DOES_NOT_HOLD if is_wrong else UNDECIDED


def format_ends(ends: Ends, digits: int = 2) -> str:
    """'0.91 [0.88, 0.94] at γ 0.3, 0.05 [0.03, 0.07] at γ 0.9'."""
    large = f'{format_mean(ends.large, digits)} at {format_gamma(ends.large_gamma)}'
    small = f'{format_mean(ends.small, digits)} at {format_gamma(ends.small_gamma)}'
    return f'{large}, {small}'


def describe_ends(ends: Ends) -> str:
    return f'{ends.members} converged members at these γ, {ends.seeds} seeds or more'
