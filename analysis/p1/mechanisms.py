"""Which mechanism suffices in which member: its edges alone, all others cut.

P1 Fig 3 shows one network of each kind. Here every converged two-layer network of a
sweep is tested: which of the sets of edges in `circuits.hypotheses` suffice for the
answers that it gives, right or wrong?

  python -m analysis mechanisms --run runs/phase
"""

from typing import Annotated, NamedTuple

import numpy as np

from analysis.circuits import edge_sets, hypotheses, sequences
from analysis.drawing import style
from analysis.members.member import Member, member_of
from analysis.members.point import name_point
from analysis.members.selection import (
    collect_outcomes,
    count_unconverged,
    iterate_converged,
    report_progress,
    require_task,
)
from analysis.members.solution import find_solutions
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

TITLE = 'Mechanisms'
PAPER = 'P1 Fig 3'
CAPTION = (
    'Attention moves information along edges, from one kind of token to another. '
    'Which few edges are enough for a network to keep its answers when all others are '
    'cut? This tests P1 Fig 3 on every converged network.'
)


class Result(NamedTuple):
    """M converged members of two layers, C mechanisms."""

    points: tuple[str, ...]  # [M] 'depth=2,gamma=1.5,seed=0'
    mechanism_names: tuple[str, ...]
    # Share of answers unchanged: the lower of unseen pair and held-out sequences.
    unchanged_MC: np.ndarray
    # Agreement: inferential and symmetric on the unseen pair, assigned on held-out.
    scores_M3: np.ndarray
    solutions: tuple[str, ...]  # of members.solution.SOLUTIONS
    left_out: int  # trained members that have not converged


def compute(
    run: Run,
    renormalize: Annotated[
        bool, 'False: the weights that are left stay as they were'
    ] = True,
) -> Result:
    """Cuts all edges but a mechanism's in every converged member.

    Args:
      renormalize: whether attention sums to one again after a cut
        (`interventions.make_cut_edit`).

    Raises:
      UserError: the task is not the anchor task with an unseen pair, or
        `hypotheses.apply_to` is false for every converged member.
    """
    require_task(run, ('anchors',), "task 'anchors'")
    outcomes = collect_outcomes(run).values  # [3, axes of the sweep]
    names = find_solutions(run.results).values
    candidates = list(iterate_converged(run))
    points, unchanged, scores, solutions = [], [], [], []
    for index, point in report_progress(candidates, 'mechanisms'):
        member = member_of(run, **point)
        if not hypotheses.apply_to(member):
            continue
        unchanged.append(_test_mechanisms(member, renormalize))
        scores.append(outcomes[:, *index])
        solutions.append(str(names[index]))
        points.append(name_point(run, point))
    if not points:
        raise UserError(
            'no converged member has two layers and a key before its anchors, which '
            'the mechanisms are about'
        )
    return Result(
        points=tuple(points),
        mechanism_names=tuple(hypotheses.MECHANISMS),
        unchanged_MC=np.array(unchanged),
        scores_M3=np.array(scores),
        solutions=tuple(solutions),
        left_out=count_unconverged(run),
    )


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [1, 2]: what each member answers, and which edges suffice for it."""
    scores, suffices = axes[0]
    rows = range(len(result.points))
    style.draw_heatmap(scores, result.scores_M3, 'Greys', (0, 1))
    scores.set_yticks(rows, result.points, fontsize=6)
    names = ['unseen: infer.', 'unseen: symm.', 'held-out']
    scores.set_xticks(range(3), names, rotation=30, ha='right')
    scores.set_title(f'agreement; {result.left_out} not converged, left out')

    style.draw_heatmap(suffices, result.unchanged_MC, 'Purples', (0, 1))
    suffices.set_yticks(rows, result.solutions, fontsize=6)
    columns = range(len(result.mechanism_names))
    suffices.set_xticks(columns, result.mechanism_names, rotation=30, ha='right')
    suffices.set_title('answers unchanged with these edges alone')


def layout(result: Result) -> style.Layout:
    """Two panels with one row a member."""
    height = 1.5 + 0.16 * len(result.points)
    return style.Layout(1, 2, 7.0, height)


def _test_mechanisms(member: Member, renormalize: bool) -> np.ndarray:
    """[C] share of answers unchanged, the lower of unseen and held-out sequences."""
    sequences.require_unseen_pair(member)
    ablation = edge_sets.prepare_ablation(member, renormalize)
    masks = hypotheses.mask_mechanisms(ablation)
    effects = edge_sets.measure_effects(ablation, masks)
    unseen = member.task.probe_names.index('unseen')
    heldout = member.task.probe_names.index('seen_heldout')
    unchanged_C2 = effects.unchanged_CP[:, [unseen, heldout]]
    return unchanged_C2.min(-1)
