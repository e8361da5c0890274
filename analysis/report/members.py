"""Every network as the page shows it: state, numbers, curves, and a look inside."""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from analysis import figure
from analysis.members.measures import TOKENS
from analysis.members.member import Member, member_of
from analysis.members.point import Point
from analysis.members.selection import iterate_points
from analysis.members.solution import UNSEEN_MAPPINGS
from analysis.report.digits import shorten
from analysis.report.names import name_network
from analysis.report.subject import Subject
from analysis.vectors import order
from anchorjax.errors import Damaged, UserError
from anchorjax.grid import axis_label
from anchorjax.storage.reader import Run, members_table

DIGITS = 4  # of every number on the page
SERIES = ('agreement', 'probe_loss', 'train_loss')
SEQUENCES = 64  # random ones; the page shows the attention on one other sequence
PROGRESS_EVERY = 100  # members
# What only networks that may compose an unseen pair have.
NO_ANSWER = dict.fromkeys(('solution', 'answer', 'by_position'))
NOT_INSIDE = dict.fromkeys(('attention', 'embedding'))

Described = dict[str, Any]


def describe_members(
    subject: Subject, report_progress: Callable[[str], None]
) -> list[Described]:
    """An entry for every member, in the order of the grid."""
    run = subject.run
    rows = members_table(run)
    series = _read_series(subject)
    members = []
    for number, (index, point) in enumerate(iterate_points(run)):
        labels = {axis: axis_label(value) for axis, value in point.items()}
        member = {'point': labels, 'name': name_network(run, point)}
        member['status'] = _describe_status(subject, index)
        member['numbers'] = _list_numbers(subject, number, rows.iloc[number])
        member |= NO_ANSWER | NOT_INSIDE
        if subject.unseen is not None:
            if subject.members.usable[number]:
                member |= _describe_answer(subject, number, rows.iloc[number])
            member |= _look_inside(run, point, report_progress)
        for name, values in series.items():
            member[name] = shorten(values[number], DIGITS)
        member['by_group'] = _read_groups(subject, index)
        members.append(member)
        if (number + 1) % PROGRESS_EVERY == 0:
            report_progress(f'{number + 1} of {len(rows)} members')
    return members


def list_positions(subject: Subject) -> list[int]:
    """Positions of the key by which the unseen pair is scored, from 0."""
    if subject.unseen is None:
        return []
    groups = subject.run.results.group.values
    return [int(label.removeprefix('at_')) for label in groups]


def _describe_status(subject: Subject, index: tuple[int, ...]) -> str:
    """'trained', 'not trained', 'diverged at ...' or 'not converged (...)'."""
    counted = subject.counted
    diverged = int(subject.run.results.diverged.values[index])
    if diverged >= 0:
        return f'diverged at step {diverged}'
    if not counted.is_trained.values[index]:
        return 'not trained'
    if counted.is_converged.values[index]:
        return 'trained'
    loss = float(counted.loss.values[index])
    return f'not converged ({counted.loss_name} {loss:.2g})'


def _list_numbers(subject: Subject, number: int, row: pd.Series) -> dict[str, Any]:
    numbers = {'training loss': float(row.train_loss)}
    for one in subject.shown:
        numbers[one.line] = float(subject.members[one.name][number])
    if 'unseen_within_1' in row:
        numbers['within ±1 of the inferential answer'] = float(row.unseen_within_1)
    return shorten(numbers, DIGITS)


def _describe_answer(subject: Subject, number: int, row: pd.Series) -> Described:
    """Its solution, its most frequent answer, and its answers by position.

    The solution is that of the answers, converged or not: the status says which.
    """
    by_position = {}
    for mapping in UNSEEN_MAPPINGS:
        start = f'unseen_{mapping}_at_'
        scores = [row[name] for name in row.index if name.startswith(start)]
        by_position[mapping] = shorten(np.array(scores, float), DIGITS)
    return {
        'solution': str(subject.members.solution[number]),
        'answer': f'{row.unseen_answer} (share {row.unseen_answer_share:.2f})',
        'by_position': by_position,
    }


def _read_series(subject: Subject) -> dict[str, np.ndarray]:
    """Curves of all members, [M, ..., S]: the record steps are last."""
    names = [*SERIES]
    if any(one.measure.source == TOKENS for one in subject.shown):
        names.append(TOKENS)
    axes = len(subject.run.experiment.axes)
    series = {}
    for name in names:
        cube = subject.run.curves[name]
        members = cube.values.reshape(-1, *cube.shape[axes:])
        series[name] = np.moveaxis(members, 1, -1)
    return series


def _read_groups(subject: Subject, index: tuple[int, ...]) -> list | None:
    """Agreement [P, G] with what is trained; None for a task without groups."""
    run = subject.run
    if subject.unseen is not None or not run.results.sizes['group']:
        return None
    trained = run.experiment.task.make().trained_mapping
    by_group = run.results.agreement_by_group.sel(mapping=trained)
    return shorten(by_group.transpose(..., 'probe', 'group').values[index], DIGITS)


def _look_inside(
    run: Run, point: Point, report_progress: Callable[[str], None]
) -> Described:
    """Attention and embedding of a member; None for what there is not.

    A member that is not trained has no parameters, and a task may lack the sequence
    that the attention is shown on. Damage is reported.
    """
    inside = dict(NOT_INSIDE)
    try:
        member = member_of(run, **point)
    except UserError as error:
        if isinstance(error, Damaged):
            report_progress(f'{name_network(run, point)}: {error}')
        return inside
    with contextlib.suppress(UserError):
        inside['attention'] = _describe_attention(member)
    with contextlib.suppress(UserError):
        inside['embedding'] = _describe_embedding(member)
    return inside


def _describe_attention(member: Member) -> Described:
    attention_flow = figure.find_figure('attention_flow')
    flow = attention_flow.compute(member, number=SEQUENCES)
    return {
        'tokens': flow.tokens_T.tolist(),
        'roles': [flow.role_names[role] for role in flow.roles_T],
        'layers': shorten(flow.Attn_NTT, DIGITS),
        'prediction': flow.prediction,
        'expected': flow.expected,
    }


def _describe_embedding(member: Member) -> Described:
    items = np.arange(*member.experiment.task.keys)
    scores, explained = order.pca(member.matrix('W_embed')[items])
    return {
        'values': items.tolist(),
        'xy': shorten(scores[:, :2], DIGITS),
        'explained': shorten(explained[:2], DIGITS),
    }
