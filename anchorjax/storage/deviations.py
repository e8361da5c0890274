"""Summaries of the histogram of (answer of a member - answer of a mapping)."""

import numpy as np
import xarray as xr

from anchorjax.experiment import Experiment
from anchorjax.task import Task
from anchorjax.training.curves import DEVIATION_LIMIT

NEAR = (1, 2)  # distances that count as near
NUM_ANSWERS = 2 * DEVIATION_LIMIT + 1  # entries of the histogram without the last


def describe_deviations(
    experiment: Experiment, deviation: xr.DataArray
) -> dict[str, np.ndarray]:
    """The histograms of deviations [axes, offset] in words and shares, by name, [M].

    within_1, within_2   share of answers at most so far from the mapping's answer
    answer               name of the most frequent answer; '' where not trained
    answer_share         its share

    Offsets beyond the limit share one bin, which counts as no answer. Each cohort has
    names of its own: with other anchors the same deviation is another pair's answer.
    """
    by_axis = deviation.transpose(*experiment.axes, 'offset').values
    histogram_MO = by_axis.reshape(-1, by_axis.shape[-1])[:, :NUM_ANSWERS]
    described = {}
    for distance in NEAR:
        near = slice(DEVIATION_LIMIT - distance, DEVIATION_LIMIT + distance + 1)
        described[f'within_{distance}'] = histogram_MO[:, near].sum(-1)
    names = []
    cohorts = experiment.cohorts()
    by_cohort = np.split(histogram_MO, len(cohorts))
    for cohort, histograms in zip(cohorts, by_cohort, strict=True):
        task = experiment.for_cohort(cohort).task.make()
        for histogram in histograms:
            is_known = task.deviation is not None and np.isfinite(histogram[0])
            names.append(name_offset(task, histogram.argmax()) if is_known else '')
    described['answer'] = np.array(names, object)
    described['answer_share'] = histogram_MO.max(-1)
    return described


def name_offset(task: Task, index: int) -> str:
    """The name of an entry of the histogram: a rule of the task, or a distance.

    'composed − 3' is the composed answer less 3.
    """
    offset = index - DEVIATION_LIMIT
    if offset in task.offset_names:
        return task.offset_names[offset]
    mapping = task.deviation[1]
    sign = '+' if offset > 0 else '−'
    return f'{mapping} {sign} {abs(offset)}'
