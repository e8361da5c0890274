"""Claims about the time to fit (P1 v1 Sec 6, P3 Fig 8; PAPERS 1.5, 3.3).

A ratio compares the most wrong pairs with none, seed by seed. A network that never fits
bounds a ratio; only a bound on the right side decides. Convergence is not required:
what has been fitted was fitted then, whatever training does later.
"""

import numpy as np

from analysis.families.readings.pairs import decide, describe_members, find_ends
from analysis.families.readings.pairs import pair_seeds as match
from analysis.fitting_time import Result, shares_anchor
from analysis.learning_order import average_ratios
from analysis.members.statistics import Mean
from analysis.report.readings.borders import format_mean, judge
from analysis.report.readings.reading import Reading, format_gamma, undecided
from analysis.report.verdicts import DOES_NOT_HOLD, HOLDS, UNDECIDED, Verdict

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
    depths = np.unique(result.depth_M)
    if len(depths) < 2 or find_ends(result.members) is None:
        return undecided('one depth or one gamma only', null=_NULL)
    gamma = find_ends(result.members).small
    places = [(gamma, depths[0]), (gamma, depths[-1])]
    return _compare_ratios(result, x, places, f'depth {depths[0]}', f'{depths[-1]}')


def read_more_when_small(result: Result, setting: str, x: int) -> Reading:
    """At the least depth, time grows by a larger factor at a small start.

    As `read_less_with_depth`, of small / large.
    """
    ends = find_ends(result.members)
    if ends is None:
        return undecided('one gamma only', null=_NULL)
    depth = result.depth_M.min()
    places = [(ends.small, depth), (ends.large, depth)]
    names = (format_gamma(ends.small), format_gamma(ends.large))
    return _compare_ratios(result, x, places, *names)


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
        ratios.append(epoch_A[is_near_A].mean() / epoch_A[~is_near_A].mean())
    if not ratios:
        return undecided('no member with one wrong pair', null=_NULL)
    found = average_ratios(np.array(ratios))
    return decide(
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


def _read_growth(result: Result, x: int, start: str, rule) -> Reading:
    """A verdict at the least depth; the ratios at the others are in the note."""
    ends = find_ends(result.members)
    if ends is None:
        return undecided('one gamma only', null=_NULL)
    gamma = getattr(ends, start)
    depths = np.unique(result.depth_M)
    texts = []
    for depth in depths:
        ratio, bound = _divide_times(result, x, gamma, depth)
        sign = {1: '≥ ', -1: '≤ ', 0: ''}[_find_sign(bound)]
        found = average_ratios(ratio)
        texts.append(f'depth {depth}: {sign}{format_mean(found)}')
    ratio, bound = _divide_times(result, x, gamma, depths[0])
    verdict = rule(average_ratios(ratio))
    why = 'the interval covers a border'
    if bound.any() and not (verdict is HOLDS and rule is _judge_growth):
        verdict = UNDECIDED
        why = f'{int((bound != 0).sum())} networks never fit'
    levels = np.unique(result.complexity_M)
    is_here_M = (result.members['gamma'] == gamma) & (result.depth_M == depths[0])
    return decide(
        verdict,
        number=f'{_describe_epochs(result, x, gamma, depths[0])}; ratio {texts[0]}',
        null=f'{_NULL}; grows: above {MORE:g}',
        note='; '.join(
            [
                f'{format_gamma(gamma)}: {_describe(result, is_here_M)}',
                f'{levels[-1]} wrong pairs by {levels[0]}',
                *texts[1:],
            ]
        ),
        values=ratio,
        why=why,
    )


def _compare_ratios(
    result: Result, x: int, places: list, first: str, second: str
) -> Reading:
    """Ratio at the first (gamma, depth) by that at the second, seed by seed."""
    ratios, bounds = [], []
    for gamma, depth in places:
        ratio, bound = _divide_times(result, x, gamma, depth)
        ratios.append(ratio)
        bounds.append(bound)
    number = min(map(len, ratios))
    quotient = ratios[0][:number] / ratios[1][:number]
    found = average_ratios(quotient)
    verdict = judge(found, 1, opposite=1)
    why = 'the interval covers 1'
    if any(bound.any() for bound in bounds):
        verdict = UNDECIDED
        why = 'a network never fits'
    growths = [format_mean(average_ratios(ratio)) for ratio in ratios]
    return decide(
        verdict,
        number=f'{first}: {growths[0]}, {second}: {growths[1]}; quotient '
        f'{format_mean(found)}',
        null='quotient 1',
        note=f'{number} seeds',
        values=quotient,
        why=why,
    )


def _divide_times(
    result: Result, x: int, gamma: float, depth: int
) -> tuple[np.ndarray, np.ndarray]:
    """(epochs with the most wrong pairs by those with the fewest, bounds), [seed].

    A bound is 1 where the ratio is at least so large, -1 where at most; NaN where
    neither fits.
    """
    levels = np.unique(result.complexity_M)
    is_many_M = _select(result, gamma, depth, levels[-1])
    is_few_M = _select(result, gamma, depth, levels[0])
    many, few = match(result.members, is_many_M, is_few_M)
    many_epochs = result.epoch_MX[many, x]
    few_epochs = result.epoch_MX[few, x]
    bound = np.isnan(many_epochs).astype(int) - np.isnan(few_epochs).astype(int)
    last = result.last_epoch
    ratio = np.nan_to_num(many_epochs, nan=last) / np.nan_to_num(few_epochs, nan=last)
    ratio[np.isnan(many_epochs) & np.isnan(few_epochs)] = np.nan
    return ratio, bound


def _find_sign(bound: np.ndarray) -> int:
    """1 or -1 if a ratio is bounded, 0 if none is."""
    return int(bound[np.abs(bound).argmax()]) if len(bound) else 0


def _select(result: Result, gamma: float, depth: int, level: int) -> np.ndarray:
    is_here_M = (result.members['gamma'] == gamma) & (result.depth_M == depth)
    return is_here_M & (result.complexity_M == level)


def _describe_epochs(result: Result, x: int, gamma: float, depth: int) -> str:
    """'epochs 1.2, 1.4, 1.9 with 0, 1, 5 wrong pairs'."""
    levels = np.unique(result.complexity_M)
    means = []
    for level in levels:
        epoch = result.epoch_MX[_select(result, gamma, depth, level), x]
        mean = epoch.mean() if np.isfinite(epoch).all() else np.nan
        means.append('–' if np.isnan(mean) else f'{mean:.2f}')
    names = ', '.join(map(str, levels))
    return f'epochs {", ".join(means)} with {names} wrong pairs'


def _describe(result: Result, is_here_M: np.ndarray) -> str:
    return describe_members(result.members, is_here_M)
