"""The cells of the design: all members that differ in nothing but the seed."""

from typing import Any

import pandas as pd

from analysis.designs import factors
from analysis.members.solution import SOLUTIONS
from analysis.members.third import list_names, name_thirds
from analysis.tables.text import format_counts, format_list, format_range, format_table

_NUMBERS = {
    'inferential': 'unseen_inferential',
    'within_1': 'unseen_within_1',
    'within_2': 'unseen_within_2',
    'symmetric': 'unseen_symmetric',
    'heldout': 'seen_heldout_assigned',
}
# Beside what a table of the training data would score.
_LOOKUP = {'symmetric': 'lookup_symmetric', 'heldout': 'lookup_heldout'}
_ABOUT = (
    'Members that differ in nothing but the seed. Solutions and agreements are of the '
    'converged members: mean (lowest to highest). A third solution is named by the '
    'pair whose answer it gives, without its reverse. Within 1, 2: the mean shares of '
    'answers at most so far from the inferential one, those of other pairs included. '
    'A table of the training data by unordered pair never composes; the last column '
    'has its other scores.'
)


def summarize_cells(members: pd.DataFrame) -> pd.DataFrame:
    """One row per cell: its factors, how many members, and what they end at.

    trained, converged: numbers of members. The solutions (numbers of members) and the
    mean, lowest and highest agreements are of the converged ones; NaN without any.
    """
    rows = []
    for key, cell in members.groupby(list(factors.NAMES), sort=True):
        row = dict(zip(factors.NAMES, key, strict=True))
        rows.append(row | _count_members(cell) | _measure_agreement(cell))
    return pd.DataFrame(rows)


def format_cells(cells: pd.DataFrame) -> str:
    """The cells as Markdown: what they share above, then a row per cell."""
    varying = factors.list_varying(cells) or ['gamma']
    shared = [name for name in factors.NAMES if name not in varying]
    rows = [_describe_cell(row, varying) for row in cells.to_dict('records')]
    lines = [
        _ABOUT,
        '',
        f'All cells: {factors.describe_setting(cells.iloc[0], shared)}.',
        '',
        format_table(list(rows[0]), [list(row.values()) for row in rows]),
    ]
    return '\n'.join(lines) + '\n'


def _count_members(cell: pd.DataFrame) -> dict[str, Any]:
    """How many members of a cell are trained, converged, and at each solution."""
    converged = cell[cell.converged]
    counts = {'trained': len(cell), 'converged': len(converged)}
    for solution in SOLUTIONS:
        number = int((converged.solution == solution).sum())
        counts[solution.replace(' ', '_')] = number
    named = name_thirds(converged.solution, converged.answer)
    by_name = {name: int((named == name).sum()) for name in list_names(named)}
    counts['solutions'] = format_counts(by_name)
    return counts


def _measure_agreement(cell: pd.DataFrame) -> dict[str, float]:
    """Agreements of a cell's converged members, and the scores of a table."""
    converged = cell[cell.converged]
    agreement = {}
    for name, column in _NUMBERS.items():
        agreement[f'{name}_mean'] = converged[column].mean()
        agreement[f'{name}_low'] = converged[column].min()
        agreement[f'{name}_high'] = converged[column].max()
    for name, column in _LOOKUP.items():
        agreement[f'{name}_of_table'] = cell[column].mean()
    return agreement


def _describe_cell(row: dict[str, Any], varying: list[str]) -> dict[str, str]:
    """The texts of a row of the table, by the titles of its columns."""
    texts = {}
    for name in varying:
        factor = factors.BY_NAME[name]
        texts[factor.title] = factors.format_level(factor, row[name])
    texts['converged'] = f'{row["converged"]} of {row["trained"]}'
    texts['solutions'] = row['solutions']
    texts['inferential'] = _format_agreement(row, 'inferential')
    texts['within 1, 2'] = format_list([row['within_1_mean'], row['within_2_mean']])
    texts['symmetric'] = _format_agreement(row, 'symmetric')
    texts['held-out'] = _format_agreement(row, 'heldout')
    of_table = [row['symmetric_of_table'], row['heldout_of_table']]
    texts['a table: symmetric, held-out'] = format_list(of_table)
    return texts


def _format_agreement(row: dict[str, Any], name: str) -> str:
    """Mean (lowest to highest) over the converged members of a cell."""
    return format_range(
        row[f'{name}_mean'], row[f'{name}_low'], row[f'{name}_high'], row['converged']
    )
