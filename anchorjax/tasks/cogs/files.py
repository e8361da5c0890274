"""Reads the official files of COGS: sentence, logical form, case; tabs between."""

import collections
import pathlib

from anchorjax.errors import UserError
from anchorjax.tasks.cogs.cases import CASES, EXPOSURES, Row
from anchorjax.tasks.cogs.logic import write_logical_form
from anchorjax.tasks.text_files import find_file, parse_lines

NUM_SPECIAL = 155  # primitives and exposures among the training rows
_SPECIAL = {'primitive': NUM_SPECIAL - len(EXPOSURES)} | dict.fromkeys(EXPOSURES, 1)
# How often each file has each case (DATASETS 3.1).
NUM_OF_CASE = {
    'train': {'in_distribution': 24_000} | _SPECIAL,
    'dev': {'in_distribution': 3_000},
    'test': {'in_distribution': 3_000},
    'gen': dict.fromkeys(CASES, 1_000),
}
NUM_ROWS = {name: sum(of_case.values()) for name, of_case in NUM_OF_CASE.items()}


def parse_row(line: str) -> Row:
    """The row of a line.

    Raises:
      ValueError: it has another logical form than by the rules, or it is not a row.
    """
    fields = line.split('\t')
    if len(fields) != 3:
        raise ValueError('is no line of COGS: sentence, logical form, case, with tabs')
    row = Row(*fields)
    try:
        has_our_form = write_logical_form(row.sentence) == row.form
    except (ValueError, RecursionError):
        has_our_form = False
    if not has_our_form:
        raise ValueError('has another logical form than by the rules of COGS')
    return row


def read_split(folder: pathlib.Path, name: str) -> list[Row]:
    """The rows of an official file.

    Args:
      name: train, dev, test or gen.

    Raises:
      UserError: as `parse_lines`, or a case has another number of rows than in COGS.
    """
    path = find_file(folder, f'{name}.tsv')
    rows = parse_lines(path, parse_row)
    found = collections.Counter(row.case for row in rows)
    expected = NUM_OF_CASE[name]
    for case in (*expected, *found):
        number = expected.get(case, 0)
        if found[case] != number:
            raise UserError(
                f'{path}: {found[case]:,} rows of {case}, not the {number:,} of COGS; '
                'truncated, or another data set'
            )
    return rows


def take_turns(rows: list[Row]) -> list[Row]:
    """Rows of the cases in turn, so that any first part has as many of each."""
    by_case: dict[str, list[Row]] = {case: [] for case in CASES}
    for row in rows:
        by_case[row.case].append(row)
    turns = []
    for of_turn in zip(*by_case.values(), strict=True):
        turns += of_turn
    return turns
