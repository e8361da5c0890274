"""Every member as the page shows it: its state, its curves, and a look inside it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from analysis import attention_flow, embedding
from analysis.members.member import Member, member_of
from analysis.members.selection import iterate_points
from analysis.members.solution import classify_solution
from analysis.report.digits import shorten
from analysis.vectors import order
from anchorjax.config.grid import axis_label
from anchorjax.errors import UserError
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
    series = _read_series(run, len(points))
    members = []
    for i, point in enumerate(points):
        labels = {axis: axis_label(value) for axis, value in point.items()}
        member = {'point': labels}
        member |= _describe_state(table.iloc[i])
        for name in SERIES:
            member[name] = shorten(series[name][i], DIGITS)
        member |= _look_inside(run, point)
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


def _describe_state(row: pd.Series) -> dict[str, Any]:
    """Status, solution and numbers of one row of `reader.members_table`."""
    inferential = row.unseen_inferential
    symmetric = row.unseen_symmetric
    heldout = row.seen_heldout_assigned
    solution = None
    if row.diverged >= 0:
        status = f'diverged at step {int(row.diverged)}'
    elif not row.trained:
        status = 'not trained'
    else:
        status = 'trained'
        solution = classify_solution(inferential, symmetric, heldout)
    numbers = {
        'inferential on the unseen pair': inferential,
        'symmetric on the unseen pair': symmetric,
        'held-out agreement': heldout,
        'training loss': row.train_loss,
        'held-out loss': row.loss_seen_heldout,
    }
    numbers = shorten(numbers, DIGITS)
    return {'status': status, 'solution': solution, 'numbers': numbers}


def _look_inside(run: Run, point: dict[str, Any]) -> dict[str, Any]:
    """Attention and embedding of a member; None where it has no parameters to read."""
    try:
        member = member_of(run, **point)
        return {
            'attention': _describe_attention(member),
            'embedding': _describe_embedding(member),
        }
    except UserError:
        return {'attention': None, 'embedding': None}


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
