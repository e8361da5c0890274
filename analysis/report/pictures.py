"""Draws the figures of the report, or says why one cannot be drawn."""

import base64
import pathlib
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from analysis.drawing import style
from analysis.members.point import format_point, select_varying
from analysis.report import figures
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run


class Figure(NamedTuple):
    """A figure as the page shows it, and the numbers behind it for the claims."""

    module: str  # name of the module that draws it
    solution: str | None  # of the member that it shows; None: it shows the sweep
    name: str  # of its files
    title: str
    caption: str
    png: bytes | None = None
    missing: str | None = None  # why there is no picture
    result: Any = None


def draw_all(
    run: Run,
    chosen: dict[str, figures.Point],
    folder: pathlib.Path,
    report_progress: Callable[[str], None],
) -> list[Figure]:
    """Draws every figure that the run supports into `folder`."""
    first_point = next(iter(chosen.values()))
    plan = [(row, None, first_point) for row in figures.SWEEP]
    for solution, point in chosen.items():
        plan += [(row, solution, point) for row in figures.MEMBER]
    drawn = []
    for number, (row, solution, point) in enumerate(plan, start=1):
        began = time.monotonic()
        figure = _draw(row, run, solution, point, folder)
        drawn.append(figure)
        outcome = figure.missing or f'{time.monotonic() - began:.1f} s'
        report_progress(f'{number}/{len(plan)} {figure.name}: {outcome}')
    return drawn


def _draw(
    row: figures.Row,
    run: Run,
    solution: str | None,
    point: figures.Point,
    folder: pathlib.Path,
) -> Figure:
    module = row.module
    short_name = module.__name__.split('.')[-1]
    name, title = short_name, row.title
    if solution:
        where = format_point(select_varying(run, point))
        name = f'{short_name}_{where}'.replace('/', '.').replace(' ', '')
        title = f'{row.title} of the most {solution} member ({where})'
    figure = Figure(
        module=short_name,
        solution=solution,
        name=name,
        title=title,
        caption=row.caption,
    )
    try:
        result = row.compute(module, run, point)
        paths = style.write_figure(result, module.draw, module.layout, folder / name)
    except UserError as error:
        return figure._replace(missing=str(error))
    return figure._replace(png=paths[0].read_bytes(), result=result)


def describe_figures(drawn: list[Figure]) -> list[dict[str, Any]]:
    """The figures as the page takes them."""
    described = []
    for figure in drawn:
        encoded = None
        if figure.png:
            encoded = base64.b64encode(figure.png).decode()
        described.append(
            {
                'name': figure.name,
                'title': figure.title,
                'caption': figure.caption,
                'png_base64': encoded,
                'missing': figure.missing,
            }
        )
    return described
