"""The first screen: what came out on every probe, by axis, and how sure that is."""

from typing import Any

import numpy as np

from analysis.accuracy import list_varying
from analysis.members.measures import Counted
from analysis.members.statistics import MIN_SEEDS
from analysis.report.general.means import Means, Values, format_number
from analysis.report.general.shown import Shown
from anchorjax.config.grid import axis_label
from anchorjax.storage.reader import Run

NAMES = {'gamma': 'γ'}


def describe_outcome(
    run: Run, shown: list[Shown], tested: Shown, counted: Counted
) -> dict[str, Any]:
    """A row for every measure, a column for all networks and each value of an axis."""
    means = Means(run, shown, counted)
    trained_M = np.argwhere(counted.is_trained.values)
    headings = []
    columns: list[tuple[list[int], list[int]]] = [
        ([], [])
    ]  # places on axes; [], []: all
    axes = run.experiment.axes
    for axis in list_varying(axes):
        labels = [str(axis_label(value)) for value in axes[axis]]
        headings.append((name_axis(axis), labels))
        columns += [([list(axes).index(axis)], [i]) for i in range(len(labels))]
    rows = []
    for one in shown:
        row = {'label': one.label, 'says': one.says, 'style': one.style}
        rows.append(row | {'cells': [], 'is_tested': one == tested})
    networks = []
    for places, setting in columns:
        number, cells = means.describe(places, setting)
        of_trained = (trained_M[:, places] == setting).all(axis=1).sum()
        networks.append(f'{number} of {of_trained}')
        for row, cell in zip(rows, cells, strict=True):
            row['cells'].append(cell)
    place = shown.index(tested)
    return {
        'headings': headings,
        'trained': len(trained_M),
        'counted': len(means.counted.seed_M),
        'has_converged': counted.has_converged,
        'is_partial': any(number.startswith('0 of') for number in networks),
        'criterion': counted.criterion,
        'networks': networks,
        'rows': rows,
        'sure': _describe_certainty(run, means.counted, place, tested, counted),
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
        text = f'Converged means: {counted.criterion}'
        if left_out:
            text += f'; {left_out} of {trained} trained networks did not get there'
            text += ', and these means do not count them; the diagram does, and marks '
            text += 'them. Where few of many are counted, they are a selection'
        sentences.append(f'{text}.')
    else:
        text = f'No network has converged ({counted.criterion}), so the means are of '
        text += f'{len(values.seed_M)} networks as they are'
        if left_out:
            text += f'; {left_out} diverged and are left out'
        sentences.append(f'{text}.')
    seeds = len(run.experiment.axes['seed'])
    if seeds < MIN_SEEDS:
        text = f'There are fewer than {MIN_SEEDS} seeds, so no mean has an interval'
        sentences.append(f'{text}.')
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
