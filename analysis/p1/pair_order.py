"""Do symmetric networks ignore the order of the pair, or do they not know it?

In every converged member: how much of the order of the two anchors is there where the
answer is given (`circuits.order`), from the start of training to its end, beside the
answers to the unseen pair. Noise stands last where the task has such sequences. With
--every=true also in those that have not converged: dashed lines, and crosses.

  python -m analysis pair_order --run runs/phase_noise
"""

from typing import Annotated, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from analysis.circuits import interventions, sequences
from analysis.circuits.order import Comparison, draw_comparison, measure_order
from analysis.drawing import style
from analysis.members.member import Member, member_of, require_attention
from analysis.members.point import Point, name_point
from analysis.members.selection import (
    find_converged,
    iterate_converged,
    iterate_members,
    report_progress,
)
from analysis.members.solution import SOLVED, UNSEEN_MAPPINGS
from anchorjax.errors import UserError
from anchorjax.limits import at_least, at_most
from anchorjax.storage.reader import Run

TITLE = 'Order of the pair'
PAPER = 'ours'
CAPTION = (
    'Can a network tell a pair from its reverse where it answers? The distance '
    'between its activations for the two is divided by that between pairs with '
    'another anchor, and drawn through training and beside its answers. At 0 the '
    'order is not there, so that both get one answer.'
)


# What is drawn for 0, and for everything below.
_LOWEST = 1e-5
_NEITHER = 'other'  # of style.COLOURS
_MOST_ASKED = 512  # sequences of a probe


class Result(NamedTuple):
    """M members, S snapshots, N layers."""

    points: tuple[str, ...]  # [M] 'gamma=0.6,seed=0'
    converged_M: np.ndarray  # bool
    # Agreement with UNSEEN_MAPPINGS on the unseen pairs, of the probe's sequences that
    # end in noise, or of all if there are none.
    answers_M2: np.ndarray
    step_S: np.ndarray
    # After the attention of each layer; NaN where a member has no such snapshot or
    # layer, or where its anchors make no difference at all.
    order_MSN: np.ndarray
    order_M: np.ndarray  # after the last layer's attention, at the last step
    first_order_M: np.ndarray  # the same at the first snapshot
    left_out: int  # trained members that have not converged


def compute(
    run: Run,
    every: Annotated[bool, 'True: also what has not converged'] = False,
    number: Annotated[int, at_least(1), at_most(100_000), 'random sequences'] = 1024,
) -> Result:
    """Measures the order in every snapshot of every converged member.

    Args:
      every: also in trained members that have not converged.
      number: random sequences.

    Raises:
      UserError: there is no such member, a task is not the anchor task with an unseen
        pair and at least three anchors, or a model has no attention.
    """
    trained = list(iterate_members(run))
    candidates = trained if every else list(iterate_converged(run))
    if not candidates:
        raise UserError('no member is trained' if every else 'no member has converged')
    is_converged = find_converged(run).values
    points, converged, answers, curves = [], [], [], []
    for index, point in report_progress(candidates, 'order of the pair'):
        member = member_of(run, **point)
        converged.append(is_converged[index])
        points.append(name_point(run, point))
        answers.append(_share_answers(member))
        require_attention(member)
        comparison = draw_comparison(member, number)
        curves.append(_follow_order(run, point, comparison))
    steps = sorted(set().union(*curves))
    order_MSN = _align_curves(curves, steps)
    ends = []
    for curve in curves:
        ends.append((curve[min(curve)][-1], curve[max(curve)][-1]))
    first_order, order = zip(*ends, strict=True)
    return Result(
        points=tuple(points),
        converged_M=np.array(converged),
        answers_M2=np.array(answers),
        step_S=np.array(steps),
        order_MSN=order_MSN,
        order_M=np.array(order),
        first_order_M=np.array(first_order),
        left_out=len(trained) - len(candidates),
    )


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [1, 2]: order during training, and at its end beside the answers."""
    curves, ends = axes[0]
    kinds = [_name_kind(answers) for answers in result.answers_M2]
    for m, kind in enumerate(kinds):
        order_S = _select_last_layer(result.order_MSN[m])
        known_S = np.isfinite(order_S)
        shown = np.maximum(order_S[known_S], _LOWEST)
        steps = result.step_S[known_S]
        line = '.-' if result.converged_M[m] else '.--'
        curves.plot(steps, shown, line, ms=3, lw=0.8, color=style.COLOURS[kind])
    curves.set(yscale='log', xlabel='step', ylabel='order of the pair, last layer')
    curves.set_title(
        'during training; 0: exchanged anchors change nothing\n'
        f'{result.left_out} not converged, left out'
    )
    _draw_ends(ends, result, kinds)


def layout(result: Result) -> style.Layout:
    """Two panels, whatever the number of members."""
    return style.Layout(1, 2, 7.0, 2.8)


def _draw_ends(axis: Axes, result: Result, kinds: list[str]) -> None:
    """Order at the end against the share of symmetric answers, a point a member."""
    symmetric_M = result.answers_M2[:, UNSEEN_MAPPINGS.index('symmetric')]
    for m, kind in enumerate(kinds):
        marker = 'o' if result.converged_M[m] else 'x'
        height = max(result.order_M[m], _LOWEST)
        colour = style.COLOURS[kind]
        axis.plot(symmetric_M[m], height, marker, ms=4, mfc='none', color=colour)
    for kind in (*UNSEEN_MAPPINGS, _NEITHER):
        label = f'{kind} in at least {SOLVED:g}' if kind != _NEITHER else 'neither'
        colour = style.COLOURS[kind]
        axis.plot([], [], 'o', mfc='none', color=colour, label=label)
    axis.set(yscale='log', xlabel='answers as the reverse', xlim=(-0.05, 1.05))
    axis.set_title('at the end')
    axis.legend()


def _follow_order(
    run: Run, point: Point, comparison: Comparison
) -> dict[int, np.ndarray]:
    """{step: order [layer]} of a member's snapshots, on the same sequences."""
    curve = {}
    for step in run.steps(**point):
        curve[step] = measure_order(member_of(run, step, **point), comparison)
    return curve


def _share_answers(member: Member) -> list[float]:
    """Shares [2] of UNSEEN_MAPPINGS among the answers to the probe of unseen pairs."""
    sequences.require_unseen_pair(member)
    tokens_BT, labels_PRB = sequences.select_probes(member, _MOST_ASKED)
    answers_B = interventions.read_answers(member.forward(tokens_BT))
    unseen = member.task.probe_names.index('unseen')
    agrees_PRB = answers_B.reshape(len(labels_PRB), 1, -1) == labels_PRB
    mappings = [member.task.mapping_names.index(name) for name in UNSEEN_MAPPINGS]
    return agrees_PRB[unseen, mappings].mean(-1).tolist()


def _align_curves(curves: list[dict[int, np.ndarray]], steps: list[int]) -> np.ndarray:
    """Order [M, S, N] of members with their own steps and layers; NaN elsewhere."""
    depth = max(len(order) for curve in curves for order in curve.values())
    order_MSN = np.full((len(curves), len(steps), depth), np.nan)
    for m, curve in enumerate(curves):
        for step, order_N in curve.items():
            order_MSN[m, steps.index(step), : len(order_N)] = order_N
    return order_MSN


def _select_last_layer(order_SN: np.ndarray) -> np.ndarray:
    """Order [S] after the last layer that this member has."""
    has_layer_N = np.isfinite(order_SN).any(0)
    layers = max(1, has_layer_N.sum())
    return order_SN[:, layers - 1]


def _name_kind(answers_2: np.ndarray) -> str:
    """The mapping that gives most answers, if it gives enough of them."""
    best = int(np.argmax(answers_2))
    return UNSEEN_MAPPINGS[best] if answers_2[best] >= SOLVED else _NEITHER
