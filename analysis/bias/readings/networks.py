"""What attention, paths and answers say about a claim of P2 (Figs 6, 8; theory)."""

import numpy as np

from analysis import first_attention, label_groups, theory_path
from analysis.bias.readings.seeds import (
    AT_A_STEP,
    LARGE_START,
    SMALL_START,
    decide,
    select_seeds,
)
from analysis.bias.tokens import SINGLE_KINDS
from analysis.members.seeds import pair_seeds
from analysis.old_claims.borders import (
    combine,
    estimate,
    format_mean,
    judge,
    negate,
)
from analysis.old_claims.reading import Reading, format_gamma, undecided
from analysis.old_claims.verdicts import OPPOSITE

NEAR_MEAN = 0.1  # total variation distance from 1/i that is about 0
LARGE = 2  # times the second singular value: the first one is much larger
ALIGNED = 0.5  # |cosine| that is "aligned"
CLEAR = 0.1  # by so much a share of attention must exceed both nulls
INSIDE = 0.95  # of the answers: "never leave" their range
UNLEARNED = 0.5  # accuracy up to which answers are early ones


def read_average(result: first_attention.Result, setting: str) -> Reading:
    """At a small start layer 1 averages: its attention is 1/i, at the early step.

    holds          the distance from 1/i is below NEAR_MEAN
    opposite       it is above that of random rows
    does not hold  otherwise above NEAR_MEAN
    """
    seeds = select_seeds(result.members, setting, SMALL_START, waiver=AT_A_STEP)
    early = _find_early(result)
    distance = result.distance[seeds.index, early]
    before = result.distance[seeds.index, 0].mean()
    random = result.random_distance_M[seeds.index].mean()
    found = estimate(distance)
    large = select_seeds(result.members, setting, LARGE_START, waiver=AT_A_STEP)
    at_large = result.distance[large.index, early].mean()
    return decide(
        seeds,
        judge(negate(found), -NEAR_MEAN, opposite=-random),
        number=f'distance from 1/i {format_mean(found)} at step {result.early:,}',
        null=f'random rows {random:.2f}; untrained {before:.2f}',
        values=distance,
        note=f'{format_gamma(large.gamma)}: {at_large:.2f}',
    )


def read_one_large_value(result: first_attention.Result, setting: str) -> Reading:
    """W_V of layer 1 has one singular value much larger than all others, early.

    holds          the first is above LARGE times the second
    does not hold  it is below
    """
    seeds = select_seeds(result.members, setting, SMALL_START, waiver=AT_A_STEP)
    early = _find_early(result)
    ratio = result.sigma_ratio[seeds.index, early]
    found = estimate(ratio)
    before = result.sigma_ratio[seeds.index, 0].mean()
    return decide(
        seeds,
        judge(found, LARGE),
        number=f'first by second {format_mean(found)} at step {result.early:,}',
        null=f'untrained {before:.2f}',
        values=ratio,
        note=describe_largest(result, seeds.index),
    )


def describe_largest(result: first_attention.Result, index: np.ndarray) -> str:
    """The step at which the mean ratio of the singular values is largest."""
    ratio_S = result.sigma_ratio[index].mean(0)
    step = result.step_S[ratio_S.argmax()]
    return f'largest at step {step:,}: {ratio_S.max():.2f}'


def read_alignment(result: first_attention.Result, setting: str) -> Reading:
    """W_V's first vector lies along reasoning anchors, not along memory ones; early.

    holds          the mean |cosine| with reasoning anchors is above ALIGNED, and with
                   memory anchors it is below the 95 % quantile of random directions
    opposite       the other way round
    does not hold  otherwise, if one of the two is surely false
    """
    seeds = select_seeds(result.members, setting, SMALL_START, waiver=AT_A_STEP)
    early = _find_early(result)
    alignment = result.alignment[seeds.index, early, :, 0]
    memory = estimate(alignment[:, SINGLE_KINDS.index('memory')])
    reasoning = estimate(alignment[:, SINGLE_KINDS.index('reasoning')])
    keys = alignment[:, SINGLE_KINDS.index('keys')].mean()
    mean, bound = result.random_alignment
    parts = [judge(reasoning, ALIGNED), judge(negate(memory), -bound)]
    verdict = combine(parts)
    if memory.low > ALIGNED and reasoning.high < bound:
        verdict = OPPOSITE
    return decide(
        seeds,
        verdict,
        number=f'|cosine|: reasoning {format_mean(reasoning)}, memory '
        f'{format_mean(memory)} at step {result.early:,}',
        null=f'random directions {mean:.2f}, 95 % below {bound:.2f}; keys {keys:.2f}',
        values=alignment,
    )


def read_key(result: first_attention.Result, setting: str) -> Reading:
    """Layer 2 attends from the last position to the key, and finds it by position.

    At the last snapshot.

    holds          the share of attention is by CLEAR above 1/T and above that of the
                   untrained network, and by CLEAR above what is left of it when all
                   positions are alike
    opposite       it is below 1/T, and below what is left
    does not hold  otherwise, if one of the two is surely false
    """
    seeds = select_seeds(result.members, setting, SMALL_START, waiver=AT_A_STEP)
    key = result.key[seeds.index, -1]
    chance = result.chance_M[seeds.index]
    before = result.key[seeds.index, 0]
    blind = result.key_without_positions[seeds.index]
    above_null = estimate(key - np.maximum(chance, before))
    above_blind = estimate(key - blind)
    parts = [
        judge(above_null, CLEAR, opposite=0),
        judge(above_blind, CLEAR, opposite=0),
    ]
    share_of_key = format_mean(estimate(key))
    share_of_blind = format_mean(estimate(blind))
    share_Q = result.key_by_position[seeds.index].mean(0)
    listed = ', '.join(f'{share:.2f}' for share in share_Q)
    sources = describe_sources(result, seeds.index)
    return decide(
        seeds,
        combine(parts),
        number=f'attention to the key {share_of_key}; '
        f'without positions {share_of_blind}',
        null=f'chance {chance.mean():.2f}; untrained {before.mean():.2f}',
        values=key - blind,
        note=f'step {result.step_S[-1]:,}; by position of the key: {listed}; {sources}',
    )


def describe_sources(result: first_attention.Result, index: np.ndarray) -> str:
    """What the last position reads most in each layer: 'layer 1 reads noise 0.61'."""
    words = []
    share_NJ = result.sources[index].mean(0)
    for layer, share_J in enumerate(share_NJ, start=1):
        if np.isfinite(share_J).all():
            role = result.role_names[share_J.argmax()]
            words.append(f'layer {layer} reads most of {role} ({share_J.max():.2f})')
    return ', '.join(words)


def read_flow_lasts(result: theory_path.Result, setting: str, flow: str) -> Reading:
    """A flow predicts the embedding for longer at a small start than at a large one.

    holds, opposite  the interval of the difference of the steps, seed by seed, is
                     above, below 0
    undecided        otherwise; one gamma only
    """
    small = select_seeds(result.members, setting, SMALL_START, waiver=AT_A_STEP)
    large = select_seeds(result.members, setting, LARGE_START, waiver=AT_A_STEP)
    if small.gamma == large.gamma:
        return undecided('one gamma only', null='difference 0')
    f = result.flows.index(flow)
    until = result.holds_until[:, f, 0].astype(float)
    seed_M = result.members['seed']
    at_small, at_large = pair_seeds(seed_M, small.index, large.index)
    until_small = until[at_small]
    until_large = until[at_large]
    difference = until_small - until_large
    verdict = judge(estimate(difference), 0, opposite=0)
    at = format_mean(estimate(until_small), digits=0)
    than = format_mean(estimate(until_large), digits=0)
    return decide(
        [small, large],
        verdict,
        number=f'until step {at} against {than}',
        null='difference 0',
        values=difference,
        note=f'error at most {result.limit:g} beside that of the batches',
    )


def read_own_range(result: label_groups.Result, setting: str) -> Reading:
    """Early answers stay in the range of their group, and groups are told apart.

    Over the snapshots from the early one to the last before a group has an accuracy of
    UNLEARNED; the lowest share of all groups counts. The null is how many answers to
    the widest group lie in the ranges of the others.

    holds          the share is above INSIDE, and by CLEAR above the null
    opposite       the share is below that of uniform answers
    does not hold  otherwise, if one of the two is surely false
    """
    seeds = select_seeds(result.members, setting, SMALL_START, waiver=AT_A_STEP)
    groups = np.arange(len(result.ranges))
    widest = label_groups.find_widest(result)
    others = groups[groups != widest]
    lowest = []
    excess = []
    for m in seeds.index:
        is_early_S = find_early_answers(result, m)
        share = result.share[m, is_early_S]  # [early S, group, range]
        own = share[:, groups, groups]
        of_widest = share[:, widest, others]
        lowest.append(own.min())
        excess.append((own[:, others] - of_widest).mean())
    found = estimate(lowest)
    more = estimate(excess)
    chance = result.chance.min()
    verdict = combine([judge(found, INSIDE), judge(more, CLEAR)])
    if found.high < chance:
        verdict = OPPOSITE
    is_early_S = find_early_answers(result, seeds.index[0])
    early_steps = result.step_S[is_early_S]
    inside = describe_inside(result, seeds.index)
    return decide(
        seeds,
        verdict,
        number=f'lowest share {format_mean(found)}; by {format_mean(more)} above '
        'answers to the widest group',
        null=f'0 above; uniform answers {chance:.2f}',
        values=np.array([lowest, excess]).T,
        note=f'steps {early_steps[0]:,} to {early_steps[-1]:,} (first seed); {inside}',
    )


def describe_inside(result: label_groups.Result, index: np.ndarray) -> str:
    """Since when the mean share of every group is above INSIDE."""
    groups = np.arange(len(result.ranges))
    share_MSG = result.share[index][:, :, groups, groups]
    share_SG = share_MSG.mean(0)
    is_inside_S = (share_SG > INSIDE).all(-1)
    outside = np.flatnonzero(~is_inside_S)
    first = 0  # from here on every share stays inside
    if len(outside):
        first = outside[-1] + 1
    if first == len(is_inside_S):
        return f'not above {INSIDE:g} at the end'
    return f'above {INSIDE:g} from step {result.step_S[first]:,} on'


def find_early_answers(result: label_groups.Result, member: int) -> np.ndarray:
    """Which snapshots are early ones of a member, [S]; the early step always is."""
    is_later_S = result.step_S >= result.early
    is_learned_S = (result.accuracy[member] >= UNLEARNED).any(-1)
    has_learned_S = np.logical_or.accumulate(is_learned_S & is_later_S)
    is_early_S = is_later_S & ~has_learned_S
    return is_early_S | (result.step_S == result.early)


def _find_early(result: first_attention.Result) -> int:
    """Where the early step is along S."""
    return result.step_S.tolist().index(result.early)
