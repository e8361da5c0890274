"""Which mechanism carries the solution, over a whole sweep: its edges alone, all others cut.

P1 Fig 3 shows one network of each kind. This asks every network of two layers which set of edges
(`causal.MECHANISMS`) suffices for the answers it gives, right or wrong.

  python analysis/mechanisms.py --run runs/phase
"""

from typing import NamedTuple

import numpy as np

from analysis import causal, phase
from analysis.circuits import edge_sets
from analysis.drawing import command, style
from analysis.members.member import label, member_of, varying
from analysis.members.selection import members, outcomes, told
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run


class Result(NamedTuple):
    """M members of two layers, C mechanisms."""

    points: tuple[str, ...]  # [M] 'depth=2,gamma=1.5,seed=0'
    mechanism_names: tuple[str, ...]
    unchanged_MC: (
        np.ndarray
    )  # answers that stay: the lower of unseen and held-out sequences
    scores_M3: np.ndarray  # inferential and symmetric on the unseen pair, held-out
    solutions: tuple[str, ...]  # phase.SOLUTIONS


def compute(run: Run, renormalize: bool = True) -> Result:
    """Cuts all but a mechanism's edges in every trained member.

    Args:
      renormalize: whether attention sums to one again after a cut (`interventions.cut`).

    Raises:
      UserError: no trained member has two layers.
    """
    outcome_3 = outcomes(run.results).values
    points, unchanged, scores = [], [], []
    for index, point in told(list(members(run)), 'mechanisms'):
        found = _unchanged(run, point, renormalize)
        if found is not None:
            points.append(label(varying(run, point)))
            unchanged.append(found)
            scores.append(outcome_3[(slice(None), *index)])
    if not points:
        raise UserError('no trained member of two layers: the mechanisms are of two')
    return Result(
        points=tuple(points),
        mechanism_names=tuple(causal.MECHANISMS),
        unchanged_MC=np.array(unchanged),
        scores_M3=np.array(scores),
        solutions=tuple(phase.solution(*three) for three in scores),
    )


def draw(result: Result, axes) -> None:
    """Fills axes [1, 2]: what each member answers, and what suffices for it."""
    style.heatmap(axes[0, 0], result.scores_M3, 'Greys', (0, 1))
    axes[0, 0].set_yticks(range(len(result.points)), result.points, fontsize=6)
    names = ['unseen: infer.', 'unseen: symm.', 'held-out']
    axes[0, 0].set_xticks(range(3), names, rotation=30, ha='right')
    axes[0, 0].set_title('agreement')
    style.heatmap(axes[0, 1], result.unchanged_MC, 'Purples', (0, 1))
    axes[0, 1].set_yticks(range(len(result.points)), result.solutions, fontsize=6)
    columns = range(len(result.mechanism_names))
    axes[0, 1].set_xticks(columns, result.mechanism_names, rotation=30, ha='right')
    axes[0, 1].set_title('answers unchanged with these edges alone')


def layout(result: Result) -> style.Layout:
    return style.Layout(1, 2, 7.0, 1.5 + 0.16 * len(result.points))


def _unchanged(run: Run, point: dict, renormalize: bool) -> np.ndarray | None:
    """[C] of one member, or None unless it has two layers."""
    member = member_of(run, **point)
    if member.depth != 2:
        return None
    asked = edge_sets.questions(member)
    edges = edge_sets.edges(member, asked, member.depth)
    allow = lambda some: edge_sets.allow(some, member.depth, member.task.role_names)
    allowed_CNJJ = np.stack(causal.sets(allow, edges))
    unchanged_CP = edge_sets.ask(member, asked, allowed_CNJJ, renormalize).unchanged_CP
    probes = [member.task.probe_names.index(p) for p in ('unseen', 'seen_heldout')]
    return unchanged_CP[:, probes].min(-1)


if __name__ == '__main__':
    flag = command.Flag(
        command.truth, True, 'false: the other weights stay as they were'
    )
    command.sweep(__doc__, 'mechanisms', compute, draw, layout, renormalize=flag)
