"""Draws the figures of the report, or says why one cannot be drawn."""

import base64
import pathlib
import struct
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from analysis.drawing import style
from analysis.members.point import Point, name_point
from analysis.report import figures
from analysis.report.choose import Choice
from analysis.report.numbers import format_numbers
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run


class Figure(NamedTuple):
    """A figure as the page shows it, and the numbers behind it for the claims."""

    module: str  # name of the module that draws it
    solution: str | None  # that its member is chosen for; None: it shows the sweep
    point: Point | None  # of that member
    name: str  # of its files
    title: str
    caption: str
    png: bytes | None = None
    missing: str | None = None  # why there is no picture
    result: Any = None


# What to draw: the row of its figure, the point of its member, its texts.
Plan = list[tuple[figures.Row, Point, Figure]]


def draw_all(
    run: Run,
    choices: dict[str, Choice],
    folder: pathlib.Path,
    report_progress: Callable[[str], None],
) -> list[Figure]:
    """Draws every figure that the run supports into `folder`.

    Figures of the sweep that follow one member take the first that is shown.
    """
    points = [choice.shown for choice in choices.values() if choice.shown]
    plan: Plan = []
    for row in figures.SWEEP:
        plan.append((row, points[0], describe_sweep(row)))
    absent = []
    for solution, choice in choices.items():
        if choice.shown is None:
            absent.append(_describe_absent(solution, choice))
            continue
        for row in figures.MEMBER:
            figure = _describe_member(run, row, solution, choice)
            plan.append((row, choice.shown, figure))
    return draw_planned(plan, run, folder, report_progress) + absent


def draw_planned(
    plan: Plan, run: Run, folder: pathlib.Path, report_progress: Callable[[str], None]
) -> list[Figure]:
    """Draws the figures of a plan, those that the run does not support excepted."""
    drawn = []
    for number, (row, point, figure) in enumerate(plan, start=1):
        began = time.monotonic()
        figure = _draw(row, run, point, figure, folder)
        drawn.append(figure)
        outcome = figure.missing or f'{time.monotonic() - began:.1f} s'
        report_progress(f'{number}/{len(plan)} {figure.name}: {outcome}')
    return drawn


def describe_sweep(row: figures.Row) -> Figure:
    return Figure(row.name, None, None, row.name, row.title, row.caption)


def name_member_figure(run: Run, row: figures.Row, point: Point) -> tuple[str, str]:
    """(name of the files, 'gamma=0.5,seed=0') of a member's figure."""
    where = name_point(run, point)
    return f'{row.name}_{where}'.replace('/', '.').replace(' ', ''), where


def _describe_member(
    run: Run, row: figures.Row, solution: str, choice: Choice
) -> Figure:
    """The caption says what the member is, because it may be at no solution."""
    name, where = name_member_figure(run, row, choice.shown)
    about = choice.about[0].upper() + choice.about[1:]
    return Figure(
        module=row.name,
        solution=solution,
        point=choice.shown,
        name=name,
        title=f'{row.title} of the most {solution} member ({where})',
        caption=f'{about}. {row.caption}',
    )


def _describe_absent(solution: str, choice: Choice) -> Figure:
    title = f'Figures of the most {solution} member'
    return Figure('', solution, None, solution, title, '', missing=choice.about)


def _draw(
    row: figures.Row, run: Run, point: Point, figure: Figure, folder: pathlib.Path
) -> Figure:
    """The figure with its picture and result, or with the reason why it has none.

    Raises:
      StoreError: the picture cannot be written, as no other could be.
    """
    module = row.module
    try:
        result = row.compute(module, run, point)
    except UserError as error:
        return figure._replace(missing=str(error))
    path = folder / figure.name
    paths = style.write_figure(result, module.draw, module.layout, path)
    return figure._replace(png=paths[0].read_bytes(), result=result)


def describe_figures(drawn: list[Figure]) -> list[dict[str, Any]]:
    """The figures as the page takes them."""
    described = []
    for figure in drawn:
        encoded = None
        numbers = None
        width = height = 0
        if figure.png:
            width, height = measure_png(figure.png)
            encoded = base64.b64encode(figure.png).decode()
            numbers = format_numbers(figure.result)._asdict()
        described.append(
            {
                'name': figure.name,
                'title': figure.title,
                'caption': figure.caption,
                'section': name_section(figure),
                'width': width,
                'height': height,
                'png_base64': encoded,
                'numbers': numbers,
                'missing': figure.missing,
            }
        )
    return described


def measure_png(png: bytes) -> tuple[int, int]:
    """(width, height) in pixels, from the header."""
    return struct.unpack('>II', png[16:24])


def name_section(figure: Figure) -> str:
    """The part of the page that folds the figure."""
    if figure.point is None:
        return 'The whole sweep'
    if figure.solution is None:
        return 'Two networks'
    return f'The most {figure.solution} network'
