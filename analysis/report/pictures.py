"""Draws the figures of the page, or says why one cannot be drawn."""

import base64
import pathlib
import struct
import time
from collections.abc import Callable
from types import ModuleType
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


class Part(NamedTuple):
    """Figures that the page opens together."""

    title: str
    about: str  # a sentence about the network that they are of; '' for a sweep
    names: tuple[str, ...]
    point: Point | None  # of that network
    suffix: str  # of the names of their files


class Pictures(NamedTuple):
    """What the page takes."""

    sections: list[dict[str, Any]]
    missing: list[tuple[str, str]]  # title, why it is not drawn


def draw_all(
    subject: Subject,
    choices: dict[str, Choice],
    folder: pathlib.Path,
    report_progress: Callable[[str], None],
) -> Pictures:
    """Draws every figure that the run supports into `folder`.

    Raises:
      StoreError: a picture cannot be written, as no other could be.
    """
    parts = list_parts(subject, choices)
    first = next(iter(choices.values())).point
    total = sum(len(part.names) for part in parts)
    number = 0
    pictures = Pictures([], [])
    for part in parts:
        drawn = []
        for name in part.names:
            number += 1
            began = time.monotonic()
            module = figures.find_module(name)
            title, _, _ = figures.describe_module(module)
            point = part.point or (first if name in figures.FOLLOWING else {})
            file = f'{name}{part.suffix}'.replace('/', '.').replace(' ', '')
            try:
                result = _compute(subject.run, module, name, point)
            except UserError as error:
                pictures.missing.append((f'{title} ({part.title})', str(error)))
                report_progress(f'{number}/{total} {file}: {error}')
                continue
            drawn.append(_describe(module, result, folder / file))
            seconds = time.monotonic() - began
            report_progress(f'{number}/{total} {file}: {seconds:.1f} s')
        if drawn:
            section = {'title': part.title, 'about': part.about, 'figures': drawn}
            pictures.sections.append(section)
    return pictures


def list_parts(subject: Subject, choices: dict[str, Choice]) -> list[Part]:
    """The figures of the sweep, and those of every network that is shown."""
    has_unseen_pair = subject.unseen is not None
    task = subject.run.experiment.task.name
    parts = []
    for section in figures.list_sections(task, has_unseen_pair):
        parts.append(Part(section.title, '', section.names, None, ''))
    names = figures.ANCHORS_MEMBER if has_unseen_pair else figures.MEMBER
    for choice in choices.values():
        suffix = f'_{name_point(subject.run, choice.point)}'.rstrip('_')
        parts.append(Part(choice.title, choice.about, names, choice.point, suffix))
    return parts


def explain_absence(name: str, axes: dict[str, tuple]) -> str:
    """Why a figure has nothing to compare in a sweep; '' if it has."""
    needed = figures.VARYING.get(name, ())
    if not needed or any(axis in list_varying(axes) for axis in needed):
        return ''
    return f'needs several values of {" or ".join(map(name_axis, needed))}'


def _compute(run: Run, module: ModuleType, name: str, point: Point) -> Any:
    missing = explain_absence(name, run.experiment.axes)
    if missing:
        raise UserError(missing)
    return figure.compute(module, run, point, **figures.OPTIONS.get(name, {}))


def _describe(module: ModuleType, result: Any, path: pathlib.Path) -> dict[str, Any]:
    """Writes a figure; what the page shows of it."""
    title, caption, paper = figures.describe_module(module)
    paths = style.write_figure(result, module.draw, module.layout, path)
    png = paths[0].read_bytes()
    width, height = struct.unpack('>II', png[16:24])  # of every PNG
    return {
        'name': path.name,
        'title': title,
        'caption': caption,
        'paper': paper,
        'png_base64': base64.b64encode(png).decode(),
        'width': width,
        'height': height,
        'numbers': format_numbers(result)._asdict(),
    }
