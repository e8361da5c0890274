"""The tables of the page: what came out, by axis and by setting, and how sure it is."""

import math
from typing import Any

import numpy as np
import pandas as pd

from analysis import estimates, stats
from analysis.members.measures import describe_criterion
from analysis.members.selection import list_varying
from analysis.names import label_value, name_axis, name_value
from analysis.report.subject import Metric, Subject
from anchorjax.grid import axis_label
from anchorjax.tasks.solution import DIVERGED, NOT_CONVERGED

Cell = dict[str, str]  # mean and interval, as text
# What a network does that ended so, for a reader who knows none of the names.
MEANINGS = {
    'composed': 'composes the two anchors',
    'symmetric': 'answers as for the reversed pair',
    'shadow': 'misses a tenth or more of the numbers that were held out',
    'memorizing': 'misses most of the numbers that were held out',
    'neither': 'gives other answers, or several',
    NOT_CONVERGED: 'has not learned its training data',
    DIVERGED: 'has no finite loss any more',
}


def describe_outcome(subject: Subject) -> dict[str, Any]:
    """The first table: a column for all networks and for each value of an axis.

    A row is how networks ended, with counts, where there is an unseen pair; else it is
    a measure, with means.
    """
    run = subject.run
    headings = []  # axis, (label, note) of each of its values
    columns = {'all': subject.members}  # networks by their name
    for axis in list_varying(run.experiment.axes):
        labels = []
        for value in run.experiment.axes[axis]:
            labels.append(label_value(run, axis, value))
            is_here = subject.members[axis] == axis_label(value)
            columns[name_value(run, axis, value)] = subject.members[is_here]
        headings.append((name_axis(axis), labels))
    parts = list(columns.values())
    if subject.unseen is None:
        rows = [_describe_measure(subject, one, parts) for one in subject.shown]
    else:
        rows = _list_solutions(parts)
    return {
        'headings': headings,
        'names': list(columns),
        'rows': rows,
        'networks': list(map(_count_networks, parts)),
        'trained': int(subject.members.trained.sum()),
        'usable': int(subject.members.usable.sum()),
        'converged': int(subject.members.converged.sum()),
        'criterion': describe_criterion(subject.run.experiment),
        'seeds': compare_seeds(subject),
    }


def describe_settings(subject: Subject) -> dict[str, Any]:
    """A row for every setting with trained networks, the seeds taken together."""
    axes = list_varying(subject.run.experiment.axes)
    trained = subject.members[subject.members.trained]
    rows = []
    for part in _list_settings(subject, trained):
        first = part.iloc[0]
        labels = [label_value(subject.run, axis, first[axis]) for axis in axes]
        row = {'labels': labels, 'networks': _count_networks(part)}
        row['cells'] = [average(part, one) for one in subject.shown]
        if subject.unseen is not None:
            row['solutions'] = _count_solutions(part)
        rows.append(row)
    return {
        'axes': list(map(name_axis, axes)),
        'measures': [one.long_label for one in subject.shown],
        'rows': rows,
    }


def average(members: pd.DataFrame, one: Metric) -> Cell:
    """The mean of all networks that did not diverge, by seed, and its interval.

    Networks of one seed are no independent draws: their mean counts once, as in claims.
    """
    possible = stats.SHARE if one.is_share else stats.POSITIVE
    values = estimates.average(members[members.usable], one.name)
    mean, low, high = stats.mean_interval(values, possible)
    interval = ''
    if not math.isnan(low + high):
        interval = f'{format_number(low)} to {format_number(high)}'
    return {'mean': format_number(mean), 'interval': interval}


def format_number(value: float) -> str:
    """'0.31', '12.4', '0.0031'; '–' where there is none."""
    if math.isnan(value):
        return '–'
    if abs(value) < 0.005 and value != 0:
        return f'{value:.1g}'
    if abs(value) < 10:
        return f'{value:.2f}'
    return f'{value:.3g}'


def compare_seeds(subject: Subject) -> dict[str, Any]:
    """How the seeds of a setting agree, where several of them count.

    alike: settings whose converged networks all have one solution, of a sweep with an
    unseen pair. spread, widest: how far the tested measure of the seeds lies apart, in
    the mean and at most; of any other sweep.
    """
    found = {'number': len(subject.run.experiment.axes['seed'])}
    found['few'] = found['number'] < stats.MIN_SEEDS
    found['least'] = stats.MIN_SEEDS
    members = subject.members
    chosen = members[members.usable]
    if subject.unseen is not None:
        chosen = members[members.converged]
    alike = 0
    ranges = []
    for part in _list_settings(subject, chosen):
        if len(part) > 1:
            ranges.append(np.ptp(part[subject.tested.name]))
            alike += 'solution' in part and part.solution.nunique() == 1
    found |= {'settings': len(ranges), 'alike': alike, 'tested': subject.tested.label}
    if ranges:
        found['spread'] = format_number(float(np.mean(ranges)))
        found['widest'] = format_number(float(np.max(ranges)))
    return found


def _describe_measure(
    subject: Subject, one: Metric, parts: list[pd.DataFrame]
) -> dict[str, Any]:
    return {
        'label': one.label,
        'says': one.description,
        'style': one.style,
        'cells': [average(part, one) for part in parts],
        'is_tested': one == subject.tested,
    }


def _list_solutions(parts: list[pd.DataFrame]) -> list[dict[str, Any]]:
    """How many networks ended in each way that occurs."""
    rows = []
    for solution, meaning in MEANINGS.items():
        cells = []
        for part in parts:
            is_here = part.solution == solution
            cells.append({'mean': str(is_here.sum()), 'interval': ''})
        row = {'label': solution, 'says': meaning, 'cells': cells}
        row |= {'style': solution.replace(' ', '-'), 'is_tested': False}
        if cells[0]['mean'] != '0':
            rows.append(row)
    return rows


def _count_networks(members: pd.DataFrame) -> str:
    """'3 of 4': networks that have converged, of those trained."""
    return f'{members.converged.sum()} of {members.trained.sum()}'


def _count_solutions(members: pd.DataFrame) -> str:
    """'2 composed, 1 not converged'."""
    texts = []
    for solution, count in members.solution.value_counts().items():
        texts.append(f'{count} {solution}')
    return ', '.join(texts)


def _list_settings(subject: Subject, members: pd.DataFrame) -> list[pd.DataFrame]:
    """The members of each setting, in the order of the grid."""
    axes = list_varying(subject.run.experiment.axes) or ['gamma']
    return [part for _, part in members.groupby(axes, sort=False)]
