"""Random sets of edges: what sets as large as a mechanism do to the answers.

The null of a mechanism. A set has as many edges in each layer as the mechanism, drawn
among all edges that some sequence has, and it is never the mechanism itself.
"""

from collections.abc import Sequence

import numpy as np

from analysis.circuits import edge_sets, hypotheses
from analysis.circuits.edge_sets import Ablation, Edge


def draw_set(
    edges: Sequence[Edge], mechanism: Sequence[Edge], rng: np.random.Generator
) -> list[Edge]:
    """A random set of edges, with as many in each layer as the mechanism.

    A mechanism that takes all edges of its layers has no other set: then it is drawn.
    """
    own_of_layer = _split_by_layer(mechanism)
    all_of_layer = _split_by_layer(edges)
    num_candidates = sum(len(all_of_layer[layer]) for layer in own_of_layer)
    is_only_set = num_candidates == len(mechanism)
    while True:
        drawn = []
        for layer in sorted(own_of_layer):
            number = len(own_of_layer[layer])
            drawn += _draw_edges(all_of_layer[layer], number, rng)
        if is_only_set or set(drawn) != set(mechanism):
            return drawn


def _draw_edges(
    candidates: list[Edge], number: int, rng: np.random.Generator
) -> list[Edge]:
    """So many different edges, in the order of the candidates."""
    chosen = rng.choice(len(candidates), number, replace=False)
    return [candidates[i] for i in sorted(chosen)]


def _split_by_layer(edges: Sequence[Edge]) -> dict[int, list[Edge]]:
    """The edges of every layer."""
    edges_of: dict[int, list[Edge]] = {}
    for edge in edges:
        edges_of.setdefault(edge[0], []).append(edge)
    return edges_of


def measure_random_sets(ablation: Ablation, draws: int) -> np.ndarray:
    """Share of answers unchanged with random edges alone, [C, draw, P].

    One row for each of MECHANISMS, with sets of its size; NaN where the mechanisms do
    not apply (`hypotheses.apply_to`).
    """
    probes = len(ablation.labels_PRB)
    if not hypotheses.apply_to(ablation.member):
        return np.full((len(hypotheses.MECHANISMS), draws, probes), np.nan)
    rng = np.random.default_rng(0)
    masks = []
    mechanisms = hypotheses.list_mechanisms(ablation).values()
    for mechanism in mechanisms:
        for _ in range(draws):
            drawn = draw_set(ablation.edges, mechanism, rng)
            masks.append(edge_sets.mask_edges(ablation, drawn))
    effects = edge_sets.measure_effects(ablation, masks)
    return effects.unchanged_CP.reshape(len(mechanisms), draws, probes)
