"""What attention and its edges say about a claim."""

from collections.abc import Sequence

import numpy as np

from analysis.circuits.flows import FLOWS
from analysis.old_claims.borders import (
    HALF,
    combine,
    conclude,
    estimate,
    estimate_share,
    format_count,
    format_mean,
    gather,
    judge,
)
from analysis.old_claims.reading import Reading, undecided
from analysis.old_claims.verdicts import OPPOSITE, UNDECIDED, Verdict
from analysis.p1 import attention_flow, causal

MOST = 0.5  # of the attention that a flow must carry
CLEAR = 0.1  # by so much a flow must exceed both nulls
MORE = 0.05  # of the answers: a difference from other edges that counts
NECESSARY = 0.5  # a cut that leaves less than this share of answers unchanged


def read_flows(
    results: Sequence[attention_flow.Result], layer_1: str, layer_2: str
) -> Reading:
    """In each layer, most of the attention takes the way that the paper draws.

    The nulls are the same flow under uniform attention and in the untrained network.

    holds          in both layers, the flow is above MOST and by CLEAR above both nulls
    opposite       in both layers, it is by CLEAR below uniform attention
    does not hold  otherwise, if it is surely too low in a layer
    undecided      otherwise; fewer than 3 members; NaN; no member with two layers
    """
    members = [result for result in results if len(result.flows_N3) == 2]
    if not members:
        return undecided('no member with two layers')
    parts = []
    numbers = []
    nulls = []
    is_below = []
    is_known = True
    for layer, name in enumerate((layer_1, layer_2)):
        cell = (layer, FLOWS.index(name))
        flow_M = gather(members, 'flows_N3', *cell)
        uniform_M = gather(members, 'uniform_N3', *cell)
        untrained_M = gather(members, 'untrained_N3', *cell)
        null_M = np.maximum(uniform_M, untrained_M)
        excess = estimate(flow_M - np.maximum(null_M + CLEAR, MOST))
        parts.append(judge(excess, 0))
        is_below.append(estimate(flow_M - uniform_M).high < -CLEAR)
        numbers.append(f'{name} {format_mean(estimate(flow_M))}')
        nulls.append(
            f'uniform {uniform_M.mean():.2f}, untrained {untrained_M.mean():.2f}'
        )
        is_known = is_known and bool(np.isfinite(flow_M + null_M).all())
    return conclude(
        verdict=OPPOSITE if all(is_below) else combine(parts),
        number=', then '.join(numbers),
        null='; then '.join(nulls),
        note=f'{len(members)} members, mean attention over '
        f'{members[0].number:,} sequences',
        count=len(members),
        is_known=is_known,
    )


def read_necessary_edges(results: Sequence[causal.Result], solution: str) -> Reading:
    """Each edge alone: cutting it changes most answers to the unseen pair.

    The null is the cut of one of the other edges, mean over all of them.

    holds          in most members (Wilson's interval above HALF), and over members the
                   edges change more answers than others do, by MORE
    opposite       over members they change fewer answers than others do, by MORE
    does not hold  otherwise, if one of the two is surely false
    undecided      otherwise; fewer than 3 members; NaN; no member with two layers
    """
    members = _select_testable(results)
    if not members:
        return undecided('no member with two layers')
    most_unchanged = []
    others_unchanged = []
    excess = []
    number = _mark_own_edges(members[0], solution).sum()
    for result in members:
        unseen = result.probe_names.index('unseen')
        unchanged_E = result.unchanged_EP[:, unseen]
        is_own_E = _mark_own_edges(result, solution)
        others = unchanged_E[~is_own_E].mean()
        most_unchanged.append(unchanged_E[is_own_E].max())
        others_unchanged.append(others)
        excess.append(others - unchanged_E[is_own_E].mean())
    necessary = np.array(most_unchanged) < NECESSARY
    return _conclude_edges(
        is_so=necessary,
        excess=np.array(excess),
        number=f'each edge necessary in {format_count(necessary.sum(), len(members))}; '
        f'at most {np.mean(most_unchanged):.2f} of the answers stay the same',
        null=f'{np.mean(others_unchanged):.2f} stay the same with another edge cut',
        note=f'unseen pair; {number} edges, each cut alone',
    )


def read_sufficient_edges(results: Sequence[causal.Result], solution: str) -> Reading:
    """All other edges cut: the answers to unseen and held-out sequences stay.

    The null is a random set of as many edges in each layer.

    holds          in most members FAITHFUL of the answers stay (Wilson's interval above
                   HALF), and over members more than with random edges, by MORE
    opposite       over members fewer answers stay than with random edges, by MORE
    does not hold  otherwise, if one of the two is surely false
    undecided      otherwise; fewer than 3 members; NaN; no member with two layers
    """
    members = _select_testable(results)
    if not members:
        return undecided('no member with two layers')
    unchanged_M2 = []
    random_M2 = []
    for result in members:
        mechanism = result.mechanism_names.index(solution)
        probes = [result.probe_names.index(name) for name in ('unseen', 'seen_heldout')]
        unchanged_M2.append(result.only_unchanged_CP[mechanism, probes])
        random_M2.append(result.random_unchanged_CP[mechanism, probes])
    unseen, heldout = np.mean(unchanged_M2, axis=0)
    random_unseen, random_heldout = np.mean(random_M2, axis=0)
    faithful = np.min(unchanged_M2, axis=1) >= causal.FAITHFUL
    circuit = '; '.join(members[0].circuit)
    return _conclude_edges(
        is_so=faithful,
        excess=np.mean(unchanged_M2, axis=1) - np.mean(random_M2, axis=1),
        number=f'sufficient in {format_count(faithful.sum(), len(members))}; answers '
        f'unchanged: unseen {unseen:.2f}, held-out {heldout:.2f}',
        null=f'random edges: unseen {random_unseen:.2f}, held-out {random_heldout:.2f}',
        note=f'circuit found in the first: {circuit}',
    )


def _mark_own_edges(result: causal.Result, solution: str) -> np.ndarray:
    return result.mechanism_has_CE[result.mechanism_names.index(solution)]


def _select_testable(results: Sequence[causal.Result]) -> list[causal.Result]:
    """The members that the mechanisms are about (`hypotheses.apply_to`)."""
    testable = []
    for result in results:
        if not np.isnan(result.only_unchanged_CP).all():
            testable.append(result)
    return testable


def _conclude_edges(
    is_so: np.ndarray, excess: np.ndarray, number: str, null: str, note: str
) -> Reading:
    """Of a claim about edges that is so in some members [M].

    Args:
      excess: by how much the edges do more than those of the null [M].
    """
    count = len(is_so)
    share = estimate_share(int(is_so.sum()), count)
    more = estimate(excess)
    verdict: Verdict = combine([judge(share, HALF), judge(more, MORE)])
    if more.high < -MORE:
        verdict = OPPOSITE
    is_known = bool(np.isfinite(excess).all())
    return conclude(
        verdict=verdict if is_known else UNDECIDED,
        number=number,
        null=f'{null}; difference {format_mean(more)}',
        note=f'{count} members; {note}',
        count=count,
        is_known=is_known,
    )
