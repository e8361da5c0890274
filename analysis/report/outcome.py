"""The tables of the page: what came out, by axis and by setting, and how sure it is."""

import math
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from analysis import stats
from analysis.members.selection import list_varying
from analysis.members.solution import SOLUTIONS
from analysis.report.names import label_value, name_axis, name_value
from analysis.report.subject import Shown, Subject

Cell = dict[str, str]  # mean and interval, as text
NOTHING: Cell = {'mean': '–', 'interval': ''}
# What a network of each solution does, for a reader who knows none of the names.
MEANINGS = {
    'inferential': 'compose the two anchors',
    'symmetric': 'answer as for the reversed pair',
    'half and half': 'do one or the other, by the position of x',
    'third': 'give one other answer',
    'memorizing': 'miss trained pairs with numbers that were held out',
    'other': 'give several answers',
}


class Columns(NamedTuple):
    """The columns of the first table."""

    headings: list[tuple[str, list[tuple[str, str]]]]  # axis, labels of its values
    names: list[str]  # of each column, in words
    parts: list[pd.DataFrame]  # the networks of each column


def describe_outcome(subject: Subject) -> dict[str, Any]:
    """The first table: a column for all networks and for each value of an axis.

    A row is a solution, with counts, where there is an unseen pair that all converged
    networks answer somehow; else it is a measure, with means.
    """
    members = subject.members
    columns = _list_columns(subject)
    if subject.unseen is None:
        rows = []
        for one in subject.shown:
            rows.append(_describe_measure(subject, one, columns.parts))
    else:
        rows = _list_solutions(columns.parts)
    networks = list(map(_count_networks, columns.parts))
    return {
        'headings': columns.headings,
        'names': columns.names,
        'rows': rows,
        'networks': networks,
        'trained': int(members.trained.sum()),
        'counted': int(members.counted.sum()),
        'has_converged': subject.counted.has_converged,
        'is_partial': any(number.startswith('0 of') for number in networks),
        'criterion': subject.counted.criterion,
        'sure': describe_certainty(subject),
    }


def describe_settings(subject: Subject) -> dict[str, Any]:
    """A row for every setting with trained networks, the seeds taken together."""
    run = subject.run
    axes = list_varying(run.experiment.axes)
    rows = []
    for part in _list_settings(subject, subject.members[subject.members.trained]):
        first = part.iloc[0]
        labels = []
        for axis in axes:
            labels.append(
                label_value(run, axis, run.experiment.axes[axis][first[axis]])
            )
        cells = [average(part, one) for one in subject.shown]
        row = {'labels': labels, 'networks': _count_networks(part), 'cells': cells}
        rows.append(row | {'solutions': _count_solutions(part)})
    return {
        'axes': [name_axis(axis) for axis in axes],
        'measures': [one.line for one in subject.shown],
        'rows': rows,
    }


def average(members: pd.DataFrame, one: Shown) -> Cell:
    """The mean of the networks that count, by seed, and its interval.

    Where none counts it is of all that did not diverge, in parentheses. Networks of one
    seed are no independent draws: their mean counts once.
    """
    counted = members[members.counted]
    if len(counted):
        return _format_mean(counted, one)
    usable = members[members.usable]
    if not len(usable):
        return NOTHING
    cell = _format_mean(usable, one)
    return {name: f'({text})' if text else '' for name, text in cell.items()}


def format_number(value: float) -> str:
    """'0.31', '12.4', '0.0031'; '–' where there is none."""
    if math.isnan(value):
        return '–'
    if abs(value) < 0.005 and value != 0:
        return f'{value:.1g}'
    return f'{value:.2f}' if abs(value) < 10 else f'{value:.3g}'


def describe_certainty(subject: Subject) -> list[str]:
    """Sentences: whether seeds agree, what counts, and what intervals are."""
    counted = subject.counted
    trained = int(counted.is_trained.sum())
    number = int(counted.is_counted.sum())
    if subject.unseen is None:
        sentences = [_describe_spread(subject)]
    else:
        sentences = [_describe_agreement(subject)]
    if counted.has_converged:
        text = f'Converged means: {counted.criterion}'
        if trained > number:
            text += f'; {trained - number} of {trained} trained networks did not get '
            text += 'there, and are not counted here. The diagram shows and marks '
            text += 'them. Where few of many are counted, they are a selection'
    else:
        text = f'No network has converged ({counted.criterion}), so the means are of '
        text += f'{number} networks as they are'
        if trained > number:
            text += f'; {trained - number} diverged and are left out'
    sentences.append(f'{text}.')
    if len(subject.run.experiment.axes['seed']) < stats.MIN_SEEDS:
        text = f'There are fewer than {stats.MIN_SEEDS} seeds, so no mean has an '
        sentences.append(f'{text}interval.')
    return sentences


def _list_columns(subject: Subject) -> Columns:
    """All networks, then those at each value of every axis that varies."""
    run = subject.run
    columns = Columns([], ['all'], [subject.members])
    for axis in list_varying(run.experiment.axes):
        labels = []
        for place, value in enumerate(run.experiment.axes[axis]):
            labels.append(label_value(run, axis, value))
            columns.names.append(name_value(run, axis, value))
            columns.parts.append(subject.members[subject.members[axis] == place])
        columns.headings.append((name_axis(axis), labels))
    return columns


def _describe_measure(
    subject: Subject, one: Shown, parts: list[pd.DataFrame]
) -> dict[str, Any]:
    return {
        'label': one.label,
        'says': one.says,
        'style': one.style,
        'cells': [average(part, one) for part in parts],
        'is_tested': one == subject.tested,
    }


def _list_solutions(parts: list[pd.DataFrame]) -> list[dict[str, Any]]:
    """How many converged networks ended at each solution that occurs."""
    rows = []
    for solution in SOLUTIONS:
        cells = []
        for part in parts:
            is_here = part.converged & (part.solution == solution)
            cells.append({'mean': str(is_here.sum()), 'interval': ''})
        if cells[0]['mean'] != '0':
            rows.append(
                {
                    'label': solution,
                    'says': MEANINGS[solution],
                    'style': solution.replace(' ', '-'),
                    'cells': cells,
                    'is_tested': False,
                }
            )
    return rows


def _count_networks(members: pd.DataFrame) -> str:
    """'3 of 4': networks that count, of those trained."""
    return f'{members.counted.sum()} of {members.trained.sum()}'


def _count_solutions(members: pd.DataFrame) -> str:
    """'2 inferential, 1 other' of the converged networks; '' of another task."""
    if 'solution' not in members:
        return ''
    counts = members[members.converged].solution.value_counts()
    return ', '.join(f'{count} {solution}' for solution, count in counts.items()) or '–'


def _list_settings(subject: Subject, members: pd.DataFrame) -> list[pd.DataFrame]:
    """The members of each setting, in the order of the grid."""
    axes = list_varying(subject.run.experiment.axes)
    if not axes:
        return [members] if len(members) else []
    return [part for _, part in members.groupby(axes)]


def _format_mean(members: pd.DataFrame, one: Shown) -> Cell:
    mean, low, high = stats.mean_interval(members.groupby('seed')[one.name].mean())
    interval = ''
    if not math.isnan(low + high):
        low = max(low, 0.0)  # nothing that is measured is negative
        high = min(high, 1.0) if one.is_share else high
        interval = f'{format_number(low)} to {format_number(high)}'
    return {'mean': format_number(mean), 'interval': interval}


def _describe_agreement(subject: Subject) -> str:
    """Whether the converged seeds of a setting end at the same solution."""
    converged = subject.members[subject.members.converged]
    several = []
    for part in _list_settings(subject, converged):
        if len(part) > 1:
            several.append(part.solution.nunique() == 1)
    if not several:
        return (
            'No setting has two converged seeds (random starts), so nothing here says '
            'how much a result depends on chance.'
        )
    seeds = len(subject.run.experiment.axes['seed'])
    return (
        f'Each setting has {seeds} seeds (random starts). In {sum(several)} of the '
        f'{len(several)} settings with several converged seeds, all of them end at the '
        'same solution.'
    )


def _describe_spread(subject: Subject) -> str:
    """How far the seeds of a setting lie apart on what the task is about."""
    tested = subject.tested
    counted = subject.members[subject.members.counted]
    ranges = []
    for part in _list_settings(subject, counted):
        if len(part) > 1:
            ranges.append(np.ptp(part[tested.name]))
    if not ranges:
        return (
            'No setting has two seeds (random starts) that count, so nothing here says '
            'how much a result depends on chance.'
        )
    seeds = len(subject.run.experiment.axes['seed'])
    return (
        f'Each setting has {seeds} seeds (random starts). On “{tested.label}” the best '
        f'and the worst of them lie {format_number(float(np.mean(ranges)))} apart on '
        f'average, at most {format_number(float(np.max(ranges)))}.'
    )
