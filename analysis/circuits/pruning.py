"""Pruning of edges: the few that give the same answers are a circuit."""

from collections.abc import Sequence

import numpy as np

from analysis.circuits import edge_sets
from analysis.circuits.edge_sets import Ablation, Edge


def prune_edges(ablation: Ablation) -> tuple[list[Edge], np.ndarray]:
    """Cuts edge after edge, always the one that changes the fewest answers.

    Returns:
      The edges in the order in which they were cut, and [E] the share of answers that
      were still unchanged after each, mean over the probes.
    """
    remaining = list(ablation.edges)
    removed = []
    unchanged = []
    while remaining:
        effects = edge_sets.cut_each_edge(ablation, remaining)
        unchanged_C = effects.unchanged_CP.mean(-1)
        best = int(unchanged_C.argmax())
        removed.append(remaining.pop(best))
        unchanged.append(unchanged_C[best])
    return removed, np.array(unchanged)


def find_circuit(
    removed: Sequence[Edge], unchanged_E: np.ndarray, faithful: float
) -> list[Edge]:
    """The smallest set of edges in pruning with this share of answers unchanged.

    Args:
      removed, unchanged_E: the results of `prune_edges`.
    """
    faithful_steps = np.flatnonzero(unchanged_E >= faithful)
    if len(faithful_steps) == 0:
        return sorted(removed)
    cut_count = faithful_steps[-1] + 1
    return sorted(removed[cut_count:])
