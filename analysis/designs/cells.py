"""The cells of the design: all members that differ in nothing but the seed."""

import pandas as pd

from analysis.designs import factors
from analysis.members.solution import SOLUTIONS

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
            row[solution.replace(' ', '_')] = int(
                (converged.solution == solution).sum()
            )
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
    lines = [
        'Members that differ in nothing but the seed. Solutions and agreements are of '
        'the converged members: mean (lowest to highest). A table of the training data '
        'by unordered pair never composes; the last column has its other scores.',
        '',
        f'All cells: {factors.describe_setting(cells.iloc[0], shared)}.',
        '',
        format_row(header),
        '|' + '---|' * len(header),
    ]
    for row in cells.to_dict('records'):
        lines.append(format_row(_describe_cell(row, varying)))
    return '\n'.join(lines) + '\n'


def count_solutions(row: dict) -> str:
    """'inferential 2, third 1' of a row of `summarize_cells`."""
    parts = []
    for solution in SOLUTIONS:
        number = row[solution.replace(' ', '_')]
        if number > 0:
            parts.append(f'{solution} {number}')
    return ', '.join(parts) or '–'


def format_row(texts: list[str]) -> str:
    """A row of a Markdown table."""
    return '| ' + ' | '.join(texts) + ' |'


def _describe_cell(row: dict, varying: list[str]) -> list[str]:
    texts = []
    for name in varying:
        texts.append(factors.format_level(factors.BY_NAME[name], row[name]))
    texts.append(f'{row["converged"]} of {row["trained"]}')
    texts.append(count_solutions(row))
    for name in _NUMBERS:
        texts.append(_format_range(row, name))
    of_table = [row[f'{name}_of_table'] for name in _LOOKUP]
    texts.append(', '.join(f'{score:.2f}' for score in of_table))
    return texts


def _format_range(row: dict, name: str) -> str:
    """'0.72 (0.50–0.95)'; '–' without a converged member."""
    mean = row[f'{name}_mean']
    if pd.isna(mean):
        return '–'
    if row['converged'] == 1:
        return f'{mean:.2f}'
    low = row[f'{name}_low']
    high = row[f'{name}_high']
    return f'{mean:.2f} ({low:.2f}–{high:.2f})'
