"""What vectors inside members say about a claim. All intervals are over members."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from analysis.members.statistics import Mean
from analysis.old_claims.borders import (
    combine,
    conclude,
    estimate,
    format_mean,
    gather,
    judge,
    negate,
)
from analysis.old_claims.reading import Reading
from analysis.old_claims.verdicts import OPPOSITE, Verdict
from analysis.p1 import cosine, tsne

PARALLEL = 0.8  # mean cosine that counts as "nearly parallel"
LOW = 0.4  # mean cosine that counts as "low"
CONTRAST = 0.1  # inside the boxes above outside, with the mean vector removed
AS_MANY = 1 / 2  # neighbours with the reverse pair, for each with the pair itself
ABOVE_CHANCE = 2  # times
ABOVE_UNTRAINED = 0.05  # of the neighbours
PAIR, REVERSE = 0, 1  # kinds of neighbours, along `nearest.KINDS`


class Boxes(NamedTuple):
    """The boxes of equal targets in the matrices of cosines of some members."""

    inside: Mean  # mean cosine
    outside: Mean
    contrast: Mean  # inside minus outside, with the mean vector removed
    excess: Mean  # the contrast minus that of the untrained network, if it has one
    untrained: float  # mean contrast of the untrained networks
    members: int
    is_known: bool


def read_reverse_neighbours(results: Sequence[tsne.Result]) -> Reading:
    """The reverse pair is among the neighbours nearly as often as the pair itself.

    The nulls are neighbours drawn at random, and the untrained network.

    holds          the share of the reverse pair is at least AS_MANY of that of the
                   pair, and above ABOVE_CHANCE times chance, and by ABOVE_UNTRAINED
                   above that of the untrained network
    opposite       it is below half of chance, and below the untrained network
    does not hold  otherwise, if one of the three is surely false
    undecided      otherwise; fewer than 3 members; NaN
    """
    same_M = gather(results, 'shares', 0, PAIR)
    reverse_M = gather(results, 'shares', 0, REVERSE)
    chance_M = gather(results, 'chance', 0, REVERSE)
    untrained_M = gather(results, 'untrained', REVERSE)
    needed_M = np.maximum(ABOVE_CHANCE * chance_M, untrained_M + ABOVE_UNTRAINED)
    parts = [
        judge(estimate(reverse_M - AS_MANY * same_M), 0),
        judge(estimate(reverse_M - needed_M), 0),
    ]
    verdict = combine(parts)
    apart = np.minimum(chance_M / 2, untrained_M)
    if estimate(reverse_M - apart).high < 0:
        verdict = OPPOSITE
    return conclude(
        verdict=verdict,
        number=f'share of neighbours: same pair {format_mean(estimate(same_M))}, '
        f'reversed pair {format_mean(estimate(reverse_M))}',
        null=f'reversed pair: chance {chance_M.mean():.2f}, '
        f'untrained {untrained_M.mean():.2f}',
        note=f'{len(results)} members; {tsne.SPACES[0]}',
        count=len(results),
        is_known=bool(np.isfinite(reverse_M + same_M + needed_M).all()),
    )


def read_parallel_values(results: Sequence[cosine.Result]) -> Reading:
    """High where targets are equal, and higher than elsewhere without the mean.

    `_read_parallel` has the rules.
    """
    return _read_parallel(_measure_boxes(results, 'v'))


def read_single_anchor(results: Sequence[cosine.Result]) -> Reading:
    """As `read_parallel_values`, of the values at the first anchor."""
    return _read_parallel(_measure_boxes(results, 'u'))


def read_unlike_values(results: Sequence[cosine.Result]) -> Reading:
    """Low where targets are equal, and no higher than elsewhere without the mean.

    holds          the cosine inside the boxes is below LOW, and the contrast is at most
                   CONTRAST above zero and the untrained network
    opposite       the cosine is above PARALLEL and the contrast above CONTRAST
    does not hold  otherwise, if one of the two is surely false
    undecided      otherwise; fewer than 3 members; NaN
    """
    boxes = _measure_boxes(results, 'v')
    parts = [
        judge(negate(boxes.inside), -LOW, opposite=-PARALLEL),
        judge(negate(boxes.excess), -CONTRAST, opposite=-CONTRAST),
    ]
    return _conclude_boxes(boxes, combine(parts))


def _read_parallel(boxes: Boxes) -> Reading:
    """Whether vectors with equal targets are nearly parallel.

    The null of the contrast is zero, or the untrained network if that has more.

    holds          the cosine inside the boxes is above PARALLEL, and the contrast is by
                   CONTRAST above its null
    opposite       the contrast is below -CONTRAST: equal targets are less alike
    does not hold  otherwise, if one of the two is surely false
    undecided      otherwise; fewer than 3 members; NaN
    """
    parts = [judge(boxes.inside, PARALLEL), judge(boxes.excess, CONTRAST)]
    verdict = combine(parts)
    if boxes.contrast.high < -CONTRAST:
        verdict = OPPOSITE
    return _conclude_boxes(boxes, verdict)


def _measure_boxes(results: Sequence[cosine.Result], name: str) -> Boxes:
    """Means over both triangles of one kind of vector, intervals over members."""
    n = cosine.NAMES.index(name)
    inside_M = gather(results, 'inside', n).mean(-1)
    outside_M = gather(results, 'outside', n).mean(-1)
    contrast_M = gather(results, 'difference_centred', n, 0)
    untrained_M = gather(results, 'untrained_centred', n)
    excess_M = contrast_M - np.maximum(untrained_M, 0)
    return Boxes(
        inside=estimate(inside_M),
        outside=estimate(outside_M),
        contrast=estimate(contrast_M),
        excess=estimate(excess_M),
        untrained=untrained_M.mean(),
        members=len(results),
        is_known=bool(np.isfinite(inside_M + outside_M + excess_M).all()),
    )


def _conclude_boxes(boxes: Boxes, verdict: Verdict) -> Reading:
    return conclude(
        verdict=verdict,
        number=f'cosine {format_mean(boxes.inside)} inside the boxes, '
        f'{format_mean(boxes.outside)} outside; with the mean vector removed '
        f'{format_mean(boxes.contrast)} apart',
        null=f'0 apart, untrained {boxes.untrained:.2f}',
        note=f'{boxes.members} members',
        count=boxes.members,
        is_known=boxes.is_known,
    )
