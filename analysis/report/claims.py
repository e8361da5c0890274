"""What this run says to the claims of its paper, and where the others are decided.

A row of the table is a claim about this run, by its folder's name, that its networks
decide or give a number to. All other claims are one sentence.
"""

import os
import pathlib
from types import ModuleType
from typing import Any, NamedTuple

import pandas as pd

from analysis import claims, figure
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

GALLERY = pathlib.Path(__file__).parents[1] / 'gallery'
# The rooms whose claims are about a task; the first one, unless another names the run.
ROOMS = {
    'anchors': ('p1', 'p3'),
    'memory_reasoning': ('p2',),
    'mixture': ('p2',),
    'anchor_permutations': ('p4',),
    'modular_addition': ('p4',),
    'scan': ('text_tasks', 'p4'),
    'addition': ('text_tasks',),
    'cogs': ('text_tasks',),
    'prontoqa': ('text_tasks',),
}
NAMES = {'text_tasks': 'P1 about its text tasks'}
MOST_RUNS = 12  # that the command names one by one


class Claims(NamedTuple):
    """The section of the page."""

    introduction: str  # what the numbers are; '' without a table
    rows: list[dict[str, Any]]  # the columns of claims.TITLES, as text
    others: str  # a sentence about the claims that are not in the table
    command: str  # decides them; '' where there is nothing to decide
    gallery: str  # path of the committed table; '' if there is none
    link: str  # to it, from the page


def check_claims(run: Run, page: pathlib.Path) -> Claims:
    """The claims of the paper about this run's task.

    Args:
      page: where the page will be.
    """
    paper, room = _find_room(run)
    if room is None:
        return Claims(
            '', [], f'No claim of a paper about {paper} is checked.', '', '', ''
        )
    named = claims.find_named(room, run)
    rows, failure = [], ''
    if named:
        try:
            rows = _list_rows(named, room, run)
        except UserError as error:
            failure = f' They could not be read: {error}.'
    gallery = f'analysis/gallery/{room.GALLERY}/verdicts.md'
    link = ''
    committed = GALLERY / room.GALLERY / 'verdicts.md'
    if committed.exists():
        link = os.path.relpath(committed, page.resolve().parent)
    return Claims(
        introduction=room.INTRODUCTION if rows else '',
        rows=rows,
        others=_describe_others(paper, room, named, len(rows)) + failure,
        command=_write_command(paper, room),
        gallery=gallery,
        link=link,
    )


def _find_room(run: Run) -> tuple[str, ModuleType | None]:
    """(paper, its claims); (task, None) of a task about which none are checked."""
    task = run.experiment.task.name
    rooms = {}
    for paper in ROOMS.get(task, ()):
        if figure.has_claims(paper):
            rooms[paper] = figure.import_claims(paper)
    for paper, room in rooms.items():
        if claims.find_named(room, run):
            return paper, room
    return next(iter(rooms.items()), (task.replace('_', ' '), None))


def _list_rows(
    named: list[claims.Claim], room: ModuleType, run: Run
) -> list[dict[str, Any]]:
    """The rows that have a number: those with a rule only if it was applied."""
    table = claims.tabulate_run(named, room, run)
    rows = []
    for claim, row in zip(named, table.to_dict('records'), strict=True):
        is_decided = claim.rule is None or row['seeds'] >= claims.SEEDS
        if row['seeds'] and is_decided:
            row['p'] = '' if pd.isna(row['p']) else f'{row["p"]:.3f}'
            rows.append({column: str(row[column]) for column in claims.TITLES})
    return rows


def _describe_others(
    paper: str, room: ModuleType, named: list[claims.Claim], shown: int
) -> str:
    """'Of the 52 claims of P4, this run decides none: 42 are about other runs.'."""
    total = len(room.CLAIMS)
    others = total - len(named)
    few = len(named) - shown
    parts = []
    if shown:
        parts.append(f'{shown} are above')
    if others:
        parts.append(f'{others} are about other runs')
    if few:
        parts.append(f'{few} need at least {claims.SEEDS} seeds, or other networks')
    start = f'Of the {total} claims of {NAMES.get(paper, paper.upper())}, '
    if not shown:
        start += 'this run decides none: '
    return f'{start}{", and ".join(parts)}.'


def _write_command(paper: str, room: ModuleType) -> str:
    """The command that decides all claims of a room, with the runs that they name."""
    runs = {}  # an ordered set
    for claim in room.CLAIMS:
        runs.update(dict.fromkeys(claim.runs))
    words = ' '.join(map('runs/{}'.format, runs))
    start = min(runs, key=len)
    if len(runs) > MOST_RUNS and all(run.startswith(start) for run in runs):
        words = f"'runs/{start}*'"
    return f'python -m analysis claims {paper} --runs {words} --out FOLDER'
