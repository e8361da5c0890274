"""What a claim says that is about two runs, or about one network asked in two ways."""

import numpy as np

from analysis import free_generation
from analysis.members.statistics import mean_interval
from analysis.old_claims.reading import Reading, undecided
from analysis.real.corners import find_corner
from analysis.real.readings.answers import (
    describe_null,
    format_pair,
    format_signed,
    take_probe,
)
from analysis.real.readings.seeds import (
    SAME,
    Place,
    decide,
    judge_difference,
    judge_equality,
    pair_values,
    select_seeds,
)
from analysis.real.result import Result

SHORTCUT = 'recurrence'  # the baseline that a twin is to be without
GUESSES = 0.75  # a shortcut that answers no more than this decides little


def read_same_without_shortcut(
    result: Result, other: Result, place: Place, probe: str, corner: tuple[int, int]
) -> Reading:
    """The other run answers as much of the probe as this one, by `judge_equality`.

    undecided if the shortcut answers the questions of the other run, too: with one hop
    the rule about the concept that recurs is the whole proof.
    """
    k = other.baseline.tolist().index(SHORTCUT)
    score = float(np.nanmean(other.baseline_KMP[k]))
    if score > GUESSES:
        why = f'the shortcut answers {score:.2f} of the other run, too'
        return undecided(why, null=f'shortcut at most {GUESSES:g}')
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
    at = find_corner(result.members, *corner)
    at_other = find_corner(other.members, *corner)
    seeds = select_seeds(result.members, place, at)
    of_other = select_seeds(other.members, place, at_other)
    agreement_M = take_probe(result, probe)
    here, there = pair_values(seeds, agreement_M, of_other, take_probe(other, probe))
    difference = there - here
    found = mean_interval(difference)
    verdict = judge_difference(found)
    null = f'difference 0; {describe_null(result, place, probe)}'
    if is_equal:
        verdict = judge_equality(found, SAME)
        null = f'difference within {SAME:g}; {describe_null(result, place, probe)}'
    number = f'{format_pair(here, there)}: {format_signed(found)}'
    return decide([seeds, of_other], verdict, number, null, difference)


def read_own_proof(
    result: free_generation.Result, place: Place, corner: tuple[int, int]
) -> Reading:
    """The judgement is as good after the own proof as after the right one.

    By `judge_equality`, of two numbers of the same network.
    """
    at = find_corner(result.members, *corner)
    seeds = select_seeds(result.members, place, at)
    share_MK = result.share_MK[seeds.index]
    right = share_MK[:, free_generation.MEASURES.index('label after right proof')]
    own = share_MK[:, free_generation.MEASURES.index('label after own proof')]
    difference = own - right
    found = mean_interval(difference)
    return decide(
        [seeds],
        judge_equality(found, SAME),
        number=f'{format_pair(right, own)}: {format_signed(found)}',
        null=f'difference within {SAME:g}; a coin 0.50',
        values=difference,
    )
