"""The cells of the design: all members that differ in nothing but the seed."""

import pandas as pd

from analysis.law import members as law_members
from analysis.law.members import FACTORS, NAMES
from analysis.tables.text import (
    format_counts,
    format_list,
    format_range,
    format_records,
    list_records,
)
from anchorjax.tasks.solution import SOLUTIONS, list_names, name_thirds

AGREEMENT = {
    'composed': 'unseen_composed',
    'within_1': 'unseen_within_1',
    'within_2': 'unseen_within_2',
    'symmetric': 'unseen_symmetric',
    'heldout': 'seen_heldout_assigned',
}
_ABOUT = (
    'Members that differ in nothing but the seed. Solutions and agreements are of the '
    'converged members: mean (lowest to highest). A third solution is named by the '
    'pair whose answer it gives, without its reverse. Within 1, 2: the mean shares of '
    'answers at most so far from the composed one, those of other pairs included. '
    'A table of the training data by unordered pair never composes; the last column '
    "has its other scores. Beside γ: that of the same standard deviation at P1's width."
)


def summarize_cells(members: pd.DataFrame) -> pd.DataFrame:
    """One row per cell: its factors, how many members, and what they end at.

    trained, converged: numbers of members. The solutions (numbers of members) and the
    mean, lowest and highest agreements are of the converged ones; NaN without any.
    """
    keys = [members[name] for name in NAMES]
    cells = members.groupby(NAMES)
    summary = cells.converged.agg(trained='size', converged='sum')
    solutions = members.solution.where(members.converged)
    for solution in SOLUTIONS:
        is_here = solutions == solution
        summary[solution.replace(' ', '_')] = is_here.groupby(keys).sum()
    named = name_thirds(members.solution, members.answer).where(members.converged, '')
    names = list_names(named)
    texts = {}
    for key, of_cell in named.groupby(keys):
        counts = of_cell.value_counts()
        texts[key] = format_counts({name: counts.get(name, 0) for name in names})
    summary['solutions'] = pd.Series(texts)
    for name, column in AGREEMENT.items():
        of_converged = members[column].where(members.converged).groupby(keys)
        summary[f'{name}_mean'] = of_converged.mean()
        summary[f'{name}_low'] = of_converged.min()
        summary[f'{name}_high'] = of_converged.max()
    for name in ('symmetric', 'heldout'):
        summary[f'{name}_of_table'] = cells[f'lookup_{name}'].mean()
    return summary.reset_index()


def format_cells(cells: pd.DataFrame) -> str:
    """The cells as Markdown: what they share above, then a row per cell."""
    varying = law_members.list_varying(cells) or ['gamma']
    records = list_records(cells)
    rows = [_describe_cell(row, varying) for row in records]
    shared = [name for name in NAMES if name not in varying]
    setting = law_members.describe_setting(records[0], shared)
    return f'{_ABOUT}\n\nAll cells: {setting}.\n\n{format_records(rows)}\n'


def _describe_cell(row: dict, varying: list[str]) -> dict[str, str]:
    """The texts of a row by the titles of the columns."""
    texts = {}
    for name in varying:
        texts[FACTORS[name].title] = law_members.format_level(row[name])
    if 'gamma' in varying:
        texts['γ'] = law_members.name_gamma(row['gamma'], [row['width']])
    texts['converged'] = f'{row["converged"]} of {row["trained"]}'
    texts['solutions'] = row['solutions']
    texts['composed'] = _format_agreement(row, 'composed')
    texts['within 1, 2'] = format_list([row['within_1_mean'], row['within_2_mean']])
    texts['symmetric'] = _format_agreement(row, 'symmetric')
    texts['held-out'] = _format_agreement(row, 'heldout')
    of_table = [row['symmetric_of_table'], row['heldout_of_table']]
    texts['a table: symmetric, held-out'] = format_list(of_table)
    return texts


def _format_agreement(row: dict, name: str) -> str:
    """Mean (lowest to highest) over the converged members of a cell."""
    mean, low, high = (row[f'{name}_{end}'] for end in ('mean', 'low', 'high'))
    return format_range(mean, low, high, row['converged'])
