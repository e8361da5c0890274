"""Means over networks as the page shows them, with intervals over seeds."""

import math

import numpy as np
import xarray as xr

from analysis.members.measures import Counted, read_measure
from analysis.members.rows import average_by_seed, list_labels
from analysis.members.statistics import mean_interval
from analysis.report.general.shown import Shown
from anchorjax.storage.reader import Run

Cell = dict[str, str]  # mean and interval, as text
NOTHING: Cell = {'mean': '–', 'interval': ''}


class Values:
    """What networks score, M along the networks of a mask over the axes."""

    def __init__(self, run: Run, shown: list[Shown], is_chosen: xr.DataArray):
        self.index_M = np.argwhere(is_chosen.values)  # [M, axis]
        _, self.seed_M = list_labels(is_chosen)
        self.of_measure = []
        for one in shown:
            values = read_measure(run.results, one.measure)
            self.of_measure.append(values.values[is_chosen.values])

    def describe(self, place: int, one: Shown, is_here_M: np.ndarray) -> Cell:
        """The mean of some networks, by seed, and its interval; '–' without any.

        Networks of one seed are no independent draws: their mean counts once.
        """
        values = self.of_measure[place][is_here_M]
        if not len(values):
            return NOTHING
        of_seeds = average_by_seed(values, self.seed_M[is_here_M])
        mean, low, high = mean_interval(of_seeds)
        interval = ''
        if not math.isnan(low + high):
            low = max(low, 0.0)  # nothing that is measured is negative
            high = min(high, 1.0) if one.is_share else high
            interval = f'{format_number(low)} to {format_number(high)}'
        return {'mean': format_number(mean), 'interval': interval}


class Means:
    """Means of the networks that count; where none does, of all in parentheses."""

    def __init__(self, run: Run, shown: list[Shown], counted: Counted):
        self.shown = shown
        self.counted = Values(run, shown, counted.is_counted)
        self.usable = Values(run, shown, counted.is_usable)

    def describe(self, axes: list[int], setting: list[int]) -> tuple[int, list[Cell]]:
        """(networks that count, a cell for each measure) at these places on axes."""
        is_counted_M = _find(self.counted, axes, setting)
        is_usable_M = _find(self.usable, axes, setting)
        cells = []
        for place, one in enumerate(self.shown):
            cell = self.counted.describe(place, one, is_counted_M)
            if cell is NOTHING:
                cell = _put_aside(self.usable.describe(place, one, is_usable_M))
            cells.append(cell)
        return int(is_counted_M.sum()), cells


def format_number(value: float) -> str:
    """'0.31', '12.4', '0.0031'; '–' where there is none."""
    if math.isnan(value):
        return '–'
    if abs(value) < 0.005 and value != 0:
        return f'{value:.1g}'
    return f'{value:.2f}' if abs(value) < 10 else f'{value:.3g}'


def _find(values: Values, axes: list[int], setting: list[int]) -> np.ndarray:
    """Whether each network is at these places on these axes, [M]."""
    return (values.index_M[:, axes] == setting).all(axis=1)


def _put_aside(cell: Cell) -> Cell:
    """The cell in parentheses."""
    if cell is NOTHING:
        return cell
    return {name: f'({text})' if text else '' for name, text in cell.items()}
