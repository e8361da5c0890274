"""Which few edges does each member work with? The circuit that pruning leaves.

`mechanisms` tests sets of edges that were written down before. Here nothing is assumed:
in every converged member edges are cut one after the other, always the one that changes
the fewest answers, as long as most answers stay as they were (`causal.FAITHFUL`).

  python -m analysis pruned_circuits --run runs/phase_noise
"""

from typing import NamedTuple

import numpy as np

from analysis.circuits import edge_sets, pruning
from analysis.circuits.edge_sets import Ablation, Edge
from analysis.drawing import style
from analysis.members.member import member_of
from analysis.members.point import name_point
from analysis.members.selection import (
    count_unconverged,
    iterate_converged,
    report_progress,
)
from analysis.members.solution import find_solutions
from analysis.p1.causal import FAITHFUL, name_edge
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

TITLE = 'Pruned circuits'
PAPER = 'ours, on P1 Fig 3'
CAPTION = (
    'The smallest set of edges of attention that keeps the answers of each network.'
)


class Result(NamedTuple):
    """M converged members; E edges, all that some member's sequences have."""

    points: tuple[str, ...]  # [M] 'gamma=0.6,seed=0'
    solutions: tuple[str, ...]  # [M] of members.solution.SOLUTIONS
    edges: tuple[str, ...]  # [E] '1: key → last', layers from 1
    has_ME: np.ndarray  # bool: whether the member's sequences have the edge
    kept_ME: np.ndarray  # bool: whether its circuit does
    unchanged_M: np.ndarray  # share of answers that stay with the circuit alone
    left_out: int  # trained members that have not converged


def compute(run: Run) -> Result:
    """Prunes the edges of every converged member.

    Raises:
      UserError: no member has converged, or the task is not the anchor task.
    """
    names = find_solutions(run.results).values
    candidates = list(iterate_converged(run))
    if not candidates:
        raise UserError('no member has converged')
    every, kept, unchanged, points, solutions = [], [], [], [], []
    for index, point in report_progress(candidates, 'pruned circuits'):
        ablation = edge_sets.prepare_ablation(member_of(run, **point))
        circuit, share = _prune(ablation)
        every.append(ablation.edges)
        kept.append(circuit)
        unchanged.append(share)
        points.append(name_point(run, point))
        solutions.append(str(names[index]))
    edges = sorted(set().union(*every))
    return Result(
        points=tuple(points),
        solutions=tuple(solutions),
        edges=tuple(map(name_edge, edges)),
        has_ME=edge_sets.mark_edges(every, edges),
        kept_ME=edge_sets.mark_edges(kept, edges),
        unchanged_M=np.array(unchanged),
        left_out=count_unconverged(run),
    )


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [1, 1]: the edges of each member's circuit; pale: not in its task."""
    axis = axes[0, 0]
    shade = np.where(result.kept_ME, 1.0, np.where(result.has_ME, 0.0, 0.2))
    axis.imshow(shade, cmap='Purples', vmin=0, vmax=1.2, aspect='auto')
    labels = []
    for point, solution, unchanged in zip(
        result.points, result.solutions, result.unchanged_M, strict=True
    ):
        labels.append(f'{point}: {solution}, {unchanged:.2f}')
    axis.set_yticks(range(len(labels)), labels, fontsize=6)
    columns = range(len(result.edges))
    axis.set_xticks(columns, result.edges, rotation=60, ha='right')
    axis.set_title(
        'edges that give the same answers alone; left: the share that stays\n'
        f'{result.left_out} not converged, left out'
    )


def layout(result: Result) -> style.Layout:
    """One panel with one row a member."""
    width = 3.0 + 0.22 * len(result.edges)
    height = 1.8 + 0.16 * len(result.points)
    return style.Layout(1, 1, width, height)


def _prune(ablation: Ablation) -> tuple[list[Edge], float]:
    """The circuit, and the share of answers that stay with it alone."""
    removed, unchanged_E = pruning.prune_edges(ablation)
    kept = pruning.find_circuit(removed, unchanged_E, FAITHFUL)
    cuts = len(removed) - len(kept)
    return kept, float(unchanged_E[cuts - 1]) if cuts else 1.0
