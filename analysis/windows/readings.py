"""What the members of a sweep say about a claim of P4: rules over seeds.

A claim compares accuracies on unseen pairs at the end, paired by seed. All members that
did not diverge count: while decay acts the train loss stays up, so convergence cannot
be asked for. It is stated instead, with the share of trained pairs that are answered.

Intervals are Student's t over seeds. The borders were set before the seeds that are
reported were trained: MUCH and NEAR are differences of accuracies.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from analysis.members.seeds import pair_seeds
from analysis.members.statistics import Mean, bootstrap_interval
from analysis.old_claims.borders import (
    combine,
    conclude,
    estimate,
    estimate_share,
    format_count,
    format_mean,
    judge,
    negate,
)
from analysis.old_claims.reading import Reading, undecided
from analysis.old_claims.verdicts import (
    DOES_NOT_HOLD,
    HOLDS,
    OPPOSITE,
    UNDECIDED,
    Verdict,
)
from analysis.spectra.measures import rank_correlation
from analysis.windows.members import Members

MUCH = 0.25
NEAR = 0.1
WEAK = 0.5  # a rank correlation below this is weak
RELEASE = 0.125  # share of training after a window
NO_ANSWER = 0.02  # a share of right whole answers below this is none


class Group(NamedTuple):
    """Which members to read: those with these values; None: any."""

    name: str  # in the table
    window: str | None = None
    decay: float | None = None
    gamma: float | None = None


def select(members: Members, group: Group) -> np.ndarray:
    """Indices of the members of a group, by seed; decays match to three digits."""
    is_here_M = np.ones(len(members.seed), bool)
    if group.window is not None:
        is_here_M &= members.window == group.window
    if group.decay is not None:
        is_here_M &= np.isclose(members.decay, group.decay, rtol=1e-3, atol=1e-9)
    if group.gamma is not None:
        is_here_M &= np.isclose(members.gamma, group.gamma)
    index = np.flatnonzero(is_here_M)
    return index[np.argsort(members.seed[index], kind='stable')]


def pair(
    members: Members, first: Group, second: Group
) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the members of both groups with the same seeds, in the same order."""
    return pair_seeds(members.seed, select(members, first), select(members, second))


def judge_better(found: Mean, border: float) -> Verdict:
    """holds above the border, opposite below 0, does not hold surely between."""
    return judge(found, border, opposite=0.0)


def judge_equal(found: Mean, border: float) -> Verdict:
    """holds surely within the border of 0, does not hold surely outside it."""
    if found.low > -border and found.high < border:
        return HOLDS
    if found.low >= border or found.high <= -border:
        return DOES_NOT_HOLD
    return UNDECIDED


def judge_no_worse(found: Mean, border: float) -> Verdict:
    """holds surely above minus the border, opposite surely below it."""
    if found.low > -border:
        return HOLDS
    return OPPOSITE if found.high <= -border else UNDECIDED


def read_difference(
    result: Any,
    first: Group,
    second: Group,
    rule: Callable[[Mean, float], Verdict],
    border: float,
) -> Reading:
    """A rule about the accuracy of the first group minus that of the second."""
    members = result.members
    i, j = pair(members, first, second)
    if len(i) == 0:
        return undecided('no member of both')
    difference = members.unseen[i] - members.unseen[j]
    found = estimate(difference)
    values = []
    for group, index in ((first, i), (second, j)):
        values.append(f'{group.name} {format_mean(estimate(members.unseen[index]))}')
    return conclude(
        verdict=rule(found, border),
        number=f'{" against ".join(values)}; difference {format_mean(found)}',
        null=f'{members.null[i].mean():.2f}; difference 0',
        note=describe_training(members, (first, i), (second, j)),
        count=len(i),
        unit='seed',
    )


def read_low(result: Any, group: Group, border: float) -> Reading:
    """holds: surely below the border; opposite: surely above 1 - border."""
    members = result.members
    index = select(members, group)
    found = estimate(members.unseen[index])
    return conclude(
        verdict=judge(negate(found), -border, opposite=border - 1),
        number=f'{group.name} {format_mean(found)}',
        null=f'{members.null[index].mean():.2f}',
        note=describe_training(members, (group, index)),
        count=len(index),
        unit='seed',
    )


def read_peak(result: Any, middle: Group, ends: tuple[Group, Group]) -> Reading:
    """The middle is much better than either end; every part must hold."""
    parts = [read_difference(result, middle, end, judge_better, MUCH) for end in ends]
    verdict = combine([part.verdict for part in parts])
    number = '; '.join(part.number for part in parts)
    return Reading(number, verdict, parts[0].null, parts[0].note)


def read_no_answer(result: Any) -> Reading:
    """Nobody answers what was never trained as a whole, averaged within seeds.

    holds, opposite  the share of whole answers is surely below NO_ANSWER, above half
    """
    members = result.members
    seeds = np.unique(members.seed)
    found = estimate(np.array([members.whole[members.seed == s].mean() for s in seeds]))
    everything = np.arange(len(members.seed))
    return conclude(
        verdict=judge(negate(found), -NO_ANSWER, opposite=-0.5),
        number=f'{format_mean(found)}, at most {members.whole.max():.2f}',
        null='0',
        note=describe_training(members, (Group('all'), everything)),
        count=len(seeds),
        unit='seed',
    )


def read_fall(result: Any, group: Group) -> Reading:
    """Accuracy at a third of training is higher than at its end.

    holds, opposite  the difference is surely above, below 0
    """
    members = result.members
    index = select(members, group)
    place = np.abs(members.step_S - members.step_S[-1] / 3).argmin()
    before = members.unseen_MS[index, place]
    found = estimate(before - members.unseen[index])
    return conclude(
        verdict=judge(found, 0, opposite=0),
        number=f'step {members.step_S[place]:,} {format_mean(estimate(before))}, at '
        f'the end {format_mean(estimate(members.unseen[index]))}; difference '
        f'{format_mean(found)}',
        null='difference 0',
        note=describe_training(members, (group, index)),
        count=len(index),
        unit='seed',
    )


def read_share(result: Any, group: Group, border: float) -> Reading:
    """holds: surely more than half of the seeds are above the border.

    opposite: surely fewer.
    """
    members = result.members
    index = select(members, group)
    count = int((members.unseen[index] > border).sum())
    found = estimate_share(count, len(index))
    return conclude(
        verdict=judge(found, 0.5, opposite=0.5),
        number=f'{group.name}: above {border:g} in {format_count(count, len(index))}',
        null='half of them',
        note=describe_training(members, (group, index)),
        count=len(index),
        unit='seed',
    )


def read_weak_correlation(result: Any) -> Reading:
    """Early complexity and accuracy: is |rank correlation| surely below WEAK?"""
    members = result.members

    def correlate(index: np.ndarray) -> float:
        return rank_correlation(result.early_M[index], members.unseen[index])

    low, high = bootstrap_interval(correlate, members.seed)
    found = Mean(result.correlation, low, high)
    everything = np.arange(len(members.seed))
    return conclude(
        verdict=judge_equal(found, WEAK),
        number=f'rank correlation {format_mean(found)}',
        null='0',
        note=describe_training(members, (Group('all'), everything)),
        count=len(np.unique(members.seed)),
        unit='seed',
    )


def read_moments(result: Any, first: Group, second: Group) -> Reading:
    """The first group does not learn what was held out earlier than the second.

    Of the steps at which a member reaches LEARNED, as a ratio by seed. A member that
    never does is given the last step, which can only make its group look earlier.

    holds, opposite  the interval of first / second is above, below 1
    """
    members = result.members
    i, j = pair(members, first, second)
    last_step = float(members.step_S[-1])
    steps_M = np.nan_to_num(members.moment, nan=last_step)
    of_first = steps_M[i]
    of_second = steps_M[j]
    logarithms = estimate(np.log(of_first / of_second))
    found = Mean(*np.exp(logarithms))

    is_never_M = np.isnan(members.moment)
    never_first = int(is_never_M[i].sum())
    never_second = int(is_never_M[j].sum())
    verdict = judge(found, 1, opposite=1)
    if never_first and verdict is not HOLDS:
        verdict = UNDECIDED
    if never_second:
        verdict = UNDECIDED
    return conclude(
        verdict=verdict,
        number=f'step {of_first.mean():,.0f} ({first.name}) against '
        f'{of_second.mean():,.0f} ({second.name}); ratio {format_mean(found)}; '
        f'never: {never_first} and {never_second}',
        null='ratio 1',
        note=describe_training(members, (first, i), (second, j)),
        count=len(i),
        unit='seed',
        why='the interval covers 1, or a network never learns it',
    )


def read_end_decides(result: Any) -> Reading:
    """The end of decay matters more than its start (Result of start_or_end).

    holds      the effect of a later end is not 0, and surely larger in size than that
               of a later start
    opposite   the same with start and end exchanged
    undecided  otherwise
    """
    of_start, of_end = result.effect_2S
    found = [estimate(of_start), estimate(of_end)]
    gap = estimate(np.sign(found[1].mean) * of_end - np.sign(found[0].mean) * of_start)
    verdict = UNDECIDED
    if gap.low > 0 and excludes_zero(found[1]):
        verdict = HOLDS
    if gap.high < 0 and excludes_zero(found[0]):
        verdict = OPPOSITE
    everything = np.arange(len(result.members.seed))
    return conclude(
        verdict=verdict,
        number=f'a later end {format_mean(found[1])}, a later start '
        f'{format_mean(found[0])}; difference in size {format_mean(gap)}',
        null='0',
        note=describe_training(result.members, (Group('all windows'), everything)),
        count=len(of_start),
        unit='seed',
    )


def read_effect(result: Any, row: int) -> Reading:
    """A later start (row 0) or end (row 1) is better: effect above 0."""
    values = result.effect_2S[row]
    found = estimate(values)
    return conclude(
        verdict=judge(found, 0, opposite=0),
        number=f'{format_mean(found)} in {result.pairs_2[row]} pairs of windows',
        null='0',
        note=f'within seeds; {describe_weakest(result, row, found.mean)}',
        count=len(values),
        unit='seed',
    )


def describe_weakest(result: Any, row: int, mean: float) -> str:
    """'without 0–0.25 it is 0.01': the window without which an effect is weakest."""
    signed_W = np.sign(mean) * result.without_W2[:, row]
    if np.isnan(signed_W).all():
        return 'it rests on one window'
    weakest = int(np.nanargmin(signed_W))
    value = result.without_W2[weakest, row]
    return f'without {result.windows[weakest]} it is {value:.2f}'


def read_release(result: Any) -> Reading:
    """Accuracy rises more in RELEASE of training after a window than in the window.

    Of windows of one piece that end early enough, averaged within seeds.

    holds, opposite  the rise after minus the rise inside is surely above, below 0
    """
    members = result.members
    is_known_M = members.bounds[:, 1] <= 1 - RELEASE
    if not is_known_M.any():
        return undecided('no window ends early enough')
    inside_M, after_M = measure_rises(members)
    seeds = np.unique(members.seed[is_known_M])
    rises = []
    for seed in seeds:
        is_here_M = is_known_M & (members.seed == seed)
        rises.append((inside_M[is_here_M].mean(), after_M[is_here_M].mean()))
    inside, after = np.array(rises).T
    found = estimate(after - inside)
    index = np.flatnonzero(is_known_M)
    return conclude(
        verdict=judge(found, 0, opposite=0),
        number=f'after {format_mean(estimate(after))} against inside '
        f'{format_mean(estimate(inside))}; difference {format_mean(found)}',
        null='difference 0',
        note=describe_training(members, (Group('these windows'), index)),
        count=len(seeds),
        unit='seed',
    )


def measure_rises(members: Members) -> tuple[np.ndarray, np.ndarray]:
    """(rise of accuracy inside the window, rise in RELEASE of training after it), [M].

    Accuracy at a step is that of the nearest record before it; before the first record
    that of the first.
    """
    last = members.step_S[-1]
    rises = []
    for m, (start, end) in enumerate(members.bounds):
        shares = np.array([start, end, end + RELEASE])
        places = np.searchsorted(members.step_S, np.round(shares * last), 'right') - 1
        before, stop, later = members.unseen_MS[m, places.clip(0)]
        rises.append((stop - before, later - stop))
    inside_M, after_M = np.array(rises).T
    return inside_M, after_M


def excludes_zero(found: Mean) -> bool:
    """Whether the whole interval lies on one side of 0."""
    return found.low > 0 or found.high < 0


def describe_training(members: Members, *groups: tuple[Group, np.ndarray]) -> str:
    """'middle: 12 seeds, train loss 0.01, trained pairs 1.00; ...' of every group."""
    parts = []
    for group, index in groups:
        if len(index) == 0:
            parts.append(f'{group.name}: no member')
            continue
        loss = members.train_loss[index].mean()
        seen = members.seen[index].mean()
        count = len(np.unique(members.seed[index]))
        parts.append(
            f'{group.name}: {count} seeds, train loss {loss:.2g}, trained {seen:.2f}'
        )
    return '; '.join(parts)
