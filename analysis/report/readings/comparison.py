"""Two sides of a sweep, compared by the share of members that count.

Only converged members are compared, of settings (row, learning rate, ...) that have
some on both sides. The interval of the difference of the shares is the wider one of
Newcombe's over members and of the bootstrap over seeds: members of one seed are no
independent draws. The limits are ours.
"""

from typing import NamedTuple

import numpy as np

from analysis.members.statistics import (
    MIN_SEEDS,
    bootstrap_interval,
    newcombe_interval,
    wilson_interval,
)
from analysis.old_claims import verdicts
from analysis.old_claims.reading import Reading, format_gamma, undecided
from analysis.report.member_rows import MemberRows, describe_left_out

MOST = 2 / 3  # of the members at one gamma: "most of them"
NONE_OF = 6  # members: if none of so many does it, it does not happen
MARGIN = 0.25  # a difference of shares that is surely no larger is none


class Best(NamedTuple):
    """The gamma and setting with the highest share of members that count."""

    count: int
    total: int
    place: str


class Comparison(NamedTuple):
    """Shares of members that count, at some gammas and at the others."""

    count: int
    total: int
    other_count: int
    other_total: int
    low: float  # of the interval of the difference of the shares
    high: float
    seeds: int  # that were compared
    best: Best | None  # None: no place has MIN_SEEDS converged seeds


def explain_too_few(
    members: MemberRows, is_named: np.ndarray, null: str = ''
) -> Reading | None:
    """Why the two sides cannot be compared; None if they can be."""
    left_out = describe_left_out(members)
    if len(np.unique(members.gamma)) < 2:
        return undecided('one gamma only', null=null, note=left_out)
    is_counted = select_comparable(members, is_named)
    for is_side in (is_named, ~is_named):
        seeds = len(np.unique(members.seed[is_counted & is_side]))
        if seeds < MIN_SEEDS:
            why = f'fewer than {MIN_SEEDS} converged seeds to compare'
            return undecided(why, null=null, note=left_out)
    return None


def select_comparable(members: MemberRows, is_named: np.ndarray) -> np.ndarray:
    """Mask of the converged members of settings with some on both sides."""
    on_both_sides = np.intersect1d(
        members.setting[members.converged & is_named],
        members.setting[members.converged & ~is_named],
    )
    return members.converged & np.isin(members.setting, on_both_sides)


def compare(
    members: MemberRows, is_counted: np.ndarray, is_named: np.ndarray
) -> Comparison:
    """Shares of the members of a mask on the named side and on the other side."""
    is_comparable = select_comparable(members, is_named)
    known = members.select(is_comparable)
    is_counted = is_counted[is_comparable]
    is_named = is_named[is_comparable]

    def subtract_shares(chosen: np.ndarray) -> float:
        counted = is_counted[chosen]
        named = is_named[chosen]
        if named.all() or not named.any():
            return np.nan
        return counted[named].mean() - counted[~named].mean()

    count = int(is_counted[is_named].sum())
    total = int(is_named.sum())
    other_count = int(is_counted[~is_named].sum())
    other_total = int((~is_named).sum())
    low, high = newcombe_interval(count, total, other_count, other_total)
    low_of_seeds, high_of_seeds = bootstrap_interval(subtract_shares, known.seed)
    return Comparison(
        count=count,
        total=total,
        other_count=other_count,
        other_total=other_total,
        low=min(low, low_of_seeds),
        high=max(high, high_of_seeds),
        seeds=len(np.unique(known.seed)),
        best=_find_best(known.select(is_named), is_counted[is_named]),
    )


def _find_best(members: MemberRows, is_counted: np.ndarray) -> Best | None:
    """The place with the highest share, of those with MIN_SEEDS seeds."""
    best = None
    places = sorted(set(zip(members.setting, members.gamma, strict=True)))
    for setting, gamma in places:
        is_here = (members.setting == setting) & (members.gamma == gamma)
        if len(np.unique(members.seed[is_here])) < MIN_SEEDS:
            continue
        count = int(is_counted[is_here].sum())
        total = int(is_here.sum())
        if best is None or count / total > best.count / best.total:
            place = join_parts(
                format_gamma(gamma), setting.replace(',', ', '), comma=', '
            )
            best = Best(count, total, place)
    return best


def judge(found: Comparison, number: str, null: str, note: str) -> Reading:
    """The verdict of a comparison, by the rules of `_read_half`."""
    if found.high < 0:
        return Reading(number, verdicts.OPPOSITE, null, note)
    if found.count == 0 and found.total >= NONE_OF:
        return Reading(number, verdicts.DOES_NOT_HOLD, null, note)
    if found.low <= 0:
        if found.high <= MARGIN:
            return Reading(number, verdicts.DOES_NOT_HOLD, null, note)
        return undecided('the interval covers 0', number, null, note)
    if found.best is None:
        return undecided(f'no γ with {MIN_SEEDS} seeds', number, null, note)
    if found.best.count >= MOST * found.best.total:
        return Reading(number, verdicts.HOLDS, null, note)
    _, highest = wilson_interval(found.best.count, found.best.total)
    if highest < MOST:
        return Reading(number, verdicts.DOES_NOT_HOLD, null, note)
    return undecided('the best γ may have most of them or not', number, null, note)


def describe_members(members: MemberRows, found: Comparison) -> str:
    """The best gamma, the members and seeds that were compared, and the others."""
    best = ''
    if found.best:
        share = format_share(found.best.count, found.best.total)
        best = f'best: {share} at {found.best.place}'
    total = found.total + found.other_total
    counted = f'{total} converged members, {found.seeds} seeds'
    converged = int(members.converged.sum())
    alone = ''
    if converged > total:
        alone = f'{converged - total} more in settings with one side only'
    return join_parts(best, counted, alone, describe_left_out(members))


def format_share(count: int, total: int) -> str:
    return f'{count} of {total}'


def format_difference(found: Comparison) -> str:
    share = found.count / max(1, found.total)
    difference = share - found.other_count / max(1, found.other_total)
    return f'difference {difference:+.2f} [{found.low:.2f}, {found.high:.2f}]'


def join_parts(*parts: str, comma: str = '; ') -> str:
    """The parts that are not empty."""
    return comma.join(part for part in parts if part)
