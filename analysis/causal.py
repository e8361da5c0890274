"""Which edges of attention carry the solution? Tested by cutting and by patching (beyond P1 Fig 3).

P1 reads a mechanism off the attention of one sequence. Here it is tested: cut each edge alone (is
it necessary?), keep nothing but a mechanism's edges (are they sufficient?), give up edge after
edge while the answers stay (the circuit), and put in what another sequence made (what does a
position know?). P3 Fig 4D masks one position by hand; no code of the papers tests a mechanism.

  python analysis/causal.py --run runs/phase --depth=2 --gamma=1.5 --seed=0
"""

from typing import NamedTuple

import numpy as np

from analysis.circuits import edge_sets, patching
from analysis.circuits.edge_sets import Edge
from analysis.drawing import command, style
from analysis.members.member import Member

# What two layers may do. P1 Fig 3 (c, a) suggests the first two; the circuits that were found here
# (RESULTS.md) are the symmetric one and the last two.
_TO_ANCHORS = ((0, 'key', 'anchor_1'), (0, 'key', 'anchor_2'))
_ANCHORS_TO_LAST = ((1, 'anchor_1', 'last'), (1, 'anchor_2', 'last'))
_PAIR_TO_LAST = ((0, 'anchor_1', 'last'), (0, 'anchor_2', 'last'))
MECHANISMS: dict[str, tuple[Edge, ...]] = {
    'inferential': _TO_ANCHORS + _ANCHORS_TO_LAST,
    'symmetric': (*_PAIR_TO_LAST, (1, 'key', 'last')),
    'inferential + pair': _TO_ANCHORS + _PAIR_TO_LAST + _ANCHORS_TO_LAST,
    'second anchor': (
        (0, 'key', 'anchor_2'),
        (0, 'anchor_1', 'anchor_2'),
        (1, 'anchor_2', 'last'),
    ),
}
FAITHFUL = 0.9  # a circuit answers as the intact network does to at least this share


class Result(NamedTuple):
    """E edges, P probes, R mappings, C mechanisms; sequences whose last token is noise."""

    edges: tuple[str, ...]  # [E] '1: key → last', layers from 1
    probe_names: tuple[str, ...]
    mapping_names: tuple[str, ...]
    intact_PR: np.ndarray  # agreement of the network as it is
    without_EPR: np.ndarray  # agreement with that edge alone cut
    unchanged_EP: np.ndarray  # share of answers that stay the intact network's
    mechanism_names: tuple[str, ...]
    only_CPR: (
        np.ndarray
    )  # with the mechanism's edges alone: sufficient? (NaN unless two layers)
    only_unchanged_CP: np.ndarray
    without_mechanism_CPR: np.ndarray  # with all of them cut: necessary?
    without_mechanism_unchanged_CP: np.ndarray
    nothing_PR: np.ndarray  # with every edge cut: what guessing gives
    removed: tuple[str, ...]  # [E] in the order in which they were given up
    removed_unchanged_E: np.ndarray  # share of answers unchanged after each
    circuit: tuple[str, ...]  # what was left when FAITHFUL of the answers still stayed
    factors: tuple[str, ...]  # of patching: what differs in the other sequence
    places: tuple[str, ...]
    moved_UNL: np.ndarray  # share of answers that move to the other sequence's
    kept_UNL: np.ndarray  # share that stay


def compute(member: Member, number: int = 1024, renormalize: bool = True) -> Result:
    """Interventions on the member's own probes, and `number` random sequences for patching.

    Args:
      renormalize: whether attention sums to one again after a cut (`interventions.cut`).
    """
    asked, depth = edge_sets.questions(member), member.depth
    edges = edge_sets.edges(member, asked, depth)
    allow = lambda some: edge_sets.allow(some, depth, member.task.role_names)
    ask = lambda sets: edge_sets.ask(
        member, asked, np.stack([allow(edges), *sets]), renormalize
    )
    alone = ask([allow([e for e in edges if e != cut]) for cut in edges])
    kept, cut, nothing = _mechanisms(ask, allow, edges, depth)
    removed, unchanged = edge_sets.give_up(member, asked, edges, depth, renormalize)
    patches = patching.compute(member, number)
    return Result(
        edges=tuple(map(name, edges)),
        probe_names=member.task.probe_names,
        mapping_names=member.task.mapping_names,
        intact_PR=alone.agreement_CPR[0],
        without_EPR=alone.agreement_CPR[1:],
        unchanged_EP=alone.unchanged_CP[1:],
        mechanism_names=tuple(MECHANISMS),
        only_CPR=kept.agreement_CPR,
        only_unchanged_CP=kept.unchanged_CP,
        without_mechanism_CPR=cut.agreement_CPR,
        without_mechanism_unchanged_CP=cut.unchanged_CP,
        nothing_PR=nothing,
        removed=tuple(map(name, removed)),
        removed_unchanged_E=unchanged,
        circuit=tuple(map(name, edge_sets.circuit(removed, unchanged, FAITHFUL))),
        factors=patches.factors,
        places=patches.places,
        moved_UNL=patches.moved_UNL,
        kept_UNL=patches.kept_UNL,
    )


def name(edge: Edge) -> str:
    """'1: key → last', layers counted from 1."""
    layer, source, target = edge
    return f'{layer + 1}: {source} → {target}'


def draw(result: Result, axes) -> None:
    """Fills axes [1, 3]: each edge alone, the mechanisms as a whole, patching."""
    _edges(axes[0, 0], result)
    _whole(axes[0, 1], result)
    _patches(axes[0, 2], result)


def layout(result: Result) -> style.Layout:
    return style.Layout(1, 3, 7.6, 1.0 + 0.19 * len(result.edges))


def sets(allow, edges) -> list[np.ndarray]:
    """Every mechanism as a set of allowed edges, of those that the sequences have."""
    return [allow(edge for edge in m if edge in edges) for m in MECHANISMS.values()]


def _mechanisms(ask, allow, edges, depth: int):
    """(answers with each mechanism alone, with each cut, agreement with nothing)."""
    if depth != 2:  # what they would be with more layers is not known
        got = ask([allow([])])
        unknown = [np.full((len(MECHANISMS), *a.shape[1:]), np.nan) for a in got]
        return (
            edge_sets.Answers(*unknown),
            edge_sets.Answers(*unknown),
            got.agreement_CPR[1],
        )
    only = sets(allow, edges)
    got = ask([*only, *(allow(edges) & ~m for m in only), allow([])])
    parts = [
        edge_sets.Answers(*(a[i : i + len(only)] for a in got))
        for i in (1, 1 + len(only))
    ]
    return *parts, got.agreement_CPR[-1]


def _edges(axis, result: Result) -> None:
    """Heat-map: how much each agreement changes when that edge alone is cut."""
    columns = [
        ('unseen', 'inferential'),
        ('unseen', 'symmetric'),
        ('seen_heldout', 'assigned'),
    ]
    at = [
        (result.probe_names.index(p), result.mapping_names.index(m)) for p, m in columns
    ]
    change = np.stack(
        [result.without_EPR[:, p, m] - result.intact_PR[p, m] for p, m in at], 1
    )
    style.heatmap(axis, change, 'RdBu', (-1, 1), signed=True)
    axis.set_yticks(range(len(result.edges)), result.edges)
    axis.set_xticks(range(3), ['unseen\ninfer.', 'unseen\nsymm.', 'held-out'])
    axis.set_title('agreement: change when\nthis edge alone is cut')


def _whole(axis, result: Result) -> None:
    """Heat-map: answers unchanged with a mechanism's edges alone, and with all of them cut."""
    columns = [result.probe_names.index(p) for p in ('seen_heldout', 'unseen')]
    parts = (result.only_unchanged_CP, result.without_mechanism_unchanged_CP)
    values = np.stack(parts, axis=1)[..., columns].reshape(-1, 2)
    style.heatmap(axis, values, 'Greys', (0, 1))
    rows = [f'{m}: {how}' for m in result.mechanism_names for how in ('alone', 'cut')]
    axis.set_yticks(range(len(rows)), rows)
    axis.set_xticks(range(2), ['held-out', 'unseen'])
    axis.set_title("answers unchanged with\na mechanism's edges")


def _patches(axis, result: Result) -> None:
    """Heat-map: share of answers that follow the other sequence, by what differs and where."""
    depth, places = result.moved_UNL.shape[1:]
    values = result.moved_UNL.transpose(1, 2, 0).reshape(depth * places, -1)
    style.heatmap(axis, values, 'Greens', (0, 1))
    rows = [f'{n + 1}: {place}' for n in range(depth) for place in result.places]
    axis.set_yticks(range(len(rows)), rows)
    axis.set_xticks(
        range(len(result.factors)), [f.replace('_', '\n') for f in result.factors]
    )
    axis.set_title('answers that follow another\nsequence, whose X_ao is put in')
    axis.set_xlabel('which differs in its')


if __name__ == '__main__':
    command.member(
        __doc__,
        'causal',
        compute,
        draw,
        layout,
        number=command.Flag(int, 1024, 'random sequences to patch'),
        renormalize=command.Flag(
            command.truth, True, 'false: the other weights stay as they were'
        ),
    )
