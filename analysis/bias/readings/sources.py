"""What the losses and embeddings of two sources of text say about P2 (Figs 1, 7)."""

import numpy as np

from analysis import reasoning_bias
from analysis.bias.readings.seeds import (
    AT_A_STEP,
    LARGE_START,
    MOMENTS,
    SMALL_START,
    THESE_STEPS,
    decide,
    select_seeds,
)
from analysis.members.seeds import pair_seeds
from analysis.members.statistics import Mean, mean_interval
from analysis.old_claims.borders import estimate, format_mean, judge
from analysis.old_claims.reading import Reading, undecided
from analysis.old_claims.verdicts import HOLDS, UNDECIDED
from analysis.reasoning_bias import PRONTOQA, STORIES

MUCH = 1.5  # times: a moment that much later is "significantly faster" turned round


def read_reasoning_first(result: reasoning_bias.Result, setting: str) -> Reading:
    """At a small start the loss of PrOntoQA falls much earlier than that of stories.

    The moments are relative to each source's own label entropy. Where the loss of the
    stories never falls so low, the last step stands for its moment.

    holds          the interval of the ratio of the moments is above MUCH
    opposite       it is below 1
    does not hold  it is below MUCH
    undecided      otherwise; PrOntoQA never comes; a bound that would not decide
    """
    seeds = select_seeds(result.members, setting, SMALL_START, waiver=MOMENTS)
    stories_M = result.moment_MP[seeds.index, STORIES]
    prontoqa_M = result.moment_MP[seeds.index, PRONTOQA]
    sign = ''
    if np.isnan(stories_M).any():
        sign = '≥ '
    last_step = float(result.step_S[-1])
    ratio_M = np.nan_to_num(stories_M, nan=last_step) / prontoqa_M
    logarithms = estimate(np.log(ratio_M))
    found = Mean(*np.exp(logarithms).tolist())
    verdict = judge(found, MUCH, opposite=1)
    if sign and verdict is not HOLDS:
        verdict = UNDECIDED
    return decide(
        seeds,
        verdict,
        number=f'stories / prontoqa {sign}{format_mean(found)}',
        null='ratio 1',
        values=ratio_M,
        note=_describe_entropies(result),
        why='the interval covers its border, or a loss never falls',
    )


def read_delta_grows(result: reasoning_bias.Result, setting: str) -> Reading:
    """Delta L, mean over the training, is larger at the largest gamma, seed by seed.

    holds, opposite  the interval of the difference is above, below 0
    undecided        otherwise; one gamma only
    """
    small = select_seeds(result.members, setting, SMALL_START, waiver=THESE_STEPS)
    large = select_seeds(result.members, setting, LARGE_START, waiver=THESE_STEPS)
    if small.gamma == large.gamma:
        return undecided('one gamma only', null='difference 0')
    mean_M = result.delta_MS.mean(1)
    seed_M = result.members['seed']
    at_small, at_large = pair_seeds(seed_M, small.index, large.index)
    mean_small = mean_M[at_small]
    mean_large = mean_M[at_large]
    difference = mean_small - mean_large
    found = mean_interval(difference)
    at = format_mean(mean_interval(mean_small))
    than = format_mean(mean_interval(mean_large))
    return decide(
        [small, large],
        judge(found, 0, opposite=0),
        number=f'mean Delta L {at} against {than}; difference {format_mean(found)}',
        null=f'difference 0; {result.delta_of_counting:.2f} by counting tokens',
        values=difference,
        note=_describe_entropies(result),
    )


def read_more_than_counting(result: reasoning_bias.Result, setting: str) -> Reading:
    """At a small start Delta L ends above what the label entropies alone give.

    At the end, because a network that only counts passes that value on its way, if it
    counts the tokens of one source first.

    holds          the interval of Delta L is above that of the entropies
    does not hold  it is below
    undecided      otherwise
    """
    seeds = select_seeds(result.members, setting, SMALL_START, waiver=AT_A_STEP)
    last = result.delta_MS[seeds.index, -1]
    found = estimate(last)
    return decide(
        seeds,
        judge(found, result.delta_of_counting),
        number=f'Delta L at the end {format_mean(found)}',
        null=f'{result.delta_of_counting:.2f} by counting tokens',
        values=last,
        note=_describe_entropies(result),
    )


def read_cosines(result: reasoning_bias.Result, setting: str, step: str) -> Reading:
    """At a small start the tokens of stories are more alike than those of PrOntoQA.

    holds, opposite  the interval of the difference of the mean cosines is above, below
                     0
    undecided        otherwise

    Args:
      step: 'early' or 'late', the last snapshot.
    """
    seeds = select_seeds(result.members, setting, SMALL_START, waiver=AT_A_STEP)
    steps = result.step_C.tolist()
    number = result.early
    if step == 'late':
        number = steps[-1]
    at = steps.index(number)
    stories_M = result.cosine_MCP[seeds.index, at, STORIES]
    prontoqa_M = result.cosine_MCP[seeds.index, at, PRONTOQA]
    difference = stories_M - prontoqa_M
    found = mean_interval(difference)
    stories = format_mean(mean_interval(stories_M))
    prontoqa = format_mean(mean_interval(prontoqa_M))
    before = result.cosine_MCP[seeds.index, 0].mean(0)
    return decide(
        seeds,
        judge(found, 0, opposite=0),
        number=f'step {number}: stories {stories}, prontoqa {prontoqa}',
        null=f'before training {before[STORIES]:.2f} and {before[PRONTOQA]:.2f}',
        values=difference,
    )


def _describe_entropies(result: reasoning_bias.Result) -> str:
    """'77 and 1,476 labels of 3.48 and 5.49 nats'."""
    labels, entropy = result.labels_P, result.entropy_P
    return (
        f'{labels[PRONTOQA]:,} and {labels[STORIES]:,} labels of '
        f'{entropy[PRONTOQA]:.2f} and {entropy[STORIES]:.2f} nats'
    )
