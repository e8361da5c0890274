"""What the embedding says about a claim of P2 (Figs 4, 5, 14)."""

import numpy as np

from analysis import anchor_cosines, embedding_pca, label_law
from analysis.anchor_cosines import ANCHORS, UNTRAINED
from analysis.bias.readings.seeds import (
    AT_A_STEP,
    LARGE_START,
    SMALL_START,
    decide,
    select_seeds,
)
from analysis.bias.tokens import KINDS, SINGLE_KINDS
from analysis.old_claims.borders import (
    combine,
    estimate,
    format_mean,
    judge,
    negate,
)
from analysis.old_claims.reading import Reading
from analysis.old_claims.verdicts import OPPOSITE
from analysis.theory.predictions import PREDICTIONS

CLEAR = 0.1  # by so much a correlation must exceed that of the untrained network
ALIKE = 0.8  # mean cosine that is "highly similar"
ORTHOGONAL = 0.2  # mean |cosine| that is about 0
LOWEST = -0.9  # a rank correlation that is surely an order
HIGHEST = 0.95  # the same of the larger one of two components
STRONG = 0.7  # correlation that is "strong agreement"
TOGETHER = 0.5  # of the spread of all tokens: memory anchors that lie together
_MEMORY = ANCHORS.index('memory')
_REASONING = ANCHORS.index('reasoning')


def read_reasoning_order(
    result: anchor_cosines.Result, setting: str, time: str
) -> Reading:
    """The cosine of two reasoning anchors falls with their distance.

    holds          the rank correlation is below the 5 % quantile of random orders, and
                   by CLEAR below that of the untrained network
    opposite       it is above the quantile of the other side
    does not hold  otherwise, if it is surely on the wrong side

    Args:
      time: 'early' or 'late'.
    """
    seeds = select_seeds(result.members, setting, SMALL_START, waiver=AT_A_STEP)
    rho_MS = result.rho[seeds.index, :, _REASONING]
    bound_MS = result.rho_bound[seeds.index, :, _REASONING]
    step, s = _find_time(result, time)
    rho = rho_MS[:, s]
    bound = bound_MS[:, s]
    before = rho_MS[:, UNTRAINED]
    needed = np.minimum(bound, before - CLEAR)
    # No correlation is below -1, however ordered the untrained network is.
    needed = np.maximum(needed, LOWEST)
    verdict = judge(estimate(needed - rho), 0)
    if estimate(rho + bound).low > 0:
        verdict = OPPOSITE
    is_ordered_S = rho_MS.mean(0) < bound_MS.mean(0)
    mean = format_mean(estimate(rho))
    ordered_steps = describe_steps(result.step_S, is_ordered_S)
    return decide(
        seeds,
        verdict,
        number=f'ρ of cosine and distance {mean} at step {step:,}',
        null=f'5 % of random orders below {bound.mean():.2f}; '
        f'untrained {before.mean():.2f}',
        values=rho,
        note=f'below them {ordered_steps}',
    )


def read_memory_alike(
    result: anchor_cosines.Result, setting: str, time: str
) -> Reading:
    """The embeddings of memory anchors are nearly parallel.

    holds          the mean cosine is above ALIKE
    opposite       it is below ORTHOGONAL
    does not hold  it is surely between
    """
    seeds = select_seeds(result.members, setting, SMALL_START, waiver=AT_A_STEP)
    mean_MS = result.mean[seeds.index, :, _MEMORY]
    step, s = _find_time(result, time)
    found = estimate(mean_MS[:, s])
    before = mean_MS[:, UNTRAINED].mean()
    mean_S = mean_MS.mean(0)
    largest_at = result.step_S[mean_S.argmax()]
    return decide(
        seeds,
        judge(found, ALIKE, opposite=ORTHOGONAL),
        number=f'mean cosine {format_mean(found)} at step {step:,}',
        null=f'untrained {before:.2f}',
        values=mean_MS,
        note=f'largest {mean_S.max():.2f} at step {largest_at:,}',
    )


def read_memory_less_distinct(
    result: anchor_cosines.Result, setting: str, time: str
) -> Reading:
    """Memory anchors are more alike than reasoning anchors.

    holds          the difference of the mean cosines is above CLEAR
    opposite       it is below -CLEAR
    does not hold  it is below CLEAR
    """
    seeds = select_seeds(result.members, setting, SMALL_START, waiver=AT_A_STEP)
    step, s = _find_time(result, time)
    memory_MS = result.mean[seeds.index, :, _MEMORY]
    reasoning_MS = result.mean[seeds.index, :, _REASONING]
    difference_MS = memory_MS - reasoning_MS
    difference = difference_MS[:, s]
    before = difference_MS[:, UNTRAINED].mean()
    found = estimate(difference)
    memory = format_mean(estimate(memory_MS[:, s]))
    reasoning = format_mean(estimate(reasoning_MS[:, s]))
    return decide(
        seeds,
        judge(found, CLEAR, opposite=-CLEAR),
        number=f'mean cosine {memory} against {reasoning}, '
        f'difference {format_mean(found)} at step {step:,}',
        null=f'difference 0; untrained {before:.2f}',
        values=difference,
    )


def read_orthogonal(result: anchor_cosines.Result, setting: str) -> Reading:
    """At a large start anchors of each kind stay orthogonal, early and late.

    holds          the mean |cosine| of both kinds is below ORTHOGONAL at both steps
    opposite       it is above ALIKE everywhere
    does not hold  otherwise, if one of them is surely above ORTHOGONAL
    """
    seeds = select_seeds(result.members, setting, LARGE_START, waiver=AT_A_STEP)
    mean_abs = result.mean_abs[seeds.index]
    before = mean_abs[:, UNTRAINED].mean()
    parts = []
    numbers = []
    for time in ('early', 'late'):
        step, s = _find_time(result, time)
        for k, kind in enumerate(ANCHORS):
            found = estimate(mean_abs[:, s, k])
            parts.append(judge(negate(found), -ORTHOGONAL, opposite=-ALIKE))
            numbers.append(f'{kind} {format_mean(found)} at step {step:,}')
    listed = ', '.join(numbers)
    return decide(
        seeds,
        combine(parts),
        number=f'mean |cosine|: {listed}',
        null=f'untrained {before:.2f}',
        values=mean_abs,
    )


def read_prediction(
    result: label_law.Result, setting: str, kind: str, prediction: str
) -> Reading:
    """The predicted cosines agree with those at the early step, over all pairs.

    holds          the correlation is above STRONG, above 95 % of random orders, and by
                   CLEAR above that of the untrained network
    opposite       it is below minus the 95 % quantile
    does not hold  otherwise, if one of the three is surely false
    """
    seeds = select_seeds(result.members, setting, SMALL_START, waiver=AT_A_STEP)
    k = KINDS.index(kind)
    p = PREDICTIONS.index(prediction)
    s = result.step_S.tolist().index(result.early)
    correlation_MS = result.correlation[seeds.index, k, p]
    correlation = correlation_MS[:, s]
    bound = result.bound[seeds.index, k, p, s]
    before = result.untrained[seeds.index, k, p]
    needed = np.maximum(bound, before + CLEAR)
    needed = np.maximum(needed, STRONG)
    verdict = judge(estimate(correlation - needed), 0)
    if estimate(correlation + bound).high < 0:
        verdict = OPPOSITE
    is_strong_S = correlation_MS.mean(0) > STRONG
    mean = format_mean(estimate(correlation))
    strong_steps = describe_steps(result.step_S, is_strong_S)
    return decide(
        seeds,
        verdict,
        number=f'r {mean} at step {result.early:,}',
        null=f'95 % of random orders below {bound.mean():.2f}; '
        f'untrained {before.mean():.2f}',
        values=correlation,
        note=f'r above {STRONG:g} {strong_steps}',
    )


def describe_steps(step_S: np.ndarray, is_so_S: np.ndarray) -> str:
    """'at no snapshot', or 'from step 926 to 12,000': the first and the last."""
    if not is_so_S.any():
        return 'at no snapshot'
    steps = step_S[is_so_S]
    return f'from step {steps[0]:,} to {steps[-1]:,}'


def read_value_order(result: embedding_pca.Result, setting: str, kind: str) -> Reading:
    """One of the first two components has a kind's tokens in numerical order.

    holds          the larger |rank correlation| of the two is above STRONG, above 95 %
                   of random orders, and by CLEAR above that of the untrained network
    does not hold  one of the three is surely false
    """
    seeds = select_seeds(result.members, setting, SMALL_START, waiver=AT_A_STEP)
    k = SINGLE_KINDS.index(kind)
    rho = result.rho[seeds.index, k].max(-1)
    bound = result.bound[k]
    before = result.untrained[seeds.index, k].max(-1)
    needed = np.maximum(bound, before + CLEAR)
    needed = np.maximum(needed, STRONG)
    # No rank correlation is above 1, however well the untrained network is ordered.
    needed = np.minimum(needed, HIGHEST)
    excess = estimate(rho - needed)
    mean = format_mean(estimate(rho))
    return decide(
        seeds,
        judge(excess, 0),
        number=f'|ρ| with the value {mean}',
        null=f'95 % of random orders below {bound:.2f}; untrained {before.mean():.2f}',
        values=rho,
        note=f'step {result.step:,}',
    )


def read_memory_together(result: embedding_pca.Result, setting: str) -> Reading:
    """Memory anchors lie together in the embedding, closer than reasoning anchors do.

    holds          their spread is below TOGETHER of that of all tokens, and below that
                   of the reasoning anchors
    opposite       it is above that of all tokens
    does not hold  otherwise, if one of the two is surely false
    """
    seeds = select_seeds(result.members, setting, SMALL_START, waiver=AT_A_STEP)
    k = SINGLE_KINDS.index('memory')
    r = SINGLE_KINDS.index('reasoning')
    memory = result.spread[seeds.index, k]
    reasoning = result.spread[seeds.index, r]
    before = result.untrained_spread[seeds.index, k].mean()
    found = estimate(memory)
    difference = estimate(reasoning - memory)
    parts = [
        judge(negate(found), -TOGETHER, opposite=-1),
        judge(difference, 0, opposite=0),
    ]
    of_reasoning = format_mean(estimate(reasoning))
    return decide(
        seeds,
        combine(parts),
        number=f'spread {format_mean(found)} of that of all tokens, reasoning '
        f'anchors {of_reasoning}',
        null=f'untrained {before:.2f}',
        values=memory,
        note=f'step {result.step:,}',
    )


def _find_time(result: anchor_cosines.Result, time: str) -> tuple[int, int]:
    """(the early or late step, where it is along S)."""
    step_of = {'early': result.early, 'late': result.late}
    step = step_of[time]
    return step, result.find_index(step)
