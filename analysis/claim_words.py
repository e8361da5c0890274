"""The words of a table of claims, for the terminal and the pages."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from analysis import stats
from analysis.claims import EXPLORATORY, NUMBERS, VERDICTS
from analysis.estimates import LEVEL
from analysis.tables.text import list_records

NOTHING = '–'  # in a cell
NOT_STORED = 'not stored'  # the networks are in the table, the number of them is not
WORDS = (  # what `write_words` gives of a row
    *('address', 'source', 'claim', 'run', 'number', 'n', 'null', 'converged'),
    *('p', 'power', 'verdict', 'note'),
)


def count_verdicts(table: pd.DataFrame) -> str:
    """'holds: 3 · undecided: 2 · exploratory: 7'."""
    counts = table.verdict.replace(EXPLORATORY, 'exploratory').value_counts()
    names = [name for name in (*VERDICTS, 'exploratory') if name in counts]
    return ' · '.join(f'{name}: {counts[name]}' for name in names)


def list_lines(table: pd.DataFrame) -> list[str]:
    """Two lines for the terminal about every claim that has networks."""
    lines = []
    for row in list_records(table[table.n > 0]):
        number, verdict = describe(row), row['verdict'] or 'exploratory'
        lines.append(f'{row["claim"]}\n  {number} ({row["n"]} seeds): {verdict}')
    return lines


def write_words(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of a table as texts, with the columns WORDS."""
    rows = []
    for row in list_records(table):
        converged = {name: row[f'converged_{name}'] for name in NUMBERS}
        is_null = np.isnan(row['null'])
        words = {
            'run': row['run'] or NOTHING,
            'number': describe(row) if row['n'] or not row['run'] else NOT_STORED,
            'n': str(row['n']),
            'null': '' if is_null else stats.format_number(row['null']),
            'converged': describe(converged),
            'p': format_p_value(row['p_corrected']),
            'power': NOTHING if np.isnan(row['power']) else f'{row["power"]:.2f}',
            'note': '; '.join(filter(None, (row['note'], *_list_missing(row)))),
        }
        rows.append(row | words)
    return pd.DataFrame(rows, columns=list(WORDS))


def _list_missing(row: Mapping[str, Any]) -> list[str]:
    """What the number of a row leaves out: '2 networks have no partner'."""
    reasons = {'left_out': 'have no partner', 'untrained': 'are not trained yet'}
    found = []
    for name, words in reasons.items():
        if row[name]:
            found.append(f'{row[name]} networks {words}')
    return found


def describe(row: Mapping[str, Any]) -> str:
    """'small 0.42 [0.10, 0.73] against large 0.03 [0.00, 0.05]; difference 0.39 ...'.

    Args:
      row: the columns NUMBERS of a table.
    """
    if not row['n']:
        return NOTHING
    names = ('first', 'second') if row['kind'] != LEVEL else ()
    sides = []
    for side in names:
        if row[f'{side}_name']:
            sides.append(f'{row[f"{side}_name"]} {describe_number(row, side)}')
    name = row['first_name'] if row['kind'] == LEVEL else row['kind']
    number = f'{name} {describe_number(row)}'.strip()
    return '; '.join(filter(None, (' against '.join(sides), number)))


def describe_number(row: Mapping[str, Any], side: str = 'value') -> str:
    """'at least 8.05 [6.76, 9.58]': a number of a row with its interval and bound.

    Args:
      side: 'value', or the 'first' or 'second' that it is made of.
    """
    prefix = '' if side == 'value' else f'{side}_'
    mean = stats.Mean(row[side], row[f'{prefix}low'], row[f'{prefix}high'])
    return f'{row[f"{prefix}bound"]} {stats.format_mean(mean)}'.strip()


def format_p_value(p: float) -> str:
    """'0.042', '<0.001'; NOTHING of none."""
    if np.isnan(p):
        return NOTHING
    text = f'{p:.3f}'
    return '<0.001' if text == '0.000' else text
