"""What the moments of the losses say about a claim of P2 (Figs 3, 8 left)."""

from typing import NamedTuple

import numpy as np

from analysis import learning_order
from analysis.bias.readings.seeds import (
    LARGE_START,
    MOMENTS,
    REQUIRED,
    SMALL_START,
    Seeds,
    decide,
    select_seeds,
)
from analysis.learning_order import MEMORY, TEST, TRAIN
from analysis.members.seeds import pair_seeds
from analysis.members.statistics import Mean, average_ratios
from analysis.old_claims.borders import estimate, format_mean, judge, negate
from analysis.old_claims.reading import Reading, undecided
from analysis.old_claims.verdicts import (
    DOES_NOT_HOLD,
    HOLDS,
    OPPOSITE,
    UNDECIDED,
    Verdict,
)

MUCH = 1.5  # times: a moment that much later is "much later"
NEARLY = 1.25  # times: moments that near are "nearly identical"
UNCHANGED = 0.1  # accuracy on the test combinations that is still none
LEARNED = 0.9
_CHANCE = 'accuracy 0.01 by chance'
_RATIO_NULL = 'ratio 1'


class Weighed(NamedTuple):
    """A verdict on ratios some of which are bounds."""

    verdict: Verdict
    sign: str  # before the mean ratio: '', '≥ ' or '≤ '
    why: str  # if it is undecided


def read_nearly_identical(result: learning_order.Result, setting: str) -> Reading:
    """At a large start the losses of memory and reasoning fall at the same time.

    holds          the interval of the ratio is within NEARLY of 1
    does not hold  it is outside
    undecided      otherwise; a loss that never falls to its moment
    """
    seeds = select_seeds(result.members, setting, LARGE_START, waiver=MOMENTS)
    found = average_ratios(result.ratio_MP[seeds.index, TRAIN])
    lowest = 1 / NEARLY
    highest = NEARLY
    verdict = UNDECIDED
    if found.low > lowest and found.high < highest:
        verdict = HOLDS
    if found.low >= highest or found.high <= lowest:
        verdict = DOES_NOT_HOLD
    if result.bound_MP[seeds.index, TRAIN].any():
        verdict = UNDECIDED  # a bound has no other end
    return _decide_ratio(result, seeds, TRAIN, verdict, found)


def read_sums_first(
    result: learning_order.Result, setting: str, probe: int = TRAIN
) -> Reading:
    """At a small start the loss of reasoning falls much earlier than that of memory.

    holds          the interval of the ratio is above MUCH
    opposite       it is below 1
    does not hold  it is below MUCH
    undecided      otherwise; a bound on a ratio that would not decide
    """
    seeds = select_seeds(result.members, setting, SMALL_START, waiver=MOMENTS)
    found = average_ratios(result.ratio_MP[seeds.index, probe])
    verdict = judge(found, MUCH, opposite=1)
    return _decide_ratio(result, seeds, probe, verdict, found)


def read_bias_grows(result: learning_order.Result, setting: str) -> Reading:
    """The ratio is larger at the largest gamma than at the smallest, seed by seed.

    holds, opposite  the interval of the quotient of the ratios is above, below 1
    undecided        otherwise; a ratio that is only bounded; one gamma only
    """
    ends = _select_ends(result, setting)
    if ends is None:
        return undecided('one gamma only', null='quotient 1')
    small, large = ends
    seed_M = result.members['seed']
    at_small, at_large = pair_seeds(seed_M, small.index, large.index)
    ratio_small = result.ratio_MP[at_small, TRAIN]
    ratio_large = result.ratio_MP[at_large, TRAIN]
    quotient = ratio_small / ratio_large
    found = average_ratios(quotient)
    verdict = judge(found, 1, opposite=1)
    # A quotient at a bound of memory's moment at the small start is itself a bound.
    bound_small = result.bound_MP[at_small, TRAIN]
    bound_large = result.bound_MP[at_large, TRAIN]
    is_bounded = bound_small.any() or bound_large.any()
    is_lower_bound = (bound_small >= 0).all() and not bound_large.any()
    if is_bounded and not (is_lower_bound and verdict is HOLDS):
        verdict = UNDECIDED
    at = format_mean(average_ratios(ratio_small))
    than = format_mean(average_ratios(ratio_large))
    return decide(
        [small, large],
        verdict,
        number=f'memory / reasoning: {at} against {than}; quotient '
        f'{format_mean(found)}',
        null='quotient 1',
        values=quotient,
        why='the interval covers 1, or a loss never falls',
    )


def read_test_unlearned(result: learning_order.Result, setting: str) -> Reading:
    """At a large start combinations that were never trained are not answered.

    holds          the accuracy at the end is surely below UNCHANGED
    opposite       surely above LEARNED
    does not hold  surely between
    """
    seeds = select_seeds(result.members, setting, LARGE_START, waiver=REQUIRED)
    accuracy = result.accuracy_MSP[seeds.index, -1, TEST]
    found = estimate(accuracy)
    verdict = judge(negate(found), -UNCHANGED, opposite=-LEARNED)
    number = f'test accuracy {format_mean(found)}'
    return decide(seeds, verdict, number, _CHANCE, accuracy)


def read_test_learned(result: learning_order.Result, setting: str) -> Reading:
    """At a small start combinations that were never trained are answered rightly.

    As `read_test_unlearned`, the other way round.
    """
    seeds = select_seeds(result.members, setting, SMALL_START, waiver=REQUIRED)
    accuracy = result.accuracy_MSP[seeds.index, -1, TEST]
    found = estimate(accuracy)
    verdict = judge(found, LEARNED, opposite=UNCHANGED)
    number = f'test accuracy {format_mean(found)}'
    return decide(seeds, verdict, number, _CHANCE, accuracy)


def read_near_labels(result: learning_order.Result, setting: str) -> Reading:
    """Memory labels near the key are learned earlier than uniform ones.

    Of runs with both; the moments of memory's loss, seed by seed, at a small start.

    holds, opposite  the interval of uniform / near is above, below 1
    undecided        otherwise; a bound on a ratio that would not decide
    """
    names = result.members['setting']
    by_labels = {}
    for labels in ('uniform', 'near'):
        of_labels = names[np.char.find(names, f'memory_labels={labels}') >= 0]
        if len(of_labels) == 0:
            return undecided(f'no member with {labels} labels', null=_RATIO_NULL)
        by_labels[labels] = select_seeds(
            result.members, of_labels[0], SMALL_START, waiver=MOMENTS
        )
    uniform, near = by_labels['uniform'], by_labels['near']
    seed_M = result.members['seed']
    at_uniform, at_near = pair_seeds(seed_M, uniform.index, near.index)
    uniform_M = result.moment_MP[at_uniform, MEMORY]
    near_M = result.moment_MP[at_near, MEMORY]
    moment_M2 = np.stack([uniform_M, near_M], 1)
    ratio_M2, bound_M2 = learning_order.divide_moments(
        moment_M2, float(result.step_S[-1])
    )
    ratio_M = ratio_M2[:, 1]
    bound_M = bound_M2[:, 1]
    found = average_ratios(ratio_M)
    verdict = judge(found, 1, opposite=1)
    weighed = _weigh_bounds(verdict, bound_M, 'uniform labels', 'near labels')
    return decide(
        [uniform, near],
        weighed.verdict,
        number=f'uniform {describe_moments(uniform_M)}, near '
        f'{describe_moments(near_M)}; ratio {weighed.sign}{format_mean(found)}',
        null=_RATIO_NULL,
        values=ratio_M,
        why=weighed.why,
    )


def describe_moments(moment_M: np.ndarray) -> str:
    """'at step 9,126 (2 of 3 never)': the mean of those that come."""
    is_known_M = np.isfinite(moment_M)
    if not is_known_M.any():
        return 'never'
    text = f'at step {moment_M[is_known_M].mean():,.0f}'
    num_never = np.count_nonzero(~is_known_M)
    if num_never:
        text += f' ({num_never} of {len(moment_M)} never)'
    return text


def _select_ends(
    result: learning_order.Result, setting: str
) -> tuple[Seeds, Seeds] | None:
    """(at the largest gamma, at the smallest); None if there is one gamma only."""
    small = select_seeds(result.members, setting, SMALL_START, waiver=MOMENTS)
    large = select_seeds(result.members, setting, LARGE_START, waiver=MOMENTS)
    if small.gamma == large.gamma:
        return None
    return small, large


def _decide_ratio(
    result: learning_order.Result,
    seeds: Seeds,
    probe: int,
    verdict: Verdict,
    found: Mean,
) -> Reading:
    """A verdict on ratios, undecided where a bound could turn it."""
    bound_M = result.bound_MP[seeds.index, probe]
    weighed = _weigh_bounds(verdict, bound_M, 'memory', 'reasoning')
    memory = describe_moments(result.moment_MP[seeds.index, MEMORY])
    reasoning = describe_moments(result.moment_MP[seeds.index, probe])
    name = learning_order.PROBES[probe].replace('_', ' ')
    return decide(
        seeds,
        weighed.verdict,
        number=f'memory {memory}, {name} {reasoning}; '
        f'ratio {weighed.sign}{format_mean(found)}',
        null=_RATIO_NULL,
        values=result.ratio_MP[seeds.index, probe],
        note=f'loss below {result.threshold:.2f} nats',
        why=weighed.why,
    )


def _weigh_bounds(
    verdict: Verdict, bound_M: np.ndarray, upper: str, lower: str
) -> Weighed:
    """The verdict on ratios upper / lower, undecided where a bound could turn it.

    Args:
      bound_M: as in `learning_order.divide_moments`.
    """
    num_lower = np.count_nonzero(bound_M > 0)
    num_upper = np.count_nonzero(bound_M < 0)
    why = 'an interval covers its border'
    sign = ''
    if num_lower:
        sign = '≥ '
        if verdict is not HOLDS:
            verdict = UNDECIDED
            why = f'the loss of {upper} never falls in {num_lower} members'
    if num_upper:
        sign = '≤ '
        if verdict not in (DOES_NOT_HOLD, OPPOSITE) or num_lower:
            verdict = UNDECIDED
            why = f'the loss of {lower} never falls in {num_upper} members'
    return Weighed(verdict, sign, why)
