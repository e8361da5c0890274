"""Every network as the page shows it: state, numbers, curves, and a look inside."""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from analysis import figure, frame
from analysis.circuits.sequences import require_anchor_task
from analysis.members.measures import DECIDING_LOSS
from analysis.members.point import Point
from analysis.names import name_network
from analysis.report.numbers import shorten
from analysis.report.subject import Subject
from analysis.vectors import order
from anchorjax.errors import CorruptFileError, UserError
from anchorjax.grid import axis_label
from anchorjax.network import Network
from anchorjax.storage.reader import Run
from anchorjax.tasks.solution import UNSEEN_MAPPINGS

DIGITS = 4  # of a number on the page, and of the last one of its curve
PICTURE_DIGITS = 3  # more cannot be seen
SERIES = ('agreement', 'eval_set_loss', 'fit_loss')
PROGRESS_EVERY = 100  # members

Described = dict[str, Any]


def describe_members(
    subject: Subject, report_progress: Callable[[str], None]
) -> list[Described]:
    """An entry for every member, in the order of the grid."""
    run = subject.run
    series = _read_series(subject)
    members = []
    rows = zip(subject.points, subject.members.iterrows(), strict=True)
    for number, (point, (_, row)) in enumerate(rows):
        labels = {axis: axis_label(value) for axis, value in point.items()}
        member = {'point': labels, 'name': name_network(run, point)}
        member['status'] = _describe_status(run, row)
        member['numbers'] = _list_numbers(subject, row)
        if subject.unseen is not None:
            if row.usable:
                member |= _describe_answer(row)
            member |= _look_inside(run, point, report_progress)
        for name, values in series.items():
            member[name] = shorten(values[number], DIGITS)
        members.append(member)
        if len(members) % PROGRESS_EVERY == 0:
            report_progress(f'{len(members)} of {len(subject.points)} members')
    return members


def list_positions(subject: Subject) -> list[int]:
    """Positions of the key by which the unseen pair is scored, from 0."""
    if subject.unseen is None:
        return []
    positions = []
    for label in subject.run.results.group.values.tolist():
        if label.startswith('at_'):  # else they are pairs
            positions.append(int(label.removeprefix('at_')))
    return positions


def _describe_status(run: Run, row: pd.Series) -> str:
    """'trained', 'not trained', 'diverged at ...' or 'not converged (...)'."""
    if row.diverged >= 0:
        return f'diverged at step {row.diverged}'
    if not row.trained:
        return 'not trained'
    if row.converged:
        return 'trained'
    return f'not converged ({DECIDING_LOSS} {row.fit_loss:.2g})'


def _list_numbers(subject: Subject, row: pd.Series) -> dict[str, Any]:
    numbers = {DECIDING_LOSS: float(row.fit_loss)}
    for one in subject.shown:
        numbers[one.long_label] = float(row[one.name])
    if 'unseen_within_1' in row:
        numbers['within ±1 of the composed answer'] = float(row.unseen_within_1)
    return shorten(numbers, DIGITS)


def _describe_answer(row: pd.Series) -> Described:
    """Its solution, its most frequent answer, and its answers by position.

    No solution where it has not converged: the status says so.
    """
    by_position = {}
    for mapping in UNSEEN_MAPPINGS:
        scores = row.filter(like=f'unseen_{mapping}_at_').to_numpy(float)
        by_position[mapping] = shorten(scores, PICTURE_DIGITS)
    return {
        'solution': row.solution if row.converged else None,
        'answer': f'{row.unseen_answer} (share {row.unseen_answer_share:.2f})',
        'by_position': by_position,
    }


def _read_series(subject: Subject) -> dict[str, np.ndarray]:
    """Curves of all members, [M, ..., S]: the record steps are last.

    With agreement by_group [M, P, G] with what is trained, of a task with groups.
    """
    run = subject.run
    names = [*SERIES, *[one.measure.source for one in subject.shown]]
    names = list(dict.fromkeys(names))
    curves = frame.select_members(run, subject.members, run.curves[names])
    curves = curves.transpose('member', ..., 'step')
    series = {name: curves[name].values for name in names}
    if subject.unseen is None and run.results.sizes['group']:
        trained = run.experiment.task.make().trained_mapping
        by_group = run.results.agreement_by_group.sel(mapping=trained)
        by_group = frame.select_members(run, subject.members, by_group)
        series['by_group'] = by_group.transpose(..., 'eval_set', 'group').values
    return series


def _look_inside(
    run: Run, point: Point, report_progress: Callable[[str], None]
) -> Described:
    """Attention and embedding of a member; None for what there is not.

    A member that is not trained has no parameters, and a task may lack the sequence
    that the attention is shown on. Damage is reported.
    """
    inside = {}
    try:
        member = run.network(**point)
    except UserError as error:
        if isinstance(error, CorruptFileError):
            report_progress(f'{name_network(run, point)}: {error}')
        return inside
    with contextlib.suppress(UserError):
        inside['attention'] = _describe_attention(member)
    with contextlib.suppress(UserError):
        inside['embedding'] = _describe_embedding(member)
    return inside


def _describe_attention(member: Network) -> Described:
    attention_flow = figure.find_figure('attention_flow')
    flow = attention_flow.read_sequence(member)
    return {
        'tokens': flow.token.values.tolist(),
        'roles': flow.role.values.tolist(),
        'layers': shorten(flow.attention.values, PICTURE_DIGITS),
        'prediction': flow.prediction.item(),
        'expected': flow.answer.to_series().to_dict(),
    }


def _describe_embedding(member: Network) -> Described:
    items = np.arange(*require_anchor_task(member).keys)
    scores, explained = order.pca(member.matrix('W_embed')[items])
    return {
        'values': items.tolist(),
        'xy': shorten(scores[:, :2], PICTURE_DIGITS),
        'explained': shorten(explained[:2], PICTURE_DIGITS),
    }
