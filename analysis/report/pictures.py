"""Draws the figures of the page, or says why one cannot be drawn."""

import base64
import pathlib
import re
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import ModuleType
from typing import Any

from analysis import figure, papers
from analysis.drawing import style
from analysis.members.point import Point, name_point
from analysis.members.selection import list_varying
from analysis.names import name_axis
from analysis.report import figures
from analysis.report.choose import Choice
from analysis.report.figures import Section
from analysis.report.numbers import format_numbers
from analysis.report.subject import Subject
from anchorjax.errors import UserError, describe_failure
from anchorjax.storage.reader import Run


class Undrawn(UserError):
    """Why a figure is not on the page."""


def draw_all(
    subject: Subject,
    choices: dict[str, Choice],
    folder: pathlib.Path,
    report_progress: Callable[[str], None],
) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    """Draws every figure that the run supports into `folder`.

    Returns:
      The sections of the page, and (title, why) of what is not drawn.

    Raises:
      StoreError: a picture cannot be written, as no other could be.
    """
    sections = list_sections(subject, choices)
    followed = next(iter(choices.values())).point
    total = 0
    for section in sections:
        total += len(section.names)
    started: list[list[tuple[str, Future]]] = []  # by section: titles, pictures
    number = 0
    # Matplotlib, which draws one figure at a time, does so while the next is computed.
    with ThreadPoolExecutor(max_workers=1) as artist:
        for section in sections:
            started.append([])
            for name in section.names:
                number += 1
                point = followed if name in figures.FOLLOWING else section.point
                file = f'{name}{section.suffix}'.replace('/', '.').replace(' ', '')
                began = time.monotonic()
                result = _try_to_compute(subject.run, name, point)
                module = figure.find_figure(name)
                picture = artist.submit(_try_to_draw, module, result, folder / file)
                started[-1].append((module.TITLE, picture))
                took = f'{time.monotonic() - began:.1f} s'
                reason = result if isinstance(result, Undrawn) else took
                report_progress(f'{number}/{total} {file}: {reason}')
    shown, missing = [], []
    for section, pictures in zip(sections, started, strict=True):
        drawn = []
        for title, picture in pictures:
            try:
                drawn.append(picture.result())
            except Undrawn as error:
                missing.append((f'{title} ({section.title})', str(error)))
        if drawn:
            described = {'title': section.title, 'about': section.about}
            shown.append(described | {'figures': drawn})
    return shown, missing


def list_sections(subject: Subject, choices: dict[str, Choice]) -> list[Section]:
    """The figures of the sweep, and those of every network that is shown."""
    if subject.unseen is None:
        task = subject.run.experiment.task.name
        of_sweep = figures.ANY
        for paper in papers.list_papers_of(task).values():
            of_sweep += paper.figures[task]
        sections = [Section('All networks', of_sweep)]
        names = figures.MEMBER
    else:
        sections, names = [*figures.ANCHORS], figures.ANCHORS_MEMBER
    for choice in choices.values():
        suffix = f'_{name_point(subject.run, choice.point)}'.rstrip('_')
        of_network = Section(choice.title, names, choice.about, choice.point, suffix)
        sections.append(of_network)
    return sections


def explain_absence(name: str, axes: dict[str, tuple]) -> str:
    """Why a figure has nothing to compare in a sweep; '' if it has."""
    needed = getattr(figure.find_figure(name), 'COMPARES', ())
    if not needed or set(needed) & set(list_varying(axes)):
        return ''
    return f'needs several values of {" or ".join(map(name_axis, needed))}'


def _try_to_compute(run: Run, name: str, point: Point) -> Any:
    """The result of a figure, or in its place why there is none."""
    try:
        return compute(run, name, point)
    except Exception as error:  # whatever it is, the other figures are drawn
        return Undrawn(describe_failure(error))


def _try_to_draw(module: ModuleType, result: Any, path: pathlib.Path) -> dict[str, Any]:
    """Writes a figure; what the page shows of it.

    Raises:
      Undrawn: there is no result, or it cannot be drawn, whatever the error is.
      StoreError: it cannot be written.
    """
    if isinstance(result, Undrawn):
        raise result
    try:
        return draw(module, result, path)
    except Exception as error:  # of Matplotlib or the disk
        if isinstance(error.__cause__, OSError):
            raise
        raise Undrawn(describe_failure(error)) from error


def compute(run: Run, name: str, point: Point) -> Any:
    """The result of a figure.

    Raises:
      UserError: the run does not support it.
    """
    missing = explain_absence(name, run.experiment.axes)
    if missing:
        raise UserError(missing)
    options = figures.OPTIONS.get(name, {})
    return figure.compute(figure.find_figure(name), run, point, **options)


def draw(module: ModuleType, result: Any, path: pathlib.Path) -> dict[str, Any]:
    """Writes a figure; what the page shows of it."""
    look = module.draw, module.layout
    paths = style.write_figure(result, *look, path, kinds=('svg',))
    svg = paths[0].read_bytes()
    (size,) = re.findall(rb'^<svg .*viewBox="0 0 (\S+) (\S+)"', svg, re.MULTILINE)
    width, height = (round(float(points)) for points in size)
    return {
        'file': paths[-1].name,  # of its numbers
        'title': module.TITLE,
        'caption': module.CAPTION,
        'paper': module.PAPER,
        'svg_base64': base64.b64encode(svg).decode(),
        'width': width,
        'height': height,
        'numbers': format_numbers(result),
    }
