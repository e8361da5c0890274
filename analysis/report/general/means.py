"""Means over networks as the page shows them, with intervals over seeds."""

import math

import numpy as np

from analysis.members.measures import Counted, read_measure
from analysis.members.rows import average_by_seed, list_labels
from analysis.members.statistics import mean_interval
from analysis.report.general.shown import Shown
from anchorjax.storage.reader import Run

Cell = dict[str, str]  # mean and interval, as text


class Values:
    """What every counted network scores, M along the networks."""

    def __init__(self, run: Run, shown: list[Shown], counted: Counted):
        is_counted = counted.is_counted
        self.index_M = np.argwhere(is_counted.values)  # [M, axis]
        _, self.seed_M = list_labels(is_counted)
        self.of_measure = []
        for one in shown:
            values = read_measure(run.results, one.measure)
            self.of_measure.append(values.values[is_counted.values])

    def describe(self, place: int, one: Shown, is_here_M: np.ndarray) -> Cell:
        """The mean of some networks, by seed, and its interval; '–' without any.

        Networks of one seed are no independent draws: their mean counts once.
        """
        values = self.of_measure[place][is_here_M]
        if not len(values):
            return {'mean': '–', 'interval': ''}
        of_seeds = average_by_seed(values, self.seed_M[is_here_M])
        mean, low, high = mean_interval(of_seeds)
        if one.is_share:
            low, high = max(low, 0.0), min(high, 1.0)
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
    return f'{value:.2f}' if abs(value) < 10 else f'{value:.3g}'
