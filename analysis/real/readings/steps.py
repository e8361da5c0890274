"""What the steps to convergence say about a claim (P1 Fig 7)."""

from typing import NamedTuple

import numpy as np

from analysis.members.statistics import average_ratios
from analysis.old_claims.borders import format_mean
from analysis.old_claims.reading import Reading, undecided
from analysis.old_claims.verdicts import (
    DOES_NOT_HOLD,
    HOLDS,
    OPPOSITE,
    UNDECIDED,
    Verdict,
)
from analysis.real.corners import find_contrast, find_corner
from analysis.real.readings.answers import list_sizes
from analysis.real.readings.seeds import (
    Place,
    Seeds,
    decide,
    describe_seeds,
    judge_ratio,
    pair_values,
    select_seeds,
)
from analysis.real.result import Result


def read_steps(result: Result, place: Place, contrast: str) -> Reading:
    """The upper corner of a contrast converges in fewer steps than the lower one.

    By `judge_ratio` of the numbers of steps. The last step stands for a convergence
    that never comes, and the ratio is then a bound, which decides only if the true
    ratio would decide alike.
    """
    moved = find_contrast(result.members, contrast)
    if moved is None:
        return undecided('gamma or decay has one value only', null='ratio 1')
    groups = []
    for corner in (moved.lower, moved.upper):
        seeds = select_seeds(result.members, place, corner, needs_convergence=False)
        groups.append(seeds)
    moment_M = result.members['moment']
    lower, upper = pair_values(groups[0], moment_M, groups[1], moment_M)
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


class Ratio(NamedTuple):
    """Steps at a size between, by those at the smallest and at the largest."""

    text: str
    verdicts: list[Verdict]  # of both, by `judge_ratio`
    values: np.ndarray  # of both, one per seed


def read_rise_and_fall(
    result: Result, place: Place, corner: tuple[int, int]
) -> Reading:
    """Steps to converge rise with the size and fall again, at a corner.

    By `judge_ratio` of the steps at each size between and those at either end.

    holds          at a size between there are surely more than at both ends
    opposite       at every size between there are surely fewer than at both ends
    does not hold  at every size between there are surely no more than at one end
    undecided      otherwise, or a loss never falls
    """
    sizes = list_sizes(result, place)
    if len(sizes) < 3:
        return undecided('fewer than 3 sizes', null='ratios 1')
    at = find_corner(result.members, *corner)
    groups = []
    for size in sizes:
        of_size = Place(place.setting, size)
        groups.append(
            select_seeds(result.members, of_size, at, needs_convergence=False)
        )
    ratios = []
    for size, group in zip(sizes[1:-1], groups[1:-1], strict=True):
        ratios.append(_compare_ends(result, size, group, groups[0], groups[-1]))
    return decide(
        groups,
        _judge_peak([ratio.verdicts for ratio in ratios]),
        number='; '.join(ratio.text for ratio in ratios),
        null='ratios 1',
        values=np.concatenate([ratio.values for ratio in ratios]),
    )


def _compare_ends(
    result: Result, size: int, between: Seeds, first: Seeds, last: Seeds
) -> Ratio:
    moment_M = result.members['moment']
    texts, verdicts, values = [], [], []
    for end in (first, last):
        steps, of_end = pair_values(between, moment_M, end, moment_M)
        ratio = steps / of_end
        found = average_ratios(ratio)
        texts.append(format_mean(found))
        verdicts.append(judge_ratio(found))
        values.append(ratio)
    text = f'{size:,} examples: {" and ".join(texts)} times the steps of the ends'
    return Ratio(text, verdicts, np.concatenate(values))


def _judge_peak(pairs: list[list[Verdict]]) -> Verdict:
    """From the verdicts on every size between, against both ends."""
    is_lower_everywhere = True
    for pair in pairs:
        if pair == [HOLDS, HOLDS]:
            return HOLDS
        if OPPOSITE not in pair and DOES_NOT_HOLD not in pair:
            is_lower_everywhere = False
    if all(pair == [OPPOSITE, OPPOSITE] for pair in pairs):
        return OPPOSITE
    return DOES_NOT_HOLD if is_lower_everywhere else UNDECIDED


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


def _format_steps(moment: np.ndarray) -> str:
    """'8,300 steps (1 of 3 never)'."""
    is_known = np.isfinite(moment)
    if not is_known.any():
        return 'never'
    text = f'{moment[is_known].mean():,.0f} steps'
    if not is_known.all():
        text += f' ({int((~is_known).sum())} of {len(moment)} never)'
    return text
