"""The cells of the design: all members that differ in nothing but the seed."""

import pandas as pd

from analysis.law import members as law_members
from analysis.law.members import FACTORS, NAMES
from analysis.members.solution import SOLUTIONS, list_names, name_thirds
from analysis.tables.text import format_counts, format_list, format_range, format_table

AGREEMENT = {
    'inferential': 'unseen_inferential',
    'within_1': 'unseen_within_1',
    'within_2': 'unseen_within_2',
    'symmetric': 'unseen_symmetric',
    'heldout': 'seen_heldout_assigned',
}
_ABOUT = (
    'Members that differ in nothing but the seed. Solutions and agreements are of the '
    'converged members: mean (lowest to highest). A third solution is named by the '
    'pair whose answer it gives, without its reverse. Within 1, 2: the mean shares of '
    'answers at most so far from the inferential one, those of other pairs included. '
    'A table of the training data by unordered pair never composes; the last column '
    "has its other scores. Beside γ: that of the same standard deviation at P1's width."
)


def summarize_cells(members: pd.DataFrame) -> pd.DataFrame:
    """One row per cell: its factors, how many members, and what they end at.

    trained, converged: numbers of members. The solutions (numbers of members) and the
    mean, lowest and highest agreements are of the converged ones; NaN without any.
    """
    rows = []
    for key, cell in members.groupby(NAMES, sort=True):
        converged = cell[cell.converged]
        row = dict(zip(NAMES, key, strict=True))
        row |= {'trained': len(cell), 'converged': len(converged)}
        for solution in SOLUTIONS:
            number = int((converged.solution == solution).sum())
            row[solution.replace(' ', '_')] = number
        named = name_thirds(converged.solution, converged.answer)
        counts = {name: int((named == name).sum()) for name in list_names(named)}
        row['solutions'] = format_counts(counts)
        for name, column in AGREEMENT.items():
            row[f'{name}_mean'] = converged[column].mean()
            row[f'{name}_low'] = converged[column].min()
            row[f'{name}_high'] = converged[column].max()
        for name in ('symmetric', 'heldout'):
            row[f'{name}_of_table'] = cell[f'lookup_{name}'].mean()
        rows.append(row)
    return pd.DataFrame(rows)


def format_cells(cells: pd.DataFrame) -> str:
    """The cells as Markdown: what they share above, then a row per cell."""
    varying = law_members.list_varying(cells) or ['gamma']
    shared = [name for name in NAMES if name not in varying]
    rows = []
    for row in cells.to_dict('records'):
        texts = {}
        for name in varying:
            texts[FACTORS[name].title] = law_members.format_level(name, row[name])
        if 'gamma' in varying:
            texts['γ'] = law_members.name_gamma(row['gamma'], [row['width']])
        texts['converged'] = f'{row["converged"]} of {row["trained"]}'
        texts['solutions'] = row['solutions']
        texts['inferential'] = _format_agreement(row, 'inferential')
        texts['within 1, 2'] = format_list([row['within_1_mean'], row['within_2_mean']])
        texts['symmetric'] = _format_agreement(row, 'symmetric')
        texts['held-out'] = _format_agreement(row, 'heldout')
        of_table = [row['symmetric_of_table'], row['heldout_of_table']]
        texts['a table: symmetric, held-out'] = format_list(of_table)
        rows.append(texts)
    setting = law_members.describe_setting(cells.iloc[0].to_dict(), shared)
    body = format_table(list(rows[0]), [list(texts.values()) for texts in rows])
    return f'{_ABOUT}\n\nAll cells: {setting}.\n\n{body}\n'


def _format_agreement(row: dict, name: str) -> str:
    """Mean (lowest to highest) over the converged members of a cell."""
    ends = [row[f'{name}_{end}'] for end in ('mean', 'low', 'high')]
    return format_range(*ends, row['converged'])
