"""Reads the official files of COGS: sentence, logical form, case; tabs between."""

import collections
import pathlib

from anchorjax.errors import UserError, brief
from anchorjax.tasks.cogs.cases import CASES, EXPOSURES, Row
from anchorjax.tasks.cogs.logic import write_logical_form
from anchorjax.tasks.text_files import read_lines

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
_LABELS = frozenset({'in_distribution', 'primitive', *EXPOSURES, *CASES})


def read_rows(path: pathlib.Path) -> list[Row]:
    """The rows of a file, which may be gzipped; their logical forms are checked.

    Raises:
      UserError: it is missing, truncated, empty, or holds something else; the line
        names the file and the first line that is wrong.
    """
    rows = []
    for number, line in enumerate(read_lines(path), 1):
        fields = line.split('\t')
        if len(fields) != 3 or fields[2] not in _LABELS:
            raise UserError(
                f'{path}, line {number}: {brief(line)!r} is no line of COGS: a '
                'sentence, its logical form and its case, with tabs between'
            )
        row = Row(*fields)
        if not _has_our_form(row):
            raise UserError(
                f'{path}, line {number}: {brief(line)!r} has another logical form '
                'than by the rules of COGS'
            )
        rows.append(row)
    if not rows:
        raise UserError(f'{path}: empty; must have lines of COGS')
    return rows


def find_split(folder: pathlib.Path, name: str) -> pathlib.Path:
    """`name`.tsv in a folder, or `name`.tsv.gz if there is only that."""
    path = folder / f'{name}.tsv'
    packed = path.with_name(f'{name}.tsv.gz')
    return packed if packed.exists() and not path.exists() else path


def read_split(folder: pathlib.Path, name: str) -> list[Row]:
    """The rows of `name`.tsv, or of `name`.tsv.gz, in a folder.

    Args:
      name: train, dev, test or gen.

    Raises:
      UserError: as `read_rows`, or it has other numbers of rows, in all or of a case,
        than the official one.
    """
    path = find_split(folder, name)
    rows = read_rows(path)
    if len(rows) != NUM_ROWS[name]:
        raise UserError(
            f'{path}: {len(rows):,} rows, not the {NUM_ROWS[name]:,} of COGS; '
            'truncated, or another data set'
        )
    found = collections.Counter(row.case for row in rows)
    expected = NUM_OF_CASE[name]
    for case in (*expected, *found):
        number = expected.get(case, 0)
        if found[case] != number:
            raise UserError(
                f'{path}: {found[case]:,} rows of {case}, not the {number:,} of COGS; '
                'another data set'
            )
    return rows


def _has_our_form(row: Row) -> bool:
    try:
        return write_logical_form(row.sentence) == row.form
    except (ValueError, RecursionError):
        return False


def take_turns(rows: list[Row]) -> list[Row]:
    """Rows of the cases in turn, so that any first part has as many of each."""
    by_case: dict[str, list[Row]] = {case: [] for case in CASES}
    for row in rows:
        by_case[row.case].append(row)
    turns = []
    for of_turn in zip(*by_case.values(), strict=True):
        turns += of_turn
    return turns
