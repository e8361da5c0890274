"""What the members of a sweep say about the phase diagram.

Each function reads `member_rows.MemberRows`. Only converged members count. The limits
(here and in `comparison`) are ours: the papers have none.
"""

import numpy as np

from analysis.members.solution import SEEN_ENOUGH
from analysis.members.statistics import (
    MIN_SEEDS,
    P_VALUE,
    bootstrap_interval,
    permutation_p,
)
from analysis.old_claims import verdicts
from analysis.old_claims.borders import estimate_seed_share
from analysis.old_claims.reading import Reading, format_gamma, undecided
from analysis.report.member_rows import MemberRows, describe_left_out
from analysis.report.readings.comparison import (
    compare,
    describe_members,
    explain_too_few,
    format_difference,
    format_share,
    join_parts,
    judge,
    select_comparable,
)

FEW = 1 / 3  # of the members at one gamma
MIN_MEMBERS = 3  # of either kind
NEAR = 0.25  # of the range of gamma: a difference that is surely smaller is none


def read_symmetric_half(members: MemberRows) -> Reading:
    """More symmetric members in the lower half of the gammas than in the upper half.

    `_read_half` has the rules.
    """
    return _read_half(members, 'symmetric', small_gammas=True)


def read_inferential_half(members: MemberRows) -> Reading:
    """More inferential members in the upper half of the gammas than in the lower half.

    `_read_half` has the rules.
    """
    return _read_half(members, 'inferential', small_gammas=False)


def read_phase_order(members: MemberRows) -> Reading:
    """The gammas of inferential members lie above those of symmetric ones.

    Compared by their means: medians of so few gammas hardly move when labels do.

    holds, opposite  the difference has a permutation p-value (labels permuted within
                     seeds) below P_VALUE, and an interval (seeds resampled) beyond 0
    does not hold    the interval covers 0 and ends below NEAR of the range of gamma
    undecided        one gamma, a solution of fewer than MIN_SEEDS seeds or MIN_MEMBERS
                     members, or anything else
    """
    known = members.select(members.converged)
    known = known.select(np.isin(known.solution, ('inferential', 'symmetric')))
    is_inferential = known.solution == 'inferential'
    gammas = np.unique(members.gamma)
    note = _describe_kinds(members, is_inferential)
    why = _explain_no_order(gammas, known.seed, is_inferential)
    if why:
        return undecided(why, note=note)

    def subtract(labels: np.ndarray) -> float:
        return known.gamma[labels].mean() - known.gamma[~labels].mean()

    def resample(chosen: np.ndarray) -> float:
        labels = is_inferential[chosen]
        if labels.all() or not labels.any():
            return np.nan
        gamma = known.gamma[chosen]
        return gamma[labels].mean() - gamma[~labels].mean()

    difference = subtract(is_inferential)
    p = permutation_p(subtract, is_inferential, known.seed)
    low, high = bootstrap_interval(resample, known.seed)
    symmetric = format_gamma(np.median(known.gamma[~is_inferential]))
    inferential = format_gamma(np.median(known.gamma[is_inferential]))
    number = (
        f'median of symmetric members {symmetric}, of inferential ones {inferential}; '
        f'difference of the means {difference:+.2f} [{low:.2f}, {high:.2f}]'
    )
    null = f'0; p = {p:.2g} with the solutions permuted within seeds'
    if low > 0 or high < 0:
        if p >= P_VALUE:
            return undecided('too few members for a small p', number, null, note)
        verdict = verdicts.HOLDS if low > 0 else verdicts.OPPOSITE
        return Reading(number, verdict, null, note)
    if high > NEAR * (gammas[-1] - gammas[0]):
        return undecided('the interval covers 0', number, null, note)
    return Reading(number, verdicts.DOES_NOT_HOLD, null, note)


def _explain_no_order(
    gammas: np.ndarray, seeds: np.ndarray, is_inferential: np.ndarray
) -> str:
    """Why two kinds of members cannot be compared; '' if they can be."""
    if len(gammas) < 2:
        return 'one gamma only'
    if min(is_inferential.sum(), (~is_inferential).sum()) < MIN_MEMBERS:
        return f'fewer than {MIN_MEMBERS} members of a kind'
    kinds = {'inferential': is_inferential, 'symmetric': ~is_inferential}
    for kind, is_kind in kinds.items():
        number = len(np.unique(seeds[is_kind]))
        if number < MIN_SEEDS:
            return f'{number} seeds have {kind} members'
    return ''


def _describe_kinds(members: MemberRows, is_inferential: np.ndarray) -> str:
    inferential = int(is_inferential.sum())
    symmetric = len(is_inferential) - inferential
    kinds = f'{inferential} inferential and {symmetric} symmetric'
    return join_parts(kinds, describe_left_out(members))


def read_seen_pairs(members: MemberRows) -> Reading:
    """Members at the smallest gamma do not generalize on seen pairs, the others do.

    A member generalizes from held-out agreement SEEN_ENOUGH on. Every setting counts.

    holds          the share is lower at the smallest gamma (the interval is beyond 0),
                   and at most FEW there; at the best of the other gammas at least MOST
    opposite       the share is higher at the smallest gamma
    does not hold  surely more than FEW generalize at the smallest gamma; or none of
                   NONE_OF or more at the others; or the interval covers 0 and ends
                   below MARGIN
    undecided      one gamma, fewer than MIN_SEEDS converged seeds on either side, a
                   table of the training data that would score SEEN_ENOUGH itself, or
                   anything else
    """
    gammas = np.unique(members.gamma)
    null = _describe_tables(members.tables)
    if max(members.tables.values(), default=0) >= SEEN_ENOUGH:
        return undecided(
            'a table would generalize too', null=null, note=describe_left_out(members)
        )
    is_general = np.float32(members.heldout) >= SEEN_ENOUGH
    reading = explain_too_few(members, members.gamma > gammas[0], null)
    if reading:
        return reading
    found = compare(members, is_general, members.gamma > gammas[0])
    smallest = format_share(found.other_count, found.other_total)
    rest = format_share(found.count, found.total)
    number = (
        f'held-out ≥ {SEEN_ENOUGH:g}: {smallest} at {format_gamma(gammas[0])}, {rest} '
        f'at larger γ, {format_difference(found)}'
    )
    note = describe_members(members, found)
    is_smallest = select_comparable(members, members.gamma > gammas[0])
    is_smallest &= members.gamma == gammas[0]
    at_smallest = estimate_seed_share(
        is_general[is_smallest], members.seed[is_smallest]
    )
    if found.high >= 0 and at_smallest.low > FEW:
        return Reading(number, verdicts.DOES_NOT_HOLD, null, note)
    if found.low > 0 and found.other_count > FEW * found.other_total:
        return undecided('some generalize at the smallest γ', number, null, note)
    return judge(found, number, null, note)


def _read_half(members: MemberRows, solution: str, small_gammas: bool) -> Reading:
    """Compares the halves of the trained gammas; the middle one is in the lower half.

    The share of members at the solution in the named half, minus the share in the
    other half, with the interval and the limits of `comparison`:

    holds          the interval is above 0, and at the best gamma and setting of the
                   named half at least MOST of the members are at the solution
    opposite       the interval is below 0
    does not hold  no member of NONE_OF or more in the named half is at the solution;
                   or the interval covers 0 and ends below MARGIN; or it is above 0
                   and the share at the best gamma is surely below MOST
    undecided      one gamma, fewer than MIN_SEEDS converged seeds in either half, or
                   anything else
    """
    gammas = np.unique(members.gamma)
    middle = gammas[(len(gammas) - 1) // 2]
    is_named = members.gamma <= middle
    if not small_gammas:
        is_named = ~is_named
    reading = explain_too_few(members, is_named)
    if reading:
        return reading
    found = compare(members, members.solution == solution, is_named)
    sides = [f'γ ≤ {middle:g}', f'γ > {middle:g}']
    if not small_gammas:
        sides.reverse()
    share = format_share(found.count, found.total)
    other = format_share(found.other_count, found.other_total)
    number = (
        f'{solution}: {share} at {sides[0]}, {other} at {sides[1]}, '
        f'{format_difference(found)}'
    )
    null = f'the other half: {found.other_count / max(1, found.other_total):.2f}'
    return judge(found, number, null, describe_members(members, found))


def _describe_tables(tables: dict[str, float]) -> str:
    """'held-out of a table by datum 0.00, by ordered pair 0.00'."""
    parts = [f'by {level} {score:.2f}' for level, score in tables.items()]
    return f'held-out of a table {", ".join(parts)}' if parts else ''
