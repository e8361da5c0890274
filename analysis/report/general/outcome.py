"""The first screen: what came out on every probe, by axis, and how sure that is."""

from typing import Any

import numpy as np

from analysis.accuracy import list_varying
from analysis.members.measures import Counted
from analysis.members.statistics import MIN_SEEDS
from analysis.report.general.means import Values, format_number
from analysis.report.general.shown import Shown
from anchorjax.config.grid import axis_label
from anchorjax.storage.reader import Run

NAMES = {'gamma': 'γ'}


def describe_outcome(
    run: Run, shown: list[Shown], tested: Shown, counted: Counted
) -> dict[str, Any]:
    """A row for every measure, a column for all networks and each value of an axis."""
    values = Values(run, shown, counted)
    columns = [np.ones(len(values.seed_M), bool)]
    trained_M = np.argwhere(counted.is_trained.values)
    trained = [len(trained_M)]
    headings = []
    axes = run.experiment.axes
    for axis in list_varying(axes):
        place = list(axes).index(axis)
        labels = [str(axis_label(value)) for value in axes[axis]]
        headings.append((name_axis(axis), labels))
        for i in range(len(labels)):
            columns.append(values.index_M[:, place] == i)
            trained.append(int((trained_M[:, place] == i).sum()))
    rows = []
    for place, one in enumerate(shown):
        cells = [values.describe(place, one, is_here_M) for is_here_M in columns]
        row = {'label': one.label, 'says': one.says, 'style': one.style}
        rows.append(row | {'cells': cells, 'is_tested': one == tested})
    networks = []
    for is_here_M, number in zip(columns, trained, strict=True):
        networks.append(f'{is_here_M.sum()} of {number}')
    place = shown.index(tested)
    return {
        'headings': headings,
        'trained': len(trained_M),
        'counted': len(values.seed_M),
        'has_converged': counted.has_converged,
        'criterion': counted.criterion,
        'networks': networks,
        'rows': rows,
        'sure': _describe_certainty(run, values, place, tested, counted),
    }


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


def _describe_certainty(
    run: Run, values: Values, place: int, tested: Shown, counted: Counted
) -> list[str]:
    """Sentences: seeds and how far they lie apart, what counts, what intervals are."""
    sentences = [_describe_seeds(run, values, place, tested)]
    trained = int(counted.is_trained.sum())
    left_out = trained - len(values.seed_M)
    if counted.has_converged:
        text = f'Converged means a {counted.criterion}'
        if left_out:
            text += f'; {left_out} of {trained} trained networks did not get there'
            text += ', and these means do not count them; the diagram does, and marks '
            text += 'them. Where few are counted, they are a selection'
        sentences.append(f'{text}.')
    else:
        text = f'No network has converged (a {counted.criterion}), so the means are of '
        text += f'{len(values.seed_M)} networks as they are'
        if left_out:
            text += f'; {left_out} diverged and are left out'
        sentences.append(f'{text}.')
    if len(run.experiment.axes['seed']) < MIN_SEEDS:
        sentences.append(f'Fewer than {MIN_SEEDS} seeds give no interval.')
    return sentences


def _describe_seeds(run: Run, values: Values, place: int, tested: Shown) -> str:
    """How far the seeds of a setting lie apart on what the task is about."""
    ranges = []
    for is_here_M in group_settings(run, values.index_M).values():
        of_setting = values.of_measure[place][is_here_M]
        if len(of_setting) > 1:
            ranges.append(np.ptp(of_setting))
    if not ranges:
        return (
            'No setting has two seeds (random starts) that count, so nothing here says '
            'how much a result depends on chance.'
        )
    seeds = len(run.experiment.axes['seed'])
    return (
        f'Each setting has {seeds} seeds (random starts). On “{tested.label}” the best '
        f'and the worst of them lie {format_number(float(np.mean(ranges)))} apart on '
        f'average, at most {format_number(float(np.max(ranges)))}.'
    )
