"""Every setting of a sweep with its means: the numbers behind the first screen."""

from typing import Any

import numpy as np

from analysis.accuracy import list_varying
from analysis.members.measures import Counted
from analysis.report.general.means import Values
from analysis.report.general.outcome import group_settings, name_axis
from analysis.report.general.shown import Shown
from anchorjax.config.grid import axis_label
from anchorjax.storage.reader import Run


def describe_settings(run: Run, shown: list[Shown], counted: Counted) -> dict[str, Any]:
    """A row for every setting with trained networks, the seeds taken together."""
    values = Values(run, shown, counted)
    of_counted = group_settings(run, values.index_M)
    trained_M = np.argwhere(counted.is_trained.values)
    nobody_M = np.zeros(len(values.seed_M), bool)
    names = list_varying(run.experiment.axes)
    rows = []
    for setting, is_trained_M in group_settings(run, trained_M).items():
        is_here_M = of_counted.get(setting, nobody_M)
        labels = []
        for axis, place in zip(names, setting, strict=True):
            labels.append(str(axis_label(run.experiment.axes[axis][place])))
        cells = []
        for place, one in enumerate(shown):
            cells.append(values.describe(place, one, is_here_M))
        number = f'{is_here_M.sum()} of {is_trained_M.sum()}'
        rows.append({'labels': labels, 'networks': number, 'cells': cells})
    return {
        'axes': [name_axis(axis) for axis in names],
        'measures': [one.label for one in shown],
        'rows': rows,
    }
