"""Summaries of the histogram of (answer of a member - answer of a mapping)."""

import numpy as np
import xarray as xr

from anchorjax.task import Task
from anchorjax.training.curves import DEVIATION_LIMIT

NEAR = (1, 2)  # distances that count as near
NUM_ANSWERS = 2 * DEVIATION_LIMIT + 1  # entries of the histogram without the last


def describe_deviations(task: Task, deviation: xr.DataArray) -> dict[str, xr.DataArray]:
    """The histogram of deviations [axes, offset] in words and shares, by name.

    within_1, within_2   share of answers at most so far from the mapping's answer
    answer               name of the most frequent answer; '' where not trained
    answer_share         its share

    Offsets beyond the limit share one bin, which counts as no answer.
    """
    histogram = deviation.transpose(..., 'offset').values[..., :NUM_ANSWERS]
    template = deviation.isel(offset=0, drop=True)
    described = {}
    for distance in NEAR:
        share = _share_within(histogram, distance)
        described[f'within_{distance}'] = template.copy(data=share)
    names = _name_most_frequent(task, histogram)
    described['answer'] = template.copy(data=names)
    described['answer_share'] = template.copy(data=histogram.max(-1))
    return described


def _share_within(histogram: np.ndarray, distance: int) -> np.ndarray:
    """Share of answers at most so far from the mapping's, which is in the middle."""
    first = DEVIATION_LIMIT - distance
    last = DEVIATION_LIMIT + distance
    return histogram[..., first : last + 1].sum(-1)


def _name_most_frequent(task: Task, histogram: np.ndarray) -> np.ndarray:
    """Name of the most frequent answer; '' where not trained, and so all is NaN."""
    names = np.array([name_offset(task, i) for i in range(NUM_ANSWERS)], object)
    is_trained = np.isfinite(histogram[..., 0])
    return np.where(is_trained, names[histogram.argmax(-1)], '')


def name_offset(task: Task, index: int) -> str:
    """The name of an entry of the histogram: a rule of the task, or a distance.

    'inferential − 3' is the inferential answer less 3.
    """
    offset = index - DEVIATION_LIMIT
    if offset in task.offset_names:
        return task.offset_names[offset]
    mapping = task.deviation[1]
    sign = '+' if offset > 0 else '−'
    return f'{mapping} {sign} {abs(offset)}'
