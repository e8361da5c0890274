"""Networks and values of axes in words: nothing on the page is called gamma=0.2."""

from typing import Any

from analysis.members.columns import PAPER_WIDTH, equivalent_gamma, name_gamma
from analysis.members.point import Point
from anchorjax.grid import axis_label
from anchorjax.storage.reader import Run

AXES = {'gamma': 'γ', 'num_anchors': 'anchors', 'num_examples': 'examples'}
# With the value in front: '4 anchors'. All others follow their axis: 'seed 0'.
COUNTED = {'num_anchors': 'anchors', 'num_examples': 'examples'}


def name_axis(axis: str) -> str:
    """'γ', 'weight decay'."""
    return AXES.get(axis, axis.replace('_', ' '))


def list_shown_axes(run: Run) -> list[str]:
    """The axes that a network is named by: γ, and all that vary."""
    axes = run.experiment.axes
    return [axis for axis in axes if axis == 'gamma' or len(axes[axis]) > 1]


def name_value(run: Run, axis: str, value: Any) -> str:
    """'γ 0.2 (0.14 at width 400)', '4 anchors', 'seed 0'."""
    if axis == 'gamma':
        return _name_gamma(run, value)
    if axis in COUNTED:
        return f'{axis_label(value)} {COUNTED[axis]}'
    return f'{name_axis(axis)} {axis_label(value)}'


def name_network(run: Run, point: Point) -> str:
    """'4 anchors, exception trained, γ 0.2 (0.14 at width 400), seed 0'."""
    names = [name_value(run, axis, point[axis]) for axis in list_shown_axes(run)]
    return ', '.join(names)


def label_value(run: Run, axis: str, value: Any) -> tuple[str, str]:
    """('0.2', '0.14 at width 400'): a value in a table, and a note below it."""
    note = explain_gamma(run, value) if axis == 'gamma' else ''
    return str(axis_label(value)), note


def explain_gamma(run: Run, gamma: float) -> str:
    """'0.14 at width 400'; '' at that width, and of a model without one."""
    widths = _list_widths(run)
    if not widths or widths == [PAPER_WIDTH]:
        return ''
    gammas = [f'{equivalent_gamma(gamma, width):.2f}' for width in widths]
    return f'{" or ".join(gammas)} at width {PAPER_WIDTH}'


def describe_axes(run: Run) -> dict[str, dict[str, list[Any]]]:
    """By axis its name, its values in words, and the notes of their labels."""
    described = {}
    for axis, values in run.experiment.axes.items():
        described[axis] = {
            'name': name_axis(axis),
            'values': [name_value(run, axis, value) for value in values],
            'notes': [label_value(run, axis, value)[1] for value in values],
        }
    return described


def _name_gamma(run: Run, gamma: float) -> str:
    widths = _list_widths(run)
    if len(widths) == 1:
        return name_gamma(gamma, widths[0])
    note = explain_gamma(run, gamma)
    return f'γ {gamma:g} ({note})' if note else f'γ {gamma:g}'


def _list_widths(run: Run) -> list[int]:
    """The widths of the sweep's models, each once."""
    experiment = run.experiment
    widths = []
    for cohort in experiment.cohorts():
        model = experiment.for_cohort(cohort).model
        width = getattr(model, 'width', None)
        if width is not None and width not in widths:
            widths.append(width)
    return widths
