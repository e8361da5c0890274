"""What attention and its edges say about a claim."""

import numpy as np

from analysis import attention_flow, causal, mechanisms
from analysis.circuits.flows import FLOWS
from analysis.circuits.hypotheses import MECHANISMS
from analysis.members.solution import UNSEEN_MAPPINGS
from analysis.report.readings.reading import Reading

MOST = 0.5  # of the attention that a flow must carry
NECESSARY = 0.5  # a cut that leaves less than this share of answers unchanged


def read_flows(
    flow: attention_flow.Result, layer_1: str, layer_2: str
) -> Reading | None:
    """In each layer, most of the attention takes the way that the paper draws."""
    if len(flow.flows_N3) != 2:
        return None
    first = flow.flows_N3[0, FLOWS.index(layer_1)]
    second = flow.flows_N3[1, FLOWS.index(layer_2)]
    return Reading(
        number=f'{layer_1} {first:.2f}, then {layer_2} {second:.2f}',
        holds=min(first, second) > MOST,
        note=f'mean attention over {flow.number:,} sequences',
    )


def read_necessary_edges(result: causal.Result, solution: str) -> Reading | None:
    """Each edge alone: cutting it changes most answers to the unseen pair."""
    unseen = result.probe_names.index('unseen')
    unchanged = []
    for edge in MECHANISMS[solution]:
        name = causal.name_edge(edge)
        if name not in result.edges:
            return None
        row = result.edges.index(name)
        unchanged.append(result.unchanged_EP[row, unseen])
    return Reading(
        number=f'at most {max(unchanged):.2f} of the answers stay the same',
        holds=max(unchanged) < NECESSARY,
        note=f'unseen pair; {len(unchanged)} edges, each cut alone',
    )


def read_sufficient_edges(result: causal.Result, solution: str) -> Reading | None:
    """All other edges cut: the answers to unseen and held-out sequences stay."""
    mechanism = result.mechanism_names.index(solution)
    unchanged_P = result.only_unchanged_CP[mechanism]
    if np.isnan(unchanged_P).any():
        return None
    heldout = unchanged_P[result.probe_names.index('seen_heldout')]
    unseen = unchanged_P[result.probe_names.index('unseen')]
    circuit = '; '.join(result.circuit)
    return Reading(
        number=f'answers unchanged: unseen {unseen:.2f}, held-out {heldout:.2f}',
        holds=min(heldout, unseen) >= causal.FAITHFUL,
        note=f'circuit found: {circuit}',
    )


def read_mechanisms(result: mechanisms.Result) -> Reading | None:
    """Of the members at a solution, those for which its mechanism is sufficient."""
    solutions_M = np.array(result.solutions)
    parts = []
    holds = True
    for solution in UNSEEN_MAPPINGS:
        mechanism = result.mechanism_names.index(solution)
        unchanged = result.unchanged_MC[solutions_M == solution, mechanism]
        total = len(unchanged)
        if total == 0:
            return None
        faithful = int((unchanged >= causal.FAITHFUL).sum())
        parts.append(f'{solution} {faithful} of {total}')
        holds = holds and faithful == total
    return Reading(
        number=', '.join(parts),
        holds=holds,
        note='members with two layers',
    )
