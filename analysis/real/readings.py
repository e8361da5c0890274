"""What a sweep of a real task says about a claim.

Large and small initialization are the smallest and the largest gamma of a run, weak and
strong decay its smallest and largest. Intervals are Student's t over seeds, of 95 %,
differences are taken seed by seed.
"""

import numpy as np

from analysis import free_generation
from analysis.learning_order import average_ratios
from analysis.members.statistics import Mean, mean_interval
from analysis.real.corners import Corner, find_contrast, find_corner
from analysis.real.result import Result
from analysis.real.seeds import (
    SAME,
    Place,
    Seeds,
    decide,
    describe_seeds,
    judge_difference,
    judge_equality,
    judge_ratio,
    pair_values,
    select_seeds,
)
from analysis.report.readings.borders import estimate, format_mean, judge
from analysis.report.readings.reading import Reading, undecided
from analysis.report.verdicts import (
    DOES_NOT_HOLD,
    HOLDS,
    OPPOSITE,
    UNDECIDED,
    Verdict,
)

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
    verdict = judge(found, SOLVED, opposite=UNSOLVED)
    number = f'exact match {format_mean(found)}'
    return decide([seeds], verdict, number, describe_null(result, place, probe), values)


def read_unsolved(
    result: Result, place: Place, probe: str, corner: tuple[int, int]
) -> Reading:
    """The corner does not answer the probe: as `read_solved`, the other way round."""
    seeds, values = _select_values(result, place, probe, corner)
    found = estimate(values)
    negated = Mean(-found.mean, -found.high, -found.low)
    verdict = judge(negated, -UNSOLVED, opposite=-SOLVED)
    number = f'exact match {format_mean(found)}'
    return decide([seeds], verdict, number, describe_null(result, place, probe), values)


def read_effect(result: Result, place: Place, probe: str, contrast: str) -> Reading:
    """The upper corner of a contrast answers more of the probe than the lower one.

    By `judge_difference`.
    """
    moved = find_contrast(result.members, contrast)
    if moved is None:
        return undecided('gamma or decay has one value only', null='difference 0')
    agreement_M = take_probe(result, probe)
    ends = []
    for corner in (moved.lower, moved.upper):
        seeds = select_seeds(result.members, place, corner)
        ends.append((result.members, seeds, agreement_M))
    lower, upper = pair_values(*ends)
    found = mean_interval(upper - lower)
    number = f'{_format_pair(lower, upper)}: {_format_signed(found)}'
    null = f'difference 0; {describe_null(result, place, probe)}'
    groups = [seeds for _, seeds, _ in ends]
    return decide(groups, judge_difference(found), number, null, upper - lower)


def read_steps(result: Result, place: Place, contrast: str) -> Reading:
    """The upper corner of a contrast converges in fewer steps than the lower one.

    By `judge_ratio` of the numbers of steps. The last step stands for a convergence
    that never comes, and the ratio is then a bound, which decides only if the true
    ratio would decide alike.
    """
    moved = find_contrast(result.members, contrast)
    if moved is None:
        return undecided('gamma or decay has one value only', null='ratio 1')
    ends = []
    for corner in (moved.lower, moved.upper):
        seeds = select_seeds(result.members, place, corner, needs_convergence=False)
        ends.append((result.members, seeds, result.members['moment']))
    lower, upper = pair_values(*ends)
    groups = [seeds for _, seeds, _ in ends]
    if (np.isnan(lower) & np.isnan(upper)).any():
        note = '; '.join(describe_seeds(seeds) for seeds in groups)
        return undecided(
            'a seed converges at neither corner', null='ratio 1', note=note
        )
    ratio = np.nan_to_num(lower, nan=result.last_step)
    ratio /= np.nan_to_num(upper, nan=result.last_step)
    found = average_ratios(ratio)
    number = f'{_format_steps(lower)} against {_format_steps(upper)}: ratio '
    return decide(
        groups,
        _bound(judge_ratio(found), lower, upper),
        number=number + format_mean(found),
        null='ratio 1',
        values=ratio,
        why='the interval covers its border, or a loss never falls',
    )


def read_rise_and_fall(
    result: Result, place: Place, corner: tuple[int, int]
) -> Reading:
    """Steps to converge rise with the size and fall again, at a corner.

    The size with the most steps is neither the smallest nor the largest.

    holds          there are surely more steps than at both ends, by `judge_ratio`
    opposite       there are surely fewer at all sizes between than at both ends
    does not hold  no size between has surely more than both ends, and one of the ends
                   surely has more than all between
    """
    sizes = _list_sizes(result, place)
    null = 'ratios 1'
    if len(sizes) < 3:
        return undecided('fewer than 3 sizes', null=null)
    at = find_corner(result.members, *corner)
    moments, groups = [], []
    for size in sizes:
        of_size = Place(place.setting, size)
        seeds = select_seeds(result.members, of_size, at, needs_convergence=False)
        groups.append(seeds)
        moments.append((result.members, seeds, result.members['moment']))
    verdicts, number, values = [], '', np.array([])
    for i in range(1, len(sizes) - 1):
        parts = []
        for end in (0, -1):
            middle, outer = pair_values(moments[i], moments[end])
            ratio = middle / outer
            parts.append(average_ratios(ratio))
            values = np.concatenate([values, ratio])
        verdicts.append([judge_ratio(found) for found in parts])
        ratios = ' and '.join(format_mean(found) for found in parts)
        number += f'{sizes[i]:,}: {ratios} times the ends; '
    is_peak = [pair == [HOLDS, HOLDS] for pair in verdicts]
    is_valley = [pair == [OPPOSITE, OPPOSITE] for pair in verdicts]
    is_lower = [OPPOSITE in pair or DOES_NOT_HOLD in pair for pair in verdicts]
    verdict = UNDECIDED
    if any(is_peak):
        verdict = HOLDS
    elif all(is_valley):
        verdict = OPPOSITE
    elif all(is_lower):
        verdict = DOES_NOT_HOLD
    return decide(groups, verdict, number.removesuffix('; '), null, values)


def read_growth(
    result: Result, place: Place, probe: str, corner: tuple[int, int]
) -> Reading:
    """More is answered with the largest training set than with the smallest."""
    sizes = _list_sizes(result, place)
    if len(sizes) < 2:
        return undecided('one size only', null='difference 0')
    agreement_M = take_probe(result, probe)
    at = find_corner(result.members, *corner)
    ends = []
    for size in (sizes[0], sizes[-1]):
        seeds = select_seeds(result.members, Place(place.setting, size), at)
        ends.append((result.members, seeds, agreement_M))
    smallest, largest = pair_values(*ends)
    found = mean_interval(largest - smallest)
    pair = _format_pair(smallest, largest)
    number = f'{sizes[0]:,} to {sizes[-1]:,} examples: {pair}: {_format_signed(found)}'
    groups = [seeds for _, seeds, _ in ends]
    verdict = judge_difference(found)
    return decide(groups, verdict, number, 'difference 0', largest - smallest)


def read_same_in_other(
    result: Result, other: Result, place: Place, probe: str, corner: tuple[int, int]
) -> Reading:
    """The other run answers as much of the probe as this one, by `judge_equality`."""
    return _compare_runs(result, other, place, probe, corner, is_equal=True)


def read_more_in_other(
    result: Result, other: Result, place: Place, probe: str, corner: tuple[int, int]
) -> Reading:
    """The other run answers more of the probe than this one, by `judge_difference`."""
    return _compare_runs(result, other, place, probe, corner, is_equal=False)


def _compare_runs(
    result: Result,
    other: Result,
    place: Place,
    probe: str,
    corner: tuple[int, int],
    is_equal: bool,
) -> Reading:
    ends = []
    for of_run in (result, other):
        at = find_corner(of_run.members, *corner)
        seeds = select_seeds(of_run.members, place, at)
        ends.append((of_run.members, seeds, take_probe(of_run, probe)))
    here, there = pair_values(*ends)
    found = mean_interval(there - here)
    verdict = judge_difference(found)
    null = f'difference 0; {describe_null(result, place, probe)}'
    if is_equal:
        verdict = judge_equality(found, SAME)
        null = f'difference within {SAME:g}; {describe_null(result, place, probe)}'
    number = f'{_format_pair(here, there)}: {_format_signed(found)}'
    return decide([seeds for _, seeds, _ in ends], verdict, number, null, there - here)


def read_own_proof(
    result: free_generation.Result, place: Place, corner: tuple[int, int]
) -> Reading:
    """The judgement is as good after the own proof as after the right one.

    By `judge_equality`, of two numbers of the same network.
    """
    at = find_corner(result.members, *corner)
    seeds = select_seeds(result.members, place, at)
    shares = []
    for name in ('label after right proof', 'label after own proof'):
        column = free_generation.MEASURES.index(name)
        shares.append(result.share_MK[seeds.index, column])
    right, own = shares
    found = mean_interval(own - right)
    number = f'{_format_pair(right, own)}: {_format_signed(found)}'
    null = f'difference within {SAME:g}; a coin 0.50'
    return decide([seeds], judge_equality(found, SAME), number, null, own - right)


def describe_null(result: Result, place: Place, probe: str) -> str:
    """'table 0.00, constant 0.01': what the baselines score here."""
    if probe not in result.probe:
        return ''
    is_here_M = result.members['size'] == place.size
    is_here_M &= result.members['setting'] == place.setting
    parts = []
    p = result.probe.tolist().index(probe)
    for name, score_MP in zip(result.baseline, result.baseline_KMP, strict=True):
        score_M = score_MP[is_here_M, p]
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
    at: Corner = find_corner(result.members, *corner)
    seeds = select_seeds(result.members, place, at)
    return seeds, take_probe(result, probe)[seeds.index]


def _list_sizes(result: Result, place: Place) -> list[int]:
    is_here_M = result.members['setting'] == place.setting
    return np.unique(result.members['size'][is_here_M]).tolist()


def _bound(verdict: Verdict, lower: np.ndarray, upper: np.ndarray) -> Verdict:
    """Undecided where a convergence that never comes could turn the verdict."""
    is_too_small = np.isnan(lower).any()  # the true ratio is larger
    is_too_large = np.isnan(upper).any()
    if is_too_large and verdict is HOLDS:
        return UNDECIDED
    if is_too_small and verdict in (OPPOSITE, DOES_NOT_HOLD):
        return UNDECIDED
    if is_too_large and verdict is DOES_NOT_HOLD:
        return UNDECIDED
    return verdict


def _format_pair(first: np.ndarray, second: np.ndarray) -> str:
    """'0.01 against 0.99'; '– against –' without seeds that both have."""
    if len(first) == 0:
        return '– against –'
    return f'{first.mean():.2f} against {second.mean():.2f}'


def _format_signed(found: Mean) -> str:
    """'+0.98 [0.95, 1.01]'."""
    return f'{"+" if found.mean > 0 else ""}{format_mean(found)}'


def _format_steps(moment: np.ndarray) -> str:
    """'8,300 steps (1 of 3 never)'."""
    is_known = np.isfinite(moment)
    if not is_known.any():
        return 'never'
    text = f'{moment[is_known].mean():,.0f} steps'
    if not is_known.all():
        text += f' ({int((~is_known).sum())} of {len(moment)} never)'
    return text
