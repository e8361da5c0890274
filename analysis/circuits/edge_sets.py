"""Sets of attention edges: what a network answers with some of them cut, and which it can spare."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from analysis.circuits import interventions
from analysis.members.member import Member

Edge = tuple[int, str, str]  # layer from 0, source role, target role


class Questions(NamedTuple):
    """A member's own probes, in which key, anchors and last token stand apart."""

    tokens_BT: np.ndarray  # all probes in a row: B = P * sequences
    labels_PRB: np.ndarray


class Answers(NamedTuple):
    """What C variants of a network say."""

    agreement_CPR: np.ndarray  # share of answers equal to each mapping's
    unchanged_CP: np.ndarray  # share of answers equal to the intact network's


def questions(member: Member, most: int = 512) -> Questions:
    """The probes the member was measured on, less those that end in an anchor.

    As many of each probe as the largest power of two up to `most`: members share programs.
    """
    tokens_PBT, labels_PRB = member.probes
    last = member.task.role_names.index('last')
    apart_PB = member.roles(tokens_PBT.reshape(-1, member.task.seq_len))[:, -1]
    apart_PB = apart_PB.reshape(tokens_PBT.shape[:2]) == last
    number = min(most, 2 ** int(np.log2(apart_PB.sum(-1).min())))
    chosen = [np.flatnonzero(apart_B)[:number] for apart_B in apart_PB]
    tokens = [tokens_BT[i] for tokens_BT, i in zip(tokens_PBT, chosen, strict=True)]
    labels = [labels_RB[:, i] for labels_RB, i in zip(labels_PRB, chosen, strict=True)]
    return Questions(np.concatenate(tokens), np.stack(labels))


def edges(member: Member, asked: Questions, depth: int) -> list[Edge]:
    """Every edge that some sequence has: a source position before a target position."""
    names = member.task.role_names
    roles_BT = member.roles(asked.tokens_BT)
    later, earlier = np.tril_indices(roles_BT.shape[1], -1)
    pairs = np.unique(
        np.stack([roles_BT[:, earlier], roles_BT[:, later]], -1).reshape(-1, 2), axis=0
    )
    return [(n, names[s], names[t]) for n in range(depth) for s, t in pairs]


def allow(chosen: Sequence[Edge], depth: int, names: tuple[str, ...]) -> np.ndarray:
    """A set of edges as bool [layer, source role, target role]."""
    allowed_NJJ = np.zeros((depth, len(names), len(names)), bool)
    for layer, source, target in chosen:
        allowed_NJJ[layer, names.index(source), names.index(target)] = True
    return allowed_NJJ


def ask(
    member: Member, asked: Questions, allowed_CNJJ: np.ndarray, renormalize: bool = True
) -> Answers:
    """The probes under C sets of allowed edges; `renormalize` as in interventions.cut."""
    intact = np.ones((1, *allowed_CNJJ.shape[1:]), bool)
    sets = np.concatenate([intact, allowed_CNJJ])
    said_CB = interventions.answers(member, asked.tokens_BT, sets, renormalize)
    said_CPB = said_CB.reshape(len(sets), len(asked.labels_PRB), -1)
    agrees_CPRB = said_CPB[1:, :, None] == asked.labels_PRB
    return Answers(agrees_CPRB.mean(-1), (said_CPB[1:] == said_CPB[0]).mean(-1))


def give_up(
    member: Member,
    asked: Questions,
    present: Sequence[Edge],
    depth: int,
    renormalize: bool = True,
):
    """Cuts edge after edge, always the one that changes the fewest answers.

    Returns (edges in the order in which they went, share of unchanged answers after each).
    """
    left, removed, unchanged = list(present), [], []
    names = member.task.role_names
    while left:
        sets = np.stack(
            [allow([e for e in left if e != cut], depth, names) for cut in left]
        )
        stays = ask(member, asked, sets, renormalize).unchanged_CP.mean(-1)
        best = int(stays.argmax())
        removed.append(left.pop(best))
        unchanged.append(stays[best])
    return removed, np.array(unchanged)


def circuit(
    removed: Sequence[Edge], unchanged: np.ndarray, faithful: float
) -> list[Edge]:
    """The edges left at the last moment when at least `faithful` of the answers stayed."""
    enough = np.flatnonzero(unchanged >= faithful)
    return sorted(removed[enough[-1] + 1 :] if len(enough) else removed)
