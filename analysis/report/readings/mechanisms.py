"""What the mechanisms of all converged members say about a claim."""

from typing import NamedTuple

import numpy as np

from analysis.members.solution import UNSEEN_MAPPINGS
from analysis.members.statistics import MIN_SEEDS
from analysis.old_claims.borders import (
    HALF,
    combine,
    estimate_seed_share,
    format_seed_share,
    judge,
)
from analysis.old_claims.reading import Reading, undecided
from analysis.old_claims.verdicts import DOES_NOT_HOLD, OPPOSITE, UNDECIDED, Verdict
from analysis.p1 import causal, mechanisms


class Part(NamedTuple):
    """What the members at one solution say."""

    verdict: Verdict
    number: str
    null: str = ''
    why: str = ''  # undecided


def read_mechanisms(result: mechanisms.Result) -> Reading:
    """Of the members at a solution, those for which its mechanism is sufficient.

    The null is the mechanism of the other solution in the same members.

    holds          for both solutions it suffices in most (the interval, which is over
                   seeds, is above HALF)
    opposite       for both, the other solution's mechanism suffices in most, not its
                   own
    does not hold  otherwise, if for one of them it does not suffice in most
    undecided      otherwise; a solution with fewer than 3 seeds
    """
    parts = []
    for solution in UNSEEN_MAPPINGS:
        faithful_MC, seeds_M = _select_faithful(result, solution)
        why = _explain_few(seeds_M, solution)
        other = UNSEEN_MAPPINGS[1 - UNSEEN_MAPPINGS.index(solution)]
        own_M = faithful_MC[:, result.mechanism_names.index(solution)]
        other_M = faithful_MC[:, result.mechanism_names.index(other)]
        others = f'{int(other_M.sum())} of {len(other_M)}'
        part = Part(
            verdict=UNDECIDED if why else _judge_sets(own_M, other_M, seeds_M),
            number=f'{solution} {format_seed_share(own_M, seeds_M)}',
            null=f'{solution}, {other} edges: {others}',
            why=why,
        )
        parts.append(part)
    return _conclude(parts, result, 'converged members with two layers')


def read_confirmed_mechanisms(result: mechanisms.Result) -> Reading:
    """The set of edges that suffices most often in some seeds suffices in the others.

    The seeds are split in two, alternating. The set is chosen in the first half and
    judged in the second, which has one seed more if their number is odd. The null is
    the best of the sets that were not chosen.

    holds          for every solution there is, it suffices in most members of fresh
                   seeds (the interval, which is over seeds, is above HALF)
    opposite       for every solution, it does not, and a set that was not chosen does
    does not hold  otherwise, if for one of them it does not suffice in most
    undecided      otherwise; fewer than 3 fresh seeds; no set to choose, as none
                   suffices; no solution
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
    shares_C = faithful_MC[explores_M].mean(0)
    if shares_C.max() == 0:
        none = f'{solution}: no set suffices in the seeds that choose'
        return Part(UNDECIDED, none, why=f'no set of {solution} members to confirm')
    chosen = int(shares_C.argmax())
    fresh_MC, fresh_seeds_M = faithful_MC[~explores_M], seeds_M[~explores_M]
    chosen_M = fresh_MC[:, chosen]
    others_MC = np.delete(fresh_MC, chosen, axis=1)
    best_M = others_MC[:, others_MC.sum(0).argmax()]
    verdict = _judge_sets(chosen_M, best_M, fresh_seeds_M)
    count = format_seed_share(chosen_M, fresh_seeds_M)
    return Part(
        verdict=UNDECIDED if why else verdict,
        number=f'{solution}: "{names[chosen]}" in {count} fresh ones',
        null=f'{solution}, best of the others: {best_M.sum()} of {len(best_M)}',
        why=why,
    )


def _judge_sets(own_M: np.ndarray, other_M: np.ndarray, seeds_M: np.ndarray) -> Verdict:
    """Whether a set of edges suffices in most members; opposite if the other does."""
    verdict = judge(estimate_seed_share(own_M, seeds_M), HALF)
    does_other = estimate_seed_share(other_M, seeds_M).low > HALF
    return OPPOSITE if does_other and verdict is DOES_NOT_HOLD else verdict


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
