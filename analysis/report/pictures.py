"""Draws the figures of the page, or says why one cannot be drawn."""

import base64
import pathlib
import struct
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from analysis import figure
from analysis.drawing import style
from analysis.members.point import Point, name_point
from analysis.members.selection import list_varying
from analysis.report import figures
from analysis.report.choose import Choice
from analysis.report.names import name_axis
from analysis.report.numbers import format_numbers
from analysis.report.subject import Subject
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run


class Figure(NamedTuple):
    """A figure as the page shows it, and the numbers behind it."""

    module: str  # name of the module that draws it
    section: str
    name: str  # of its files
    title: str
    caption: str
    png: bytes | None = None
    missing: str = ''  # why there is no picture
    result: Any = None


def draw_all(
    subject: Subject,
    choices: dict[str, Choice],
    folder: pathlib.Path,
    report_progress: Callable[[str], None],
) -> list[Figure]:
    """Draws every figure that the run supports into `folder`."""
    run = subject.run
    first = next(iter(choices.values())).point
    task = run.experiment.task.name
    has_unseen_pair = subject.unseen is not None
    plan: list[tuple[str, str, Point, str]] = []  # module, section, point, suffix
    for section in figures.list_sections(task, has_unseen_pair):
        for name in section.names:
            point = first if name in figures.FOLLOWING else {}
            plan.append((name, section.title, point, ''))
    names = figures.ANCHORS_MEMBER if has_unseen_pair else figures.MEMBER
    for choice in choices.values():
        suffix = f'_{name_point(run, choice.point)}'.rstrip('_')
        plan += [(name, choice.title, choice.point, suffix) for name in names]
    drawn = []
    for number, (name, section, point, suffix) in enumerate(plan, start=1):
        began = time.monotonic()
        one = _draw(run, name, section, point, suffix, folder)
        drawn.append(one)
        outcome = one.missing or f'{time.monotonic() - began:.1f} s'
        report_progress(f'{number}/{len(plan)} {one.name}: {outcome}')
    return drawn


def explain_absence(name: str, axes: dict[str, tuple]) -> str:
    """Why a figure has nothing to compare in a sweep; '' if it has."""
    needed = figures.VARYING.get(name, ())
    if not needed or any(axis in list_varying(axes) for axis in needed):
        return ''
    return f'needs several values of {" or ".join(map(name_axis, needed))}'


def describe_figures(
    drawn: list[Figure], choices: dict[str, Choice]
) -> list[dict[str, Any]]:
    """The sections of the page with their figures; the last has those without one."""
    about = {choice.title: choice.about for choice in choices.values()}
    sections: dict[str, dict[str, Any]] = {}
    for one in drawn:
        if one.png is None:
            continue
        empty = {'title': one.section, 'about': about.get(one.section), 'figures': []}
        section = sections.setdefault(one.section, empty)
        width, height = struct.unpack('>II', one.png[16:24])  # of every PNG
        section['figures'].append(
            {
                'name': one.name,
                'title': one.title,
                'caption': one.caption,
                'png_base64': base64.b64encode(one.png).decode(),
                'width': width,
                'height': height,
                'numbers': format_numbers(one.result)._asdict(),
            }
        )
    return list(sections.values())


def list_missing(drawn: list[Figure]) -> list[tuple[str, str]]:
    """(title, why it is not drawn) of each figure that is not."""
    missing = []
    for one in drawn:
        if one.missing:
            missing.append((f'{one.title} ({one.section})', one.missing))
    return missing


def _draw(
    run: Run, name: str, section: str, point: Point, suffix: str, folder: pathlib.Path
) -> Figure:
    """The figure with its picture and result, or with the reason why it has none.

    Raises:
      StoreError: the picture cannot be written, as no other could be.
    """
    module = figure.find_figure(name)
    title, caption = figures.describe_module(module)
    file = f'{name}{suffix}'.replace('/', '.').replace(' ', '')
    one = Figure(name, section, file, title, caption)
    missing = explain_absence(name, run.experiment.axes)
    if missing:
        return one._replace(missing=missing)
    try:
        options = figures.OPTIONS.get(name, {})
        result = figure.compute(module, run, point, **options)
    except UserError as error:
        return one._replace(missing=str(error))
    paths = style.write_figure(result, module.draw, module.layout, folder / file)
    return one._replace(png=paths[0].read_bytes(), result=result)
