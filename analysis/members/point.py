"""Points of a sweep: a value for each of its axes, as a dict."""

import itertools
from collections.abc import Mapping
from typing import Any

from anchorjax.storage.reader import Run

Point = Mapping[str, Any]


def list_points(run: Run) -> list[Point]:
    """The point of every member of a sweep, the last axis fastest."""
    axes = run.experiment.axes
    points = []
    for values in itertools.product(*axes.values()):
        points.append(dict(zip(axes, values, strict=True)))
    return points


def select_varying(run: Run, point: Point, pooled: tuple[str, ...] = ()) -> Point:
    """The part of a point that tells members apart: the axes with several values.

    Args:
      pooled: axes to leave out.
    """
    varying = {}
    for axis, values in run.experiment.axes.items():
        if axis in point and axis not in pooled and len(values) > 1:
            varying[axis] = point[axis]
    return varying


def format_point(point: Point) -> str:
    """'depth=2,gamma=1.5', which is also a file name."""
    return ','.join(f'{axis}={value}' for axis, value in point.items())


def name_point(run: Run, point: Point, pooled: tuple[str, ...] = ()) -> str:
    """`select_varying` as a text: 'depth=2,gamma=1.5'; '' if nothing varies."""
    return format_point(select_varying(run, point, pooled))
