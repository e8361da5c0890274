"""What a sweep of a real task says about a claim.

Large and small initialization are the smallest and the largest gamma of a run, weak and
strong decay its smallest and largest. Intervals are Student's t over seeds, of 95 %,
differences are taken seed by seed.
"""

import numpy as np

from analysis.members.statistics import Mean, mean_interval
from analysis.old_claims.borders import estimate, format_mean, judge, negate
from analysis.old_claims.reading import Reading, undecided
from analysis.old_claims.verdicts import UNDECIDED
from analysis.real.corners import find_contrast, find_corner
from analysis.real.readings.seeds import (
    SAME,
    Place,
    Seeds,
    decide,
    judge_difference,
    pair_values,
    select_seeds,
)
from analysis.real.result import Result

SOLVED = 0.9  # exact match of a task that is answered
UNSOLVED = 0.1  # of one that is not
LARGE_WEAK, SMALL_STRONG = (0, 0), (1, 1)  # corners, see corners.CONTRASTS


def read_solved(
    result: Result, place: Place, probe: str, corner: tuple[int, int]
) -> Reading:
    """The corner answers the probe.

    holds          the interval is above SOLVED
    opposite       it is below UNSOLVED
    does not hold  it is between
    """
    seeds, values = _select_values(result, place, probe, corner)
    found = estimate(values)
    return decide(
        [seeds],
        judge(found, SOLVED, opposite=UNSOLVED),
        number=f'exact match {format_mean(found)}',
        null=describe_null(result, place, probe),
        values=values,
    )


def read_unsolved(
    result: Result, place: Place, probe: str, corner: tuple[int, int]
) -> Reading:
    """The corner does not answer the probe: as `read_solved`, the other way round."""
    seeds, values = _select_values(result, place, probe, corner)
    found = estimate(values)
    return decide(
        [seeds],
        judge(negate(found), -UNSOLVED, opposite=-SOLVED),
        number=f'exact match {format_mean(found)}',
        null=describe_null(result, place, probe),
        values=values,
    )


def read_effect(result: Result, place: Place, probe: str, contrast: str) -> Reading:
    """The upper corner of a contrast answers more of the probe than the lower one.

    By `judge_difference`; undecided where neither answers more than SAME of it.
    """
    moved = find_contrast(result.members, contrast)
    if moved is None:
        return undecided('gamma or decay has one value only', null='difference 0')
    lower = select_seeds(result.members, place, moved.lower)
    upper = select_seeds(result.members, place, moved.upper)
    agreement_M = take_probe(result, probe)
    at_lower, at_upper = pair_values(lower, agreement_M, upper, agreement_M)
    null = f'difference 0; {describe_null(result, place, probe)}'
    return _compare([lower, upper], at_lower, at_upper, '', null)


def read_growth(
    result: Result, place: Place, probe: str, corner: tuple[int, int]
) -> Reading:
    """More is answered with the largest training set than with the smallest.

    Decided as `read_effect`.
    """
    sizes = list_sizes(result, place)
    if len(sizes) < 2:
        return undecided('one size only', null='difference 0')
    least, most = sizes[0], sizes[-1]
    at = find_corner(result.members, *corner)
    few = select_seeds(result.members, Place(place.setting, least), at)
    many = select_seeds(result.members, Place(place.setting, most), at)
    agreement_M = take_probe(result, probe)
    of_few, of_many = pair_values(few, agreement_M, many, agreement_M)
    sizes_compared = f'{least:,} to {most:,} examples: '
    return _compare([few, many], of_few, of_many, sizes_compared, 'difference 0')


def _compare(
    groups: list[Seeds], first: np.ndarray, second: np.ndarray, where: str, null: str
) -> Reading:
    """Whether the second shares, paired by seed with the first, are larger."""
    difference = second - first
    found = mean_interval(difference)
    verdict = judge_difference(found)
    why = 'the interval covers its border'
    if len(difference) and max(first.mean(), second.mean()) < SAME:
        verdict = UNDECIDED
        why = f'neither answers more than {SAME:g}'
    return decide(
        groups,
        verdict,
        number=f'{where}{format_pair(first, second)}: {format_signed(found)}',
        null=null,
        values=difference,
        why=why,
    )


def describe_null(result: Result, place: Place, probe: str) -> str:
    """'table 0.00, constant 0.01': what the baselines score here."""
    if probe not in result.probe:
        return ''
    members = result.members
    is_here_M = members['size'] == place.size
    is_here_M &= members['setting'] == place.setting
    p = result.probe.tolist().index(probe)
    score_KM = result.baseline_KMP[:, is_here_M, p]
    parts = []
    for name, score_M in zip(result.baseline, score_KM, strict=True):
        if len(score_M) and np.isfinite(score_M).all():
            parts.append(f'{name} {score_M.mean():.2f}')
    return ', '.join(parts)


def take_probe(result: Result, probe: str) -> np.ndarray:
    """The exact match on a probe, [M]; NaN where the task has no such probe."""
    if probe not in result.probe:
        return np.full(len(result.agreement_MP), np.nan)
    return result.agreement_MP[:, result.probe.tolist().index(probe)]


def _select_values(
    result: Result, place: Place, probe: str, corner: tuple[int, int]
) -> tuple[Seeds, np.ndarray]:
    at = find_corner(result.members, *corner)
    seeds = select_seeds(result.members, place, at)
    agreement_M = take_probe(result, probe)
    return seeds, agreement_M[seeds.index]


def format_pair(first: np.ndarray, second: np.ndarray) -> str:
    """'0.01 against 0.99'; '– against –' without seeds that both have."""
    if len(first) == 0:
        return '– against –'
    return f'{first.mean():.2f} against {second.mean():.2f}'


def format_signed(found: Mean) -> str:
    """'+0.98 [0.95, 1.01]'."""
    return f'{"+" if found.mean > 0 else ""}{format_mean(found)}'


def list_sizes(result: Result, place: Place) -> list[int]:
    """The sizes at which the setting has members, in order."""
    is_here_M = result.members['setting'] == place.setting
    return np.unique(result.members['size'][is_here_M]).tolist()
