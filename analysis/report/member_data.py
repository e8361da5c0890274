"""Every member as the page shows it: its state, its curves, and a look inside it."""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from analysis.members.member import Member, member_of
from analysis.members.point import format_point
from analysis.members.selection import iterate_points
from analysis.members.solution import UNSEEN_MAPPINGS, classify_members
from analysis.p1 import attention_flow, embedding
from analysis.report.choose import explain_unconverged
from analysis.report.digits import shorten
from analysis.vectors import order
from anchorjax.errors import Damaged, UserError
from anchorjax.grid import axis_label
from anchorjax.storage.reader import Run, members_table

DIGITS = 4  # of every number on the page
SERIES = ('agreement', 'probe_loss', 'train_loss')
SEQUENCES = 64  # random ones; the page shows the attention on one other sequence
PROGRESS_EVERY = 100  # members


def describe_members(
    run: Run, report_progress: Callable[[str], None]
) -> list[dict[str, Any]]:
    """One entry per member, in the order of the grid."""
    points = [point for _, point in iterate_points(run)]
    table = members_table(run)
    solutions = classify_members(table).tolist()
    series = _read_series(run, len(points))
    members = []
    for i, point in enumerate(points):
        labels = {axis: axis_label(value) for axis, value in point.items()}
        member = {'point': labels}
        member |= _describe_state(table.iloc[i], solutions[i])
        member['by_position'] = _describe_positions(table.iloc[i])
        for name in SERIES:
            member[name] = shorten(series[name][i], DIGITS)
        member |= _look_inside(run, point, report_progress)
        members.append(member)
        if (i + 1) % PROGRESS_EVERY == 0:
            report_progress(f'{i + 1} of {len(points)} members')
    return members


def _read_series(run: Run, number: int) -> dict[str, np.ndarray]:
    """Curves of all members, [M, ..., S]: the record steps are last."""
    axes = len(run.experiment.axes)
    series = {}
    for name in SERIES:
        cube = run.curves[name]
        members = cube.values.reshape(number, *cube.shape[axes:])
        series[name] = np.moveaxis(members, 1, -1)
    return series


def list_positions(run: Run) -> list[int]:
    """Positions of the key by which the unseen pair is scored, from 0."""
    return [int(label.removeprefix('at_')) for label in run.results.group.values]


def _describe_state(row: pd.Series, solution: str) -> dict[str, Any]:
    """Status, solution, answer and numbers of one row of `reader.members_table`.

    The solution is that of the answers, converged or not: the status says which.
    """
    numbers = {
        'inferential on the unseen pair': row.unseen_inferential,
        'symmetric on the unseen pair': row.unseen_symmetric,
        'within ±1 of the inferential answer': row.unseen_within_1,
        'held-out agreement': row.seen_heldout_assigned,
        'training loss': row.train_loss,
        'held-out loss': row.loss_seen_heldout,
    }
    state = {
        'status': 'trained',
        'solution': solution,
        'answer': _describe_answer(row),
        'numbers': shorten(numbers, DIGITS),
    }
    if row.diverged >= 0:
        status = f'diverged at step {int(row.diverged)}'
        state |= {'status': status, 'solution': None, 'answer': None}
    elif not row.trained:
        state |= {'status': 'not trained', 'solution': None, 'answer': None}
    elif not row.converged:
        state['status'] = explain_unconverged(row.train_loss)
    return state


def _describe_answer(row: pd.Series) -> str:
    """'(4, 4) (share 0.97)': the most frequent answer to the unseen pair, by name."""
    return f'{row.unseen_answer} (share {row.unseen_answer_share:.2f})'


def _describe_positions(row: pd.Series) -> dict[str, list[float | None]] | None:
    """{mapping: agreement at each position of the key}; None where not trained."""
    if not row.trained:
        return None
    by_position = {}
    for mapping in UNSEEN_MAPPINGS:
        start = f'unseen_{mapping}_at_'
        scores = [row[name] for name in row.index if name.startswith(start)]
        by_position[mapping] = shorten(np.array(scores, float), DIGITS)
    return by_position


def _look_inside(
    run: Run, point: dict[str, Any], report_progress: Callable[[str], None]
) -> dict[str, Any]:
    """Attention and embedding of a member; None for what there is not.

    A member that is not trained has no parameters, and a task may lack the sequence
    that the attention is shown on. Damage is reported.
    """
    inside: dict[str, Any] = {'attention': None, 'embedding': None}
    try:
        member = member_of(run, **point)
    except UserError as e:
        if isinstance(e, Damaged):
            report_progress(f'{format_point(point)}: {e}')
        return inside
    with contextlib.suppress(UserError):
        inside['attention'] = _describe_attention(member)
    with contextlib.suppress(UserError):
        inside['embedding'] = _describe_embedding(member)
    return inside


def _describe_attention(member: Member) -> dict[str, Any]:
    flow = attention_flow.compute(member, number=SEQUENCES)
    return {
        'tokens': flow.tokens_T.tolist(),
        'roles': [flow.role_names[role] for role in flow.roles_T],
        'layers': shorten(flow.Attn_NTT, DIGITS),
        'prediction': flow.prediction,
        'expected': flow.expected,
    }


def _describe_embedding(member: Member) -> dict[str, Any]:
    matrix = member.matrix(embedding.MATRIX)
    items = embedding.check_items(member.experiment.task, matrix, None)
    scores, explained = order.pca(matrix[items])
    return {
        'values': items.tolist(),
        'xy': shorten(scores[:, :2], DIGITS),
        'explained': shorten(explained[:2], DIGITS),
    }
