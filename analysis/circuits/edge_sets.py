"""Ablation of attention edges: which ones does a network need to answer as it does?

Edges (`analysis.circuits.interventions`) are cut in one member, and its answers to its
own probes are compared with those of the intact member.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from analysis.circuits import interventions, sequences
from analysis.members.member import Member

Edge = tuple[int, str, str]  # layer from 0, source role, target role


class Ablation(NamedTuple):
    """A member whose edges are to be cut, and the sequences it answers."""

    member: Member
    tokens_BT: np.ndarray  # all probes in a row: B = P * sequences of one
    labels_PRB: np.ndarray  # here B is the sequences of one probe
    edges: tuple[Edge, ...]  # every edge that some sequence has
    depth: int
    renormalize: bool  # as in interventions.make_cut_edit


class Effects(NamedTuple):
    """How a member answers, intact and under C sets of allowed edges."""

    intact_PR: np.ndarray  # agreement with each mapping, intact
    agreement_CPR: np.ndarray  # agreement with each mapping, edges cut
    unchanged_CP: np.ndarray  # share of answers equal to the intact member's


def prepare_ablation(
    member: Member, renormalize: bool = True, most: int = 512
) -> Ablation:
    """Selects the sequences on which edges are cut, and lists the edges they have.

    Args:
      renormalize: whether attention sums to one again after a cut (`make_cut_edit`).
      most: sequences of each probe.

    Raises:
      UserError: the member's task is not the anchor task, or one probe alone has no
        sequence that ends in noise.
    """
    sequences.require_anchor_task(member)
    tokens_BT, labels_PRB = sequences.select_probes(member, most)
    return Ablation(
        member=member,
        tokens_BT=tokens_BT,
        labels_PRB=labels_PRB,
        edges=_list_edges(member, tokens_BT),
        depth=member.depth,
        renormalize=renormalize,
    )


def mask_edges(ablation: Ablation, allowed: Iterable[Edge]) -> np.ndarray:
    """A set of allowed edges as bool [layer, source role, target role]."""
    names = ablation.member.task.role_names
    roles = len(names)
    allowed_NJJ = np.zeros((ablation.depth, roles, roles), bool)
    for layer, source, target in allowed:
        s = names.index(source)
        t = names.index(target)
        allowed_NJJ[layer, s, t] = True
    return allowed_NJJ


def mark_edges(sets: Iterable[Collection[Edge]], edges: Sequence[Edge]) -> np.ndarray:
    """Which of the edges each set has, bool [C, E]."""
    return np.array([[edge in of_set for edge in edges] for of_set in sets])


def measure_effects(ablation: Ablation, masks: Sequence[np.ndarray]) -> Effects:
    """The member's answers under C sets of allowed edges (`mask_edges`)."""
    intact_NJJ = np.ones_like(masks[0])
    answers_CB = interventions.answer_with_cuts(
        ablation.member,
        ablation.tokens_BT,
        np.stack([intact_NJJ, *masks]),
        ablation.renormalize,
    )
    probes = len(ablation.labels_PRB)
    answers_CPB = answers_CB.reshape(1 + len(masks), probes, -1)
    intact_PB, cut_CPB = answers_CPB[0], answers_CPB[1:]
    intact_agrees_PRB = intact_PB[:, None] == ablation.labels_PRB
    agrees_CPRB = cut_CPB[:, :, None] == ablation.labels_PRB
    unchanged_CPB = cut_CPB == intact_PB
    return Effects(
        intact_PR=intact_agrees_PRB.mean(-1),
        agreement_CPR=agrees_CPRB.mean(-1),
        unchanged_CP=unchanged_CPB.mean(-1),
    )


def cut_each_edge(ablation: Ablation, edges: Sequence[Edge]) -> Effects:
    """Effects of allowing these edges alone, except one: for each of them."""
    masks = []
    for cut in edges:
        others = [edge for edge in edges if edge != cut]
        masks.append(mask_edges(ablation, others))
    return measure_effects(ablation, masks)


def cut_all_edges(ablation: Ablation) -> np.ndarray:
    """Agreement [P, R] when every position reads itself alone."""
    nothing = mask_edges(ablation, [])
    effects = measure_effects(ablation, [nothing])
    return effects.agreement_CPR[0]


def _list_edges(member: Member, tokens_BT: np.ndarray) -> tuple[Edge, ...]:
    """Every edge that some sequence has: a source position before a target position."""
    names = member.task.role_names
    roles_BT = member.roles(tokens_BT)
    targets, sources = np.tril_indices(roles_BT.shape[1], -1)
    source_roles = roles_BT[:, sources].ravel()
    target_roles = roles_BT[:, targets].ravel()
    pairs = np.stack([source_roles, target_roles], axis=-1)
    distinct_pairs = np.unique(pairs, axis=0)
    edges = []
    for layer in range(member.depth):
        for source, target in distinct_pairs:
            edges.append((layer, names[source], names[target]))
    return tuple(edges)
