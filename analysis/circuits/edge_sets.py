"""Sets of attention edges: what does a network answer with these alone?

Edges (`analysis.circuits.interventions`) are cut in one member, and its answers to its
own eval sets are compared with those of the intact member.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from analysis.circuits import interventions, sequences
from anchorjax.models.edges import Edge, allow_edges
from anchorjax.network import Network

_KEY_TO_ANCHORS = ((0, 'key', 'anchor_1'), (0, 'key', 'anchor_2'))
_ANCHORS_TO_LAST = ((1, 'anchor_1', 'last'), (1, 'anchor_2', 'last'))
_PAIR_TO_LAST = ((0, 'anchor_1', 'last'), (0, 'anchor_2', 'last'))
# Mechanisms that two layers may use. P1 Fig 3 (c, a) suggests the first two. The
# circuits found in trained networks (RESULTS.md) are the symmetric one and the last
# two.
MECHANISMS: dict[str, tuple[Edge, ...]] = {
    'composed': _KEY_TO_ANCHORS + _ANCHORS_TO_LAST,
    'symmetric': (*_PAIR_TO_LAST, (1, 'key', 'last')),
    'composed + pair': _KEY_TO_ANCHORS + _PAIR_TO_LAST + _ANCHORS_TO_LAST,
    'second anchor': (
        (0, 'key', 'anchor_2'),
        (0, 'anchor_1', 'anchor_2'),
        (1, 'anchor_2', 'last'),
    ),
}
FAITHFUL = 0.9  # least share of the intact network's answers that a circuit must give
# Of a mechanism: its edges alone, as many at random alone, all edges but its own.
TESTS = ('alone', 'random', 'cut')


class Ablation(NamedTuple):
    """A member whose edges are to be cut, and the sequences it answers."""

    member: Network
    tokens_BT: np.ndarray  # all eval sets in a row: B = P * sequences of one
    labels_PRB: np.ndarray  # here B is the sequences of one eval set
    edges: tuple[Edge, ...]  # every edge that some sequence has
    depth: int
    intact_PB: np.ndarray  # answers with all edges


def prepare_ablation(member: Network, most: int = 512) -> Ablation:
    """Selects the sequences on which edges are cut, and lists the edges they have.

    Args:
      most: sequences of each eval set.

    Raises:
      UserError: the member's task is not the anchor task, or one eval set alone has no
        sequence that ends in noise.
    """
    sequences.require_anchor_task(member)
    tokens_BT, labels_PRB = sequences.select_eval_sets(member, most)
    roles = len(member.task.role_names)
    depth = member.depth
    everything = np.ones((1, depth, roles, roles), bool)
    (intact_B,) = interventions.answer_with_cuts(member, tokens_BT, everything)
    return Ablation(
        member=member,
        tokens_BT=tokens_BT,
        labels_PRB=labels_PRB,
        edges=_list_edges(member, depth, tokens_BT),
        depth=depth,
        intact_PB=intact_B.reshape(len(labels_PRB), -1),
    )


def _list_edges(member: Network, depth: int, tokens_BT: np.ndarray) -> tuple[Edge, ...]:
    """Every edge that some sequence has: a source position before a target position.

    Those that the network was trained without (`model.cut_edges`) are not among them.
    """
    names = member.task.role_names
    roles_BT = member.roles(tokens_BT)
    targets, sources = np.tril_indices(roles_BT.shape[1], -1)
    pairs_2BE = np.stack([roles_BT[:, sources], roles_BT[:, targets]])
    distinct_pairs = np.unique(pairs_2BE.reshape(2, -1), axis=1)
    edges = []
    for layer in range(depth):
        for source, target in distinct_pairs.T:
            edge = (layer, names[source], names[target])
            if edge not in member.experiment.model.cut_edges:
                edges.append(edge)
    return tuple(edges)


def measure_effects(ablation: Ablation, sets: Iterable[Iterable[Edge]]) -> xr.Dataset:
    """The member's answers with the edges of each set alone.

    agreement [set, eval set, mapping] with the answers of each mapping
    unchanged [set, eval set] share that are still those of the intact member
    """
    masks = [mask_edges(ablation, edges) for edges in sets]
    answers_CB = interventions.answer_with_cuts(
        ablation.member, ablation.tokens_BT, masks
    )
    answers_CPB = answers_CB.reshape(-1, *ablation.intact_PB.shape)
    agrees_CPRB = answers_CPB[:, :, None] == ablation.labels_PRB
    unchanged_CPB = answers_CPB == ablation.intact_PB
    task = ablation.member.task
    return xr.Dataset(
        {
            'agreement': (('set', 'eval_set', 'mapping'), agrees_CPRB.mean(-1)),
            'unchanged': (('set', 'eval_set'), unchanged_CPB.mean(-1)),
        },
        {'eval_set': list(task.eval_set_names), 'mapping': list(task.mapping_names)},
    )


def mask_edges(ablation: Ablation, allowed: Iterable[Edge]) -> np.ndarray:
    """A set of allowed edges as bool [layer, source role, target role]."""
    return allow_edges(allowed, ablation.depth, ablation.member.task.role_names)


def leave_out_each(edges: Collection[Edge]) -> list[list[Edge]]:
    """These edges but one, for each of them."""
    sets = []
    for cut in edges:
        sets.append([edge for edge in edges if edge != cut])
    return sets


def prune_edges(ablation: Ablation) -> tuple[list[Edge], np.ndarray]:
    """Cuts edge after edge, always the one that changes the fewest answers.

    Returns:
      The edges in the order in which they were cut, and [E] the share of answers that
      were still unchanged after each, mean over the eval sets.
    """
    remaining = list(ablation.edges)
    removed = []
    unchanged = []
    while remaining:
        effects = measure_effects(ablation, leave_out_each(remaining))
        unchanged_C = effects.unchanged.mean('eval_set').values
        best = int(unchanged_C.argmax())
        removed.append(remaining.pop(best))
        unchanged.append(unchanged_C[best])
    return removed, np.array(unchanged)


def find_circuit(removed: Sequence[Edge], unchanged_E: np.ndarray) -> list[Edge]:
    """The smallest set of edges in pruning with FAITHFUL of the answers unchanged.

    Args:
      removed, unchanged_E: the results of `prune_edges`.
    """
    faithful_cuts = np.flatnonzero(unchanged_E >= FAITHFUL)
    return sorted(removed[faithful_cuts.max(initial=-1) + 1 :])


def has_mechanism(member: Network) -> bool:
    """Whether MECHANISMS are about this network: two layers, and a key first."""
    config = sequences.require_anchor_task(member)
    return member.depth == 2 and config.order == 'key_first'


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


def compare_mechanisms(ablation: Ablation, draws: int) -> xr.Dataset:
    """`measure_effects` of MECHANISMS, [mechanism, test, ...] by TESTS.

    'random' is the null: the mean over `draws` sets of `draw_set`. NaN where there is
    no mechanism to test (`has_mechanism`).
    """
    rng = np.random.default_rng(0)
    found = []
    mechanisms = list_mechanisms(ablation)
    for edges in mechanisms.values():
        others = set(ablation.edges) - set(edges)
        sets = [edges, others]
        for _ in range(draws):
            sets.append(draw_set(ablation.edges, edges, rng))
        effects = measure_effects(ablation, sets)
        by_chance = effects.isel(set=slice(2, None)).mean('set')
        tests = [effects.isel(set=0), by_chance, effects.isel(set=1)]
        found.append(xr.concat(tests, 'test'))
    names = {'mechanism': list(mechanisms), 'test': list(TESTS)}
    effects = xr.concat(found, 'mechanism').assign_coords(names)
    return effects.where(has_mechanism(ablation.member))


def draw_set(
    edges: Sequence[Edge], mechanism: Collection[Edge], rng: np.random.Generator
) -> list[Edge]:
    """A random set of edges, with as many in each layer as the mechanism.

    It is never the mechanism itself, unless that takes all edges of its layers.
    """
    layer_E = np.array([layer for layer, _, _ in edges])
    own_M = np.array([layer for layer, _, _ in mechanism])
    layers, numbers = np.unique(own_M, return_counts=True)
    is_only_set = np.isin(layer_E, layers).sum() == len(mechanism)
    while True:
        drawn = []
        for layer, number in zip(layers, numbers, strict=True):
            of_layer = np.flatnonzero(layer_E == layer)
            chosen = rng.choice(of_layer, number, replace=False)
            for i in sorted(chosen):
                drawn.append(edges[i])
        if is_only_set or set(drawn) != set(mechanism):
            return drawn
