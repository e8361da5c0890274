"""What attention, paths and answers say about a claim of P2 (Figs 6, 8; theory)."""

import numpy as np

from analysis import first_attention, label_groups, theory_path
from analysis.bias.readings.seeds import (
    EARLY_STEPS,
    LARGE_START,
    SMALL_START,
    decide,
    select_seeds,
)
from analysis.bias.tokens import SINGLE_KINDS
from analysis.members.seeds import pair_seeds
from analysis.report.readings.borders import (
    combine,
    estimate,
    format_mean,
    judge,
    negate,
)
from analysis.report.readings.reading import Reading, format_gamma, undecided
from analysis.report.verdicts import OPPOSITE

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
    seeds = select_seeds(result.members, setting, SMALL_START, waiver=EARLY_STEPS)
    distance = result.distance[seeds.index, _at_early(result)]
    random = result.random_distance_M[seeds.index].mean()
    found = estimate(distance)
    large = select_seeds(result.members, setting, LARGE_START, waiver=EARLY_STEPS)
    at_large = result.distance[large.index, _at_early(result)].mean()
    return decide(
        seeds,
        judge(negate(found), -NEAR_MEAN, opposite=-random),
        number=f'distance from 1/i {format_mean(found)} at step {result.early:,}',
        null=f'random rows {random:.2f}; untrained '
        f'{result.distance[seeds.index, 0].mean():.2f}',
        values=distance,
        note=f'{format_gamma(large.gamma)}: {at_large:.2f}',
    )


def read_one_large_value(result: first_attention.Result, setting: str) -> Reading:
    """W_V of layer 1 has one singular value much larger than all others, early.

    holds          the first is above LARGE times the second
    does not hold  it is below
    """
    seeds = select_seeds(result.members, setting, SMALL_START, waiver=EARLY_STEPS)
    ratio = result.sigma_ratio[seeds.index, _at_early(result)]
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
    seeds = select_seeds(result.members, setting, SMALL_START, waiver=EARLY_STEPS)
    alignment = result.alignment[seeds.index, _at_early(result), :, 0]
    memory = alignment[:, SINGLE_KINDS.index('memory')]
    reasoning = alignment[:, SINGLE_KINDS.index('reasoning')]
    mean, bound = result.random_alignment
    parts = [
        judge(estimate(reasoning), ALIGNED),
        judge(negate(estimate(memory)), -bound),
    ]
    verdict = combine(parts)
    if estimate(memory).low > ALIGNED and estimate(reasoning).high < bound:
        verdict = OPPOSITE
    return decide(
        seeds,
        verdict,
        number=f'|cosine|: reasoning {format_mean(estimate(reasoning))}, memory '
        f'{format_mean(estimate(memory))} at step {result.early:,}',
        null=f'random directions {mean:.2f}, 95 % below {bound:.2f}; keys '
        f'{alignment[:, SINGLE_KINDS.index("keys")].mean():.2f}',
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
    seeds = select_seeds(result.members, setting, SMALL_START, waiver=EARLY_STEPS)
    key = result.key[seeds.index, -1]
    chance = result.chance_M[seeds.index]
    before = result.key[seeds.index, 0]
    blind = result.key_without_positions[seeds.index]
    parts = [
        judge(estimate(key - np.maximum(chance, before)), CLEAR, opposite=0),
        judge(estimate(key - blind), CLEAR, opposite=0),
    ]
    by_position = result.key_by_position[seeds.index].mean(0)
    listed = ', '.join(f'{share:.2f}' for share in by_position)
    return decide(
        seeds,
        combine(parts),
        number=f'attention to the key {format_mean(estimate(key))}; '
        f'without positions {format_mean(estimate(blind))}',
        null=f'chance {chance.mean():.2f}; untrained {before.mean():.2f}',
        values=key - blind,
        note=f'step {result.step_S[-1]:,}; by position of the key: {listed}; '
        f'{describe_sources(result, seeds.index)}',
    )


def describe_sources(result: first_attention.Result, index: np.ndarray) -> str:
    """What the last position reads most in each layer: 'layer 1 reads noise 0.61'."""
    words = []
    for layer, share_J in enumerate(result.sources[index].mean(0), start=1):
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
    small = select_seeds(result.members, setting, SMALL_START, waiver=EARLY_STEPS)
    large = select_seeds(result.members, setting, LARGE_START, waiver=EARLY_STEPS)
    if small.gamma == large.gamma:
        return undecided('one gamma only', null='difference 0')
    f = result.flows.index(flow)
    until = result.holds_until[:, f, 0].astype(float)
    seed_M = result.members['seed']
    at_small, at_large = pair_seeds(seed_M, small.index, large.index)
    difference = until[at_small] - until[at_large]
    verdict = judge(estimate(difference), 0, opposite=0)
    return decide(
        [small, large],
        verdict,
        number=f'until step {format_mean(estimate(until[at_small]), 0)} against '
        f'{format_mean(estimate(until[at_large]), 0)}',
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
    seeds = select_seeds(result.members, setting, SMALL_START, waiver=EARLY_STEPS)
    widest = label_groups.find_widest(result)
    others = [g for g in range(len(result.ranges)) if g != widest]
    lowest, excess = [], []
    for m in seeds.index:
        is_early_S = find_early_answers(result, m)
        share = result.share[m, is_early_S]
        own = share[:, range(len(result.ranges)), range(len(result.ranges))]
        lowest.append(own.min())
        excess.append((own[:, others] - share[:, widest, others]).mean())
    found = estimate(lowest)
    more = estimate(excess)
    verdict = combine([judge(found, INSIDE), judge(more, CLEAR)])
    if found.high < result.chance.min():
        verdict = OPPOSITE
    first, last = result.step_S[find_early_answers(result, seeds.index[0])][[0, -1]]
    return decide(
        seeds,
        verdict,
        number=f'lowest share {format_mean(found)}; by {format_mean(more)} above '
        'answers to the widest group',
        null=f'0 above; uniform answers {result.chance.min():.2f}',
        values=np.array([lowest, excess]).T,
        note=f'steps {first:,} to {last:,} (first seed); '
        f'{describe_inside(result, seeds.index)}',
    )


def describe_inside(result: label_groups.Result, index: np.ndarray) -> str:
    """Since when the mean share of every group is above INSIDE."""
    groups = np.arange(len(result.ranges))
    share_SG = result.share[index][:, :, groups, groups].mean(0)
    is_inside_S = (share_SG > INSIDE).all(-1)
    stays_S = np.logical_and.accumulate(is_inside_S[::-1])[::-1]
    if not stays_S.any():
        return f'not above {INSIDE:g} at the end'
    return f'above {INSIDE:g} from step {result.step_S[stays_S.argmax()]:,} on'


def find_early_answers(result: label_groups.Result, member: int) -> np.ndarray:
    """Which snapshots are early ones of a member, [S]; the early step always is."""
    is_later_S = result.step_S >= result.early
    is_learned_S = (result.accuracy[member] >= UNLEARNED).any(-1)
    has_learned_S = np.logical_or.accumulate(is_learned_S & is_later_S)
    is_early_S = is_later_S & ~has_learned_S
    return is_early_S | (result.step_S == result.early)


def _at_early(result: first_attention.Result) -> int:
    return result.step_S.tolist().index(result.early)
