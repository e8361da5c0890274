"""The first screen: what came out on every probe, by axis, and how sure that is."""

from typing import Any, NamedTuple

import numpy as np

from analysis.members.statistics import MIN_SEEDS
from analysis.p1.accuracy import list_varying
from analysis.report.general.means import format_number
from analysis.report.general.subject import Subject
from anchorjax.grid import axis_label
from anchorjax.storage.reader import Run

NAMES = {'gamma': 'γ'}


class Column(NamedTuple):
    """The networks at one place on one axis; both empty: all networks."""

    axes: list[int]
    setting: list[int]


def describe_outcome(subject: Subject) -> dict[str, Any]:
    """A row for every measure, a column for all networks and each value of an axis."""
    headings, columns = _list_columns(subject.run.experiment.axes)
    rows = []
    for one in subject.shown:
        row = {'label': one.label, 'says': one.says, 'style': one.style}
        rows.append(row | {'cells': [], 'is_tested': one == subject.tested})
    trained_M = np.argwhere(subject.counted.is_trained.values)
    networks = []
    for column in columns:
        number, cells = subject.means.describe(*column)
        is_here_M = (trained_M[:, column.axes] == column.setting).all(axis=1)
        networks.append(f'{number} of {is_here_M.sum()}')
        for row, cell in zip(rows, cells, strict=True):
            row['cells'].append(cell)
    return {
        'headings': headings,
        'trained': len(trained_M),
        'counted': len(subject.means.counted.seed_M),
        'has_converged': subject.counted.has_converged,
        'is_partial': any(number.startswith('0 of') for number in networks),
        'criterion': subject.counted.criterion,
        'networks': networks,
        'rows': rows,
        'sure': _describe_certainty(subject),
    }


def _list_columns(
    axes: dict[str, tuple],
) -> tuple[list[tuple[str, list[str]]], list[Column]]:
    """(axis and labels of every axis that varies; columns, all networks first)."""
    headings = []
    columns = [Column([], [])]
    for axis in list_varying(axes):
        labels = [str(axis_label(value)) for value in axes[axis]]
        headings.append((name_axis(axis), labels))
        place = list(axes).index(axis)
        columns += [Column([place], [i]) for i in range(len(labels))]
    return headings, columns


def name_axis(axis: str) -> str:
    """'γ', 'weight decay'."""
    return NAMES.get(axis, axis.replace('_', ' '))


def group_settings(run: Run, index_M: np.ndarray) -> dict[tuple[int, ...], np.ndarray]:
    """{places on the axes that vary, but the seed: bool [M]}, in the grid's order."""
    axes = list(run.experiment.axes)
    places = [axes.index(axis) for axis in list_varying(run.experiment.axes)]
    of_member_M = index_M[:, places]
    if not places:
        return {(): np.ones(len(index_M), bool)}
    settings = {}
    for setting in np.unique(of_member_M, axis=0):
        is_here_M = (of_member_M == setting).all(axis=1)
        settings[tuple(setting.tolist())] = is_here_M
    return settings


def _describe_certainty(subject: Subject) -> list[str]:
    """Sentences: seeds and how far they lie apart, what counts, what intervals are."""
    counted = subject.counted
    sentences = [_describe_seeds(subject)]
    trained = int(counted.is_trained.sum())
    number = int(counted.is_counted.sum())
    left_out = trained - number
    if counted.has_converged:
        text = f'Converged means: {counted.criterion}'
        if left_out:
            text += f'; {left_out} of {trained} trained networks did not get there'
            text += ', and these means do not count them; the diagram does, and marks '
            text += 'them. Where few of many are counted, they are a selection'
        sentences.append(f'{text}.')
    else:
        text = f'No network has converged ({counted.criterion}), so the means are of '
        text += f'{number} networks as they are'
        if left_out:
            text += f'; {left_out} diverged and are left out'
        sentences.append(f'{text}.')
    seeds = len(subject.run.experiment.axes['seed'])
    if seeds < MIN_SEEDS:
        text = f'There are fewer than {MIN_SEEDS} seeds, so no mean has an interval'
        sentences.append(f'{text}.')
    return sentences


def _describe_seeds(subject: Subject) -> str:
    """How far the seeds of a setting lie apart on what the task is about."""
    values = subject.means.counted
    place = subject.shown.index(subject.tested)
    ranges = []
    for is_here_M in group_settings(subject.run, values.index_M).values():
        of_setting = values.of_measure[place][is_here_M]
        if len(of_setting) > 1:
            ranges.append(np.ptp(of_setting))
    if not ranges:
        return (
            'No setting has two seeds (random starts) that count, so nothing here says '
            'how much a result depends on chance.'
        )
    seeds = len(subject.run.experiment.axes['seed'])
    return (
        f'Each setting has {seeds} seeds (random starts). On “{subject.tested.label}” '
        f'the best and the worst of them lie {format_number(float(np.mean(ranges)))} '
        f'apart on average, at most {format_number(float(np.max(ranges)))}.'
    )
