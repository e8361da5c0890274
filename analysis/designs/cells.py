"""The cells of the design: all members that differ in nothing but the seed."""

import pandas as pd

from analysis.designs import factors
from analysis.members.solution import SOLUTIONS
from analysis.tables.text import format_counts, format_range, format_table

_NUMBERS = {
    'inferential': 'unseen_inferential',
    'symmetric': 'unseen_symmetric',
    'heldout': 'seen_heldout_assigned',
}
# Beside what a table of the training data would score.
_LOOKUP = {'symmetric': 'lookup_symmetric', 'heldout': 'lookup_heldout'}


def summarize_cells(members: pd.DataFrame) -> pd.DataFrame:
    """One row per cell: its factors, how many members, and what they end at.

    trained, converged: numbers of members. The solutions (numbers of members) and the
    mean, lowest and highest agreements are of the converged ones; NaN without any.
    """
    rows = []
    for key, cell in members.groupby(list(factors.NAMES), sort=True):
        row = dict(zip(factors.NAMES, key, strict=True))
        converged = cell[cell.converged]
        row['trained'] = len(cell)
        row['converged'] = len(converged)
        for solution in SOLUTIONS:
            row[_column(solution)] = int((converged.solution == solution).sum())
        for name, column in _NUMBERS.items():
            row[f'{name}_mean'] = converged[column].mean()
            row[f'{name}_low'] = converged[column].min()
            row[f'{name}_high'] = converged[column].max()
        for name, column in _LOOKUP.items():
            row[f'{name}_of_table'] = cell[column].mean()
        rows.append(row)
    return pd.DataFrame(rows)


def format_cells(cells: pd.DataFrame) -> str:
    """The cells as Markdown: what they share above, then a row per cell."""
    varying = factors.list_varying(cells) or ['gamma']
    shared = [name for name in factors.NAMES if name not in varying]
    header = [factors.BY_NAME[name].title for name in varying]
    header += ['converged', 'solutions', 'inferential', 'symmetric', 'held-out']
    header += ['a table: symmetric, held-out']
    rows = [_describe_cell(row, varying) for row in cells.to_dict('records')]
    lines = [
        'Members that differ in nothing but the seed. Solutions and agreements are of '
        'the converged members: mean (lowest to highest). A table of the training data '
        'by unordered pair never composes; the last column has its other scores.',
        '',
        f'All cells: {factors.describe_setting(cells.iloc[0], shared)}.',
        '',
        format_table(header, rows),
    ]
    return '\n'.join(lines) + '\n'


def _describe_cell(row: dict, varying: list[str]) -> list[str]:
    """The texts of a row of the table, in the order of its header."""
    levels = []
    for name in varying:
        levels.append(factors.format_level(factors.BY_NAME[name], row[name]))
    converged = f'{row["converged"]} of {row["trained"]}'
    solutions = format_counts({name: row[_column(name)] for name in SOLUTIONS})
    agreements = [_format_agreement(row, name) for name in _NUMBERS]
    of_table = ', '.join(f'{row[f"{name}_of_table"]:.2f}' for name in _LOOKUP)
    return [*levels, converged, solutions, *agreements, of_table]


def _format_agreement(row: dict, name: str) -> str:
    """Mean (lowest to highest) over the converged members of a cell."""
    return format_range(
        row[f'{name}_mean'], row[f'{name}_low'], row[f'{name}_high'], row['converged']
    )


def _column(solution: str) -> str:
    """The column with the number of members that have found a solution."""
    return solution.replace(' ', '_')
