"""Networks and values of axes in words: nothing on the page is called gamma=0.2."""

from typing import Any

from analysis.members.columns import PAPER_WIDTH, equivalent_gamma
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
    note = explain_gamma(run, value)
    if not note:
        return f'γ {value:g}'
    return f'γ {value:g} ({note})'


def name_network(run: Run, point: Point) -> str:
    """'4 anchors, exception trained, γ 0.2 (0.14 at width 400), seed 0'."""
    names = [name_value(run, axis, point[axis]) for axis in list_shown_axes(run)]
    return ', '.join(names)


def label_value(run: Run, axis: str, value: Any) -> tuple[str, str]:
    """('0.2', '0.14 at width 400'): a value in a table, and a note below it."""
    note = ''
    if axis == 'gamma':
        note = explain_gamma(run, value)
    return str(axis_label(value)), note


def explain_gamma(run: Run, gamma: float) -> str:
    """'0.14 at width 400'; '' at that width, and of a model without one."""
    widths = run.experiment.axes.get('width', ())
    if not widths:
        widths = (getattr(run.experiment.model, 'width', PAPER_WIDTH),)
    if set(widths) == {PAPER_WIDTH}:
        return ''
    gammas = {}  # an ordered set
    for width in widths:
        gammas[f'{equivalent_gamma(gamma, width):.2f}'] = width
    return f'{" or ".join(gammas)} at width {PAPER_WIDTH}'


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
