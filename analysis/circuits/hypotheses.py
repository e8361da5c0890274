"""Mechanisms that two layers may use, as sets of edges, and the test of each set."""

from typing import NamedTuple

import numpy as np

from analysis.circuits import edge_sets, sequences
from analysis.circuits.edge_sets import Ablation, Edge, Effects
from analysis.members.member import Member

_KEY_TO_ANCHORS = ((0, 'key', 'anchor_1'), (0, 'key', 'anchor_2'))
_ANCHORS_TO_LAST = ((1, 'anchor_1', 'last'), (1, 'anchor_2', 'last'))
_PAIR_TO_LAST = ((0, 'anchor_1', 'last'), (0, 'anchor_2', 'last'))
# P1 Fig 3 (c, a) suggests the first two. The circuits found in trained networks
# (RESULTS.md) are the symmetric one and the last two.
MECHANISMS: dict[str, tuple[Edge, ...]] = {
    'inferential': _KEY_TO_ANCHORS + _ANCHORS_TO_LAST,
    'symmetric': (*_PAIR_TO_LAST, (1, 'key', 'last')),
    'inferential + pair': _KEY_TO_ANCHORS + _PAIR_TO_LAST + _ANCHORS_TO_LAST,
    'second anchor': (
        (0, 'key', 'anchor_2'),
        (0, 'anchor_1', 'anchor_2'),
        (1, 'anchor_2', 'last'),
    ),
}


class MechanismEffects(NamedTuple):
    """Effects of cutting the edges of C mechanisms."""

    only: Effects  # with a mechanism's edges alone: are they sufficient?
    without: Effects  # with all of its edges cut: are they necessary?


def apply_to(member: Member) -> bool:
    """Whether MECHANISMS are about this network: two layers, and a key first."""
    config = sequences.require_anchor_task(member)
    return member.depth == 2 and config.order == 'key_first'


def measure_mechanisms(ablation: Ablation) -> MechanismEffects:
    """Effects of each mechanism; NaN where the mechanisms do not apply."""
    if not apply_to(ablation.member):
        unknown = _make_unknown_effects(ablation)
        return MechanismEffects(unknown, unknown)
    everything = edge_sets.mask_edges(ablation, ablation.edges)
    masks = mask_mechanisms(ablation)
    complements = [everything & ~mask for mask in masks]
    return MechanismEffects(
        only=edge_sets.measure_effects(ablation, masks),
        without=edge_sets.measure_effects(ablation, complements),
    )


def mask_mechanisms(ablation: Ablation) -> list[np.ndarray]:
    """The edges of every mechanism as a mask."""
    mechanisms = list_mechanisms(ablation).values()
    return [edge_sets.mask_edges(ablation, edges) for edges in mechanisms]


def list_mechanisms(ablation: Ablation) -> dict[str, tuple[Edge, ...]]:
    """The edges of each of MECHANISMS that some sequence has.

    Where no noise comes after the pair its second anchor is the last token: 'symmetric'
    then collects the pair there before it reads the key, and so on.
    """
    targets = {target for _, _, target in ablation.edges}
    end = 'last' if 'last' in targets else 'anchor_2'
    mechanisms = {}
    for name, edges in MECHANISMS.items():
        present = []
        for layer, source, target in edges:
            edge = (layer, source, end if target == 'last' else target)
            if edge in ablation.edges:
                present.append(edge)
        mechanisms[name] = tuple(present)
    return mechanisms


def _make_unknown_effects(ablation: Ablation) -> Effects:
    probes, mappings, _ = ablation.labels_PRB.shape
    count = len(MECHANISMS)
    return Effects(
        intact_PR=np.full((probes, mappings), np.nan),
        agreement_CPR=np.full((count, probes, mappings), np.nan),
        unchanged_CP=np.full((count, probes), np.nan),
    )
