"""The figures of a sweep of any task: of its grid, of its task, of two networks."""

import pathlib
from collections.abc import Callable

import numpy as np

from analysis.members.measures import read_measure
from analysis.members.point import Point
from analysis.members.selection import iterate_points
from analysis.p1.accuracy import list_varying
from analysis.report import figures
from analysis.report.general.outcome import name_axis
from analysis.report.general.subject import Subject
from analysis.report.pictures import (
    Figure,
    Plan,
    describe_sweep,
    draw_planned,
    name_member_figure,
)


def draw_general(
    subject: Subject, folder: pathlib.Path, report_progress: Callable[[str], None]
) -> list[Figure]:
    """Draws every figure that the run supports into `folder`."""
    run = subject.run
    tested = subject.tested.label
    ends = choose_ends(subject)
    first = next(iter(ends.values()))
    plan: Plan = []
    absent = []
    of_task = figures.OF_TASK.get(run.experiment.task.name, ())
    for row in (*figures.GENERAL, *of_task):
        figure = describe_sweep(row)
        missing = explain_absence(row, run.experiment.axes)
        if missing:
            absent.append(figure._replace(missing=missing))
        else:
            plan.append((row, first, figure))
    for end, point in ends.items():
        for row in figures.GENERAL_MEMBER:
            name, where = name_member_figure(run, row, point)
            title = f'{row.title} of the network that is {end} on “{tested}”'
            if where:
                title += f' ({where})'
            figure = Figure(row.name, None, point, name, title, row.caption)
            plan.append((row, point, figure))
    return draw_planned(plan, run, folder, report_progress) + absent


def explain_absence(row: figures.Row, axes: dict[str, tuple]) -> str:
    """Why a figure has nothing to compare in a sweep; '' if it has."""
    varying = list_varying(axes)
    if not row.varying or any(axis in varying for axis in row.varying):
        return ''
    names = ' or '.join(name_axis(axis) for axis in row.varying)
    return f'needs several values of {names}'


def choose_ends(subject: Subject) -> dict[str, Point]:
    """{'best': its point, 'worst': ...} of the networks that count; one is best."""
    is_counted = subject.counted.is_counted.values
    values = read_measure(subject.run.results, subject.tested.measure).values
    scores = np.where(is_counted, values, np.nan)
    if not subject.tested.is_share:
        scores = -scores
    if np.isnan(scores).all():  # the probe was never asked
        scores = np.where(is_counted, 0.0, np.nan)
    places = {'best': int(np.nanargmax(scores)), 'worst': int(np.nanargmin(scores))}
    if places['best'] == places['worst']:
        del places['worst']
    points = [point for _, point in iterate_points(subject.run)]
    return {end: points[place] for end, place in places.items()}
