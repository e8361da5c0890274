"""Claims about the time to fit (P1 v1 Sec 6, P3 Fig 8; PAPERS 1.5, 3.3).

A ratio compares the most wrong pairs with none, seed by seed. A network that never fits
bounds a ratio; only a bound on the right side decides. Convergence is not required:
what has been fitted was fitted then, whatever training does later.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from analysis.families.readings.members import describe_members, find_ends
from analysis.members.seeds import match_seeds, pair_seeds
from analysis.members.statistics import Mean, average_ratios
from analysis.old_claims.borders import conclude_seeds, format_mean, judge
from analysis.old_claims.reading import Reading, format_gamma, undecided
from analysis.old_claims.verdicts import DOES_NOT_HOLD, HOLDS, UNDECIDED, Verdict
from analysis.p3.fitting_time import Result, shares_anchor

MORE = 1.25  # times: a time to fit that grows by less does not grow
_NULL = 'ratio 1'
SMALL, LARGE = 'small', 'large'


def read_grows(result: Result, setting: str, x: int, start: str = SMALL) -> Reading:
    """At a small start and the least depth, the time to fit grows with complexity.

    holds          the interval of the ratio is above MORE
    opposite       it is below 1 / MORE
    does not hold  it is below MORE
    """
    return _read_growth(result, x, start, _judge_growth)


def read_flat(result: Result, setting: str, x: int) -> Reading:
    """At a large start and the least depth it does not.

    holds          the interval of the ratio is between 1 / MORE and MORE
    does not hold  it is outside
    """
    return _read_growth(result, x, LARGE, _judge_flat)


def read_less_with_depth(result: Result, setting: str, x: int) -> Reading:
    """At a small start, time grows by a larger factor at the least depth.

    holds, opposite  the interval of ratio (least depth) / ratio (most) is above,
                     below 1
    undecided        otherwise, or if a network never fits
    """
    least = result.depth_M.min()
    most = result.depth_M.max()
    ends = find_ends(result.members)
    if least == most or ends is None:
        return undecided('one depth or one gamma only', null=_NULL)
    shallow = _divide_times(result, x, ends.small, least)
    deep = _divide_times(result, x, ends.small, most)
    names = (f'depth {least}', f'depth {most}')
    return _compare_growths(shallow, deep, names)


def read_more_when_small(result: Result, setting: str, x: int) -> Reading:
    """At the least depth, time grows by a larger factor at a small start.

    As `read_less_with_depth`, of small / large.
    """
    ends = find_ends(result.members)
    if ends is None:
        return undecided('one gamma only', null=_NULL)
    depth = result.depth_M.min()
    small = _divide_times(result, x, ends.small, depth)
    large = _divide_times(result, x, ends.large, depth)
    names = (format_gamma(ends.small), format_gamma(ends.large))
    return _compare_growths(small, large, names)


def read_pairs_near(result: Result, setting: str) -> Reading:
    """One wrong pair, a small start: pairs of its two anchors are learned later.

    The mean epoch of pairs made of the wrong pair's anchors alone, by that of all
    others, at the least depth.

    holds, opposite  the interval is above, below 1
    undecided        otherwise, or if a pair is never learned
    """
    ends = find_ends(result.members)
    if ends is None:
        return undecided('one gamma only', null=_NULL)
    is_here_M = _select(result, ends.small, result.depth_M.min(), 1)
    ratios = []
    for m in np.flatnonzero(is_here_M):
        is_near_A = shares_anchor(result.pairs_A2, result.is_wrong_MA[m])
        epoch_A = result.pair_epoch_MA[m]
        near = epoch_A[is_near_A].mean()
        others = epoch_A[~is_near_A].mean()
        ratios.append(near / others)
    if not ratios:
        return undecided('no member with one wrong pair', null=_NULL)
    found = average_ratios(np.array(ratios))
    return conclude_seeds(
        judge(found, 1, opposite=1),
        number=f'epoch of 99 %: ratio {format_mean(found)}',
        null=_NULL,
        note=f'{format_gamma(ends.small)}: {_describe(result, is_here_M)}',
        values=np.array(ratios),
    )


def _judge_growth(found: Mean) -> Verdict:
    return judge(found, MORE, opposite=1 / MORE)


def _judge_flat(found: Mean) -> Verdict:
    if found.low > 1 / MORE and found.high < MORE:
        return HOLDS
    is_outside = found.low >= MORE or found.high <= 1 / MORE
    return DOES_NOT_HOLD if is_outside else UNDECIDED


class Growth(NamedTuple):
    """Times with the most wrong pairs by those with the fewest, seed by seed."""

    seed: np.ndarray
    ratio: np.ndarray  # [seed]; NaN where neither fits
    bound: np.ndarray  # 1: the ratio is at least so large, -1: at most; 0: exact

    @property
    def mean(self) -> Mean:
        """The geometric mean over seeds."""
        return average_ratios(self.ratio)

    def __str__(self) -> str:
        """'1.50 [1.40, 1.60]', with a sign before a bound."""
        sign = ''
        if (self.bound > 0).any():
            sign = '≥ '
        if (self.bound < 0).any():
            sign = '≤ '
        return sign + format_mean(self.mean)


def _read_growth(
    result: Result, x: int, start: str, rule: Callable[[Mean], Verdict]
) -> Reading:
    """A verdict at the least depth; the growths at the others are in the note."""
    ends = find_ends(result.members)
    if ends is None:
        return undecided('one gamma only', null=_NULL)
    gamma = getattr(ends, start)
    least, *deeper = np.unique(result.depth_M).tolist()
    growth = _divide_times(result, x, gamma, least)
    verdict = rule(growth.mean)
    why = 'the interval covers a border'
    is_safe = verdict is HOLDS and rule is _judge_growth and (growth.bound >= 0).all()
    if growth.bound.any() and not is_safe:
        verdict = UNDECIDED
        why = f'{np.count_nonzero(growth.bound)} networks never fit'

    is_here_M = result.members['gamma'] == gamma
    is_here_M &= result.depth_M == least
    most = result.complexity_M.max()
    fewest = result.complexity_M.min()
    notes = [
        f'{format_gamma(gamma)}: {_describe(result, is_here_M)}',
        f'{most} wrong pairs by {fewest}',
    ]
    for depth in deeper:
        of_depth = _divide_times(result, x, gamma, depth)
        notes.append(f'depth {depth}: {of_depth}')
    epochs = _describe_epochs(result, x, gamma, least)
    return conclude_seeds(
        verdict,
        number=f'{epochs}; ratio depth {least}: {growth}',
        null=f'{_NULL}; grows: above {MORE:g}',
        note='; '.join(notes),
        values=growth.ratio,
        why=why,
    )


def _compare_growths(first: Growth, second: Growth, names: tuple[str, str]) -> Reading:
    """The first growth by the second, seed by seed."""
    i, j = match_seeds(first.seed, second.seed)
    quotient = first.ratio[i] / second.ratio[j]
    found = average_ratios(quotient)
    verdict = judge(found, 1, opposite=1)
    why = 'the interval covers 1'
    if first.bound.any() or second.bound.any():
        verdict = UNDECIDED
        why = 'a network never fits'
    growths = f'{names[0]}: {first}, {names[1]}: {second}'
    return conclude_seeds(
        verdict,
        number=f'{growths}; quotient {format_mean(found)}',
        null='quotient 1',
        note=f'{len(quotient)} seeds',
        values=quotient,
        why=why,
    )


def _divide_times(result: Result, x: int, gamma: float, depth: int) -> Growth:
    """The growth at one gamma and depth; the last epoch stands for never."""
    most = result.complexity_M.max()
    fewest = result.complexity_M.min()
    with_most = np.flatnonzero(_select(result, gamma, depth, most))
    with_fewest = np.flatnonzero(_select(result, gamma, depth, fewest))
    seed_M = result.members['seed']
    with_most, with_fewest = pair_seeds(seed_M, with_most, with_fewest)

    epoch_M = result.epoch_MX[:, x]
    is_never_M = np.isnan(epoch_M)
    epoch_M = np.where(is_never_M, result.last_epoch, epoch_M)
    ratio = epoch_M[with_most] / epoch_M[with_fewest]
    lacks_above = is_never_M[with_most]
    lacks_below = is_never_M[with_fewest]
    ratio[lacks_above & lacks_below] = np.nan
    bound = lacks_above.astype(int) - lacks_below.astype(int)
    return Growth(seed_M[with_most], ratio, bound)


def _select(result: Result, gamma: float, depth: int, level: int) -> np.ndarray:
    is_here_M = result.members['gamma'] == gamma
    is_here_M &= result.depth_M == depth
    is_here_M &= result.complexity_M == level
    return is_here_M


def _describe_epochs(result: Result, x: int, gamma: float, depth: int) -> str:
    """'epochs 1.2, 1.4, 1.9 with 0, 1, 5 wrong pairs'."""
    means = []
    names = []
    for level in np.unique(result.complexity_M).tolist():
        is_here_M = _select(result, gamma, depth, level)
        epochs = result.epoch_MX[is_here_M, x]
        if len(epochs) and np.isfinite(epochs).all():
            means.append(f'{epochs.mean():.2f}')
        else:
            means.append('–')  # there is none, or one never fits
        names.append(str(level))
    return f'epochs {", ".join(means)} with {", ".join(names)} wrong pairs'


def _describe(result: Result, is_here_M: np.ndarray) -> str:
    return describe_members(result.members, is_here_M)
