"""What the mechanisms of all converged members say about a claim."""

from typing import NamedTuple

import numpy as np

from analysis import causal, mechanisms
from analysis.members.solution import UNSEEN_MAPPINGS
from analysis.members.statistics import MIN_SEEDS
from analysis.report.readings.borders import (
    HALF,
    combine,
    estimate_share,
    format_count,
    judge,
)
from analysis.report.readings.reading import Reading, undecided
from analysis.report.verdicts import DOES_NOT_HOLD, OPPOSITE, UNDECIDED, Verdict


class Part(NamedTuple):
    """What the members at one solution say."""

    verdict: Verdict
    number: str
    null: str = ''
    why: str = ''  # undecided


def read_mechanisms(result: mechanisms.Result) -> Reading:
    """Of the members at a solution, those for which its mechanism is sufficient.

    The null is the mechanism of the other solution in the same members.

    holds          for both solutions it suffices in most (Wilson's interval above HALF)
    opposite       for both, the other solution's mechanism suffices in most, not its
                   own
    does not hold  otherwise, if for one of them it does not suffice in most
    undecided      otherwise; a solution with fewer than 3 seeds
    """
    parts = []
    for solution in UNSEEN_MAPPINGS:
        faithful_MC, seeds_M = _select_faithful(result, solution)
        why = _explain_few(seeds_M, solution)
        own = result.mechanism_names.index(solution)
        counts_C = faithful_MC.sum(0)
        total = len(faithful_MC)
        other = 1 - UNSEEN_MAPPINGS.index(solution)
        other_name = UNSEEN_MAPPINGS[other]
        others = int(counts_C[result.mechanism_names.index(other_name)])
        verdict = judge(estimate_share(int(counts_C[own]), total), HALF)
        does_other = estimate_share(others, total).low > HALF
        if does_other and verdict is DOES_NOT_HOLD:
            verdict = OPPOSITE
        parts.append(
            Part(
                verdict=UNDECIDED if why else verdict,
                number=f'{solution} {format_count(int(counts_C[own]), total)}',
                null=f'{solution}, {other_name} edges: {others} of {total}',
                why=why,
            )
        )
    return _conclude(parts, result, 'converged members with two layers')


def read_confirmed_mechanisms(result: mechanisms.Result) -> Reading:
    """The set of edges that suffices most often in some seeds suffices in the others.

    The seeds are split in two, alternating. The set is chosen in the first half and
    judged in the second, which has one seed more if their number is odd. The null is
    the best of the sets that were not chosen.

    holds          for every solution there is, it suffices in most members of fresh
                   seeds (Wilson's interval above HALF)
    opposite       for every solution, it does not, and a set that was not chosen does
    does not hold  otherwise, if for one of them it does not suffice in most
    undecided      otherwise; fewer than 3 fresh seeds; no solution
    """
    parts = []
    for solution in UNSEEN_MAPPINGS:
        faithful_MC, seeds_M = _select_faithful(result, solution)
        if len(faithful_MC) > 0:
            parts.append(
                _confirm(result.mechanism_names, solution, faithful_MC, seeds_M)
            )
    if not parts:
        return undecided('no converged member is inferential or symmetric')
    return _conclude(parts, result, 'chosen in half of the seeds, counted in the rest')


def _confirm(
    names: tuple[str, ...], solution: str, faithful_MC: np.ndarray, seeds_M: np.ndarray
) -> Part:
    """Chooses a set of edges in the first half of the seeds, judges it in the rest."""
    exploring = np.unique(seeds_M)[1::2]
    explores_M = np.isin(seeds_M, exploring)
    why = _explain_few(seeds_M[~explores_M], f'fresh {solution}')
    if not explores_M.any():
        return Part(UNDECIDED, f'{solution}: no seed to choose in', why=why)
    chosen = int(faithful_MC[explores_M].mean(0).argmax())
    counts_C = faithful_MC[~explores_M].sum(0)
    total = int((~explores_M).sum())
    others_C = np.delete(counts_C, chosen)
    verdict = judge(estimate_share(int(counts_C[chosen]), total), HALF)
    does_other = estimate_share(int(others_C.max()), total).low > HALF
    if does_other and verdict is DOES_NOT_HOLD:
        verdict = OPPOSITE
    count = format_count(int(counts_C[chosen]), total)
    return Part(
        verdict=UNDECIDED if why else verdict,
        number=f'{solution}: "{names[chosen]}" in {count} fresh ones',
        null=f'{solution}, best of the others: {others_C.max()} of {total}',
        why=why,
    )


def _select_faithful(
    result: mechanisms.Result, solution: str
) -> tuple[np.ndarray, np.ndarray]:
    """(whether each mechanism suffices [M, C], seeds [M]) of members at a solution."""
    is_there_M = np.array(result.solutions) == solution
    unchanged_MC = result.unchanged_MC[is_there_M]
    return unchanged_MC >= causal.FAITHFUL, result.seeds_M[is_there_M]


def _explain_few(seeds_M: np.ndarray, what: str) -> str:
    """Why these members decide nothing; '' if they can."""
    count = len(np.unique(seeds_M))
    if count >= MIN_SEEDS:
        return ''
    seeds = 'seed' if count == 1 else 'seeds'
    return f'{count} {what} {seeds}, at least {MIN_SEEDS} needed'


def _conclude(parts: list[Part], result: mechanisms.Result, note: str) -> Reading:
    number = _join_texts(parts, 'number')
    null = _join_texts(parts, 'null')
    if np.isnan(result.unchanged_MC).any():
        return undecided('a number is NaN', number, null, note)
    verdict = combine([part.verdict for part in parts])
    if verdict is UNDECIDED:
        why = _join_texts(parts, 'why') or 'an interval covers its border'
        return undecided(why, number, null, note)
    return Reading(number, verdict, null, note)


def _join_texts(parts: list[Part], field: str) -> str:
    """A field of every part that has it."""
    texts = [getattr(part, field) for part in parts]
    return '; '.join(filter(None, texts))
