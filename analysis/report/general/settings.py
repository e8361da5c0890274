"""Every setting of a sweep with its means: the numbers behind the first screen."""

from typing import Any

import numpy as np

from analysis.p1.accuracy import list_varying
from analysis.report.general.outcome import group_settings, name_axis
from analysis.report.general.subject import Subject
from anchorjax.grid import axis_label


def describe_settings(subject: Subject) -> dict[str, Any]:
    """A row for every setting with trained networks, the seeds taken together."""
    run = subject.run
    axes = run.experiment.axes
    names = list_varying(axes)
    places = [list(axes).index(axis) for axis in names]
    trained_M = np.argwhere(subject.counted.is_trained.values)
    rows = []
    for setting, is_trained_M in group_settings(run, trained_M).items():
        labels = []
        for axis, place in zip(names, setting, strict=True):
            labels.append(str(axis_label(axes[axis][place])))
        number, cells = subject.means.describe(places, list(setting))
        networks = f'{number} of {is_trained_M.sum()}'
        rows.append({'labels': labels, 'networks': networks, 'cells': cells})
    return {
        'axes': [name_axis(axis) for axis in names],
        'measures': [one.label for one in subject.shown],
        'rows': rows,
    }
