"""Networks and values of axes in words: nothing on the page is called gamma=0.2."""

from typing import Any

from analysis import frame
from analysis.members.columns import explain_gamma, name_gamma
from analysis.members.point import Point
from anchorjax.grid import axis_label
from anchorjax.storage.reader import Run

AXES = {'gamma': 'γ', 'num_anchors': 'anchors', 'num_examples': 'examples'}
# With the value in front: '4 anchors'. All others follow their axis: 'seed 0'.
COUNTED = ('num_anchors', 'num_examples')


def name_axis(axis: str) -> str:
    """'γ', 'weight decay'."""
    return AXES.get(axis, axis.replace('_', ' '))


def list_shown_axes(run: Run) -> list[str]:
    """The axes that a network is named by: γ, and all that vary."""
    axes = run.experiment.axes
    return [axis for axis in axes if axis == 'gamma' or len(axes[axis]) > 1]


def name_value(run: Run, axis: str, value: Any) -> str:
    """'γ 0.2 (0.14 at width 400)', '4 anchors', 'seed 0'."""
    if axis in COUNTED:
        return f'{axis_label(value)} {name_axis(axis)}'
    if axis != 'gamma':
        return f'{name_axis(axis)} {axis_label(value)}'
    return name_gamma(value, *list_widths(run))


def name_network(run: Run, point: Point) -> str:
    """'4 anchors, exception trained, γ 0.2 (0.14 at width 400), seed 0'."""
    names = [name_value(run, axis, point[axis]) for axis in list_shown_axes(run)]
    return ', '.join(names)


def name_values(point: Point) -> str:
    """'depth 2, γ 0.84, seed 0': values of axes, short."""
    names = []
    for axis, value in point.items():
        words = (name_axis(axis), str(axis_label(value)))
        names.append(' '.join(words[::-1] if axis in COUNTED else words))
    return ', '.join(names)


def name_setting(setting: str) -> str:
    """'depth 2, weight decay 0.1' of 'depth=2,weight_decay=0.1' (`name_point`)."""
    parts = [part.partition('=') for part in setting.split(',')]
    return ', '.join(f'{name_axis(axis)} {value}'.strip() for axis, _, value in parts)


def name_matrix(path: str) -> str:
    """'W_Q of layer 1' of 'block_0/W_Q'; the path of a matrix that is in no block."""
    block, _, name = path.rpartition('/')
    number = block.removeprefix('block_')
    return f'{name} of layer {int(number) + 1}' if number.isdigit() else path


def label_value(run: Run, axis: str, value: Any) -> tuple[str, str]:
    """('0.2', '0.14 at width 400'): a value in a table, and a note below it."""
    note = ''
    if axis == 'gamma':
        note = explain_gamma(value, *list_widths(run))
    return str(axis_label(value)), note


def list_widths(run: Run) -> tuple[float, ...]:
    """The widths to compare γ by; NaN: there is none, as `frame.find_width` says."""
    one = (frame.find_width(run),)
    return run.experiment.axes.get('width', one) if frame.is_rate(run) else one


def describe_axes(run: Run) -> dict[str, dict[str, Any]]:
    """By axis its name, and the labels, words and notes of its values."""
    described = {}
    for axis, values in run.experiment.axes.items():
        described[axis] = {
            'name': name_axis(axis),
            'labels': list(map(axis_label, values)),
            'values': [name_value(run, axis, value) for value in values],
            'notes': [label_value(run, axis, value)[1] for value in values],
        }
    return described
