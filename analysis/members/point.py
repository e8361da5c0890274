"""Points of a sweep: a value for each of its axes, as a dict."""

from typing import Any

from anchorjax.grid import axis_label, match_value
from anchorjax.storage.reader import Run

Point = dict[str, Any]


def complete_point(run: Run, point: Point) -> Point:
    """The point with every axis of the sweep, in its order, and with its exact values.

    Raises:
      UserError: an axis is unknown, or is missing although it has several values, or
        has no such value.
    """
    run.experiment_of(**point)  # raises the errors above
    complete = {}
    for axis, values in run.experiment.axes.items():
        wanted = point.get(axis, values[0])
        index = match_value(axis, values, wanted)
        complete[axis] = values[index]
    return complete


def select_varying(run: Run, point: Point) -> Point:
    """The part of a point that tells members apart: the axes with several values."""
    varying = {}
    for axis, values in run.experiment.axes.items():
        if axis in point and len(values) > 1:
            varying[axis] = point[axis]
    return varying


def format_point(point: Point) -> str:
    """'depth=2,gamma=1.5', which is also a file name."""
    return ','.join(f'{axis}={value}' for axis, value in point.items())


def name_point(run: Run, point: Point) -> str:
    """'depth=2,gamma=1.5', of the axes that tell members apart; '' if none do."""
    return format_point(select_varying(run, point))


def name_setting(run: Run, point: Point, pooled: tuple[str, ...]) -> str:
    """'ordered=True': the axes that vary, but those that are pooled; '' if none do."""
    setting = {}
    for axis, values in run.experiment.axes.items():
        if axis not in pooled and len(values) > 1:
            setting[axis] = axis_label(point[axis])
    return format_point(setting)
