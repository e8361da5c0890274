"""Which networks the reader can ask, as --playground says it."""

import re
from typing import Any, NamedTuple

from analysis.members.point import Point, list_points
from analysis.members.selection import explain_missing
from anchorjax.config.schema import literal_or_text
from anchorjax.errors import UserError, nearest
from anchorjax.grid import match_value
from anchorjax.storage.reader import Run

NONE = 'none'
AUTO = 'auto'
_ALLOWED = 'give none, auto, or AXIS=VALUE,AXIS=VALUE,...'
# A comma separates two axes only where a name and '=' follow: tuples have commas too.
_BETWEEN_AXES = re.compile(r',(?=\w+=)')


class Request(NamedTuple):
    """One of NONE and AUTO, or the members that have these values."""

    kind: str
    values: dict[str, list[Any]]  # by axis; an axis that is not here may be anything


def parse_request(text: str) -> Request:
    """The request in 'none', 'auto' or 'gamma=0.2,gamma=1.0,seed=0'.

    Raises:
      UserError: the text is none of these.
    """
    if text in (NONE, AUTO):
        return Request(text, {})
    values: dict[str, list[Any]] = {}
    for part in _BETWEEN_AXES.split(text):
        axis, equals, value = part.partition('=')
        if not (axis and equals and value):
            raise UserError(f'--playground={text}: {_ALLOWED}')
        values.setdefault(axis, []).append(literal_or_text(value))
    return Request('members', values)


def list_requested(run: Run, request: Request) -> list[Point]:
    """The members with the requested values that have weights to show.

    Raises:
      UserError: there is no such axis or value, or no such member is trained.
    """
    axes = run.experiment.axes
    wanted = {}
    for axis, values in request.values.items():
        if axis not in axes:
            hint = nearest(axis, axes)
            raise UserError(f'--playground: unknown axis {axis!r}, {hint}')
        wanted[axis] = []
        for value in values:
            index = match_value(axis, axes[axis], value)
            wanted[axis].append(axes[axis][index])
    points = []
    reason = ''
    for point in list_points(run):
        if any(point[axis] not in values for axis, values in wanted.items()):
            continue
        missing = explain_missing(run, point)
        if missing:
            reason = missing
        else:
            points.append(point)
    if not points:
        raise UserError(f'--playground: no such member can be asked: {reason}')
    return points
