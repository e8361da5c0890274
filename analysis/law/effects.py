"""What one factor changes: cells that differ in nothing else, averaged over settings.

A setting counts once, however many cells and networks it has: the difference of a
setting is the mean over its matched cells, and the interval is Student's over settings.
Two cells match if they are equal in the number of training steps, too. Exploratory:
numbers without verdicts.
"""

from typing import Any

import pandas as pd

from analysis import stats
from analysis.law import members as law_members
from analysis.law.members import BOTH_UNSEEN, FACTORS, NAMES, SETTING, TRAINED
from analysis.tables.text import format_level

# Columns of a cell, by what they are called. The symmetric answer exists only where the
# exception is trained: elsewhere the reversed pair is composed, or unseen as well.
OUTCOMES = {
    'composed answers': 'unseen_composed',
    'symmetric answers': 'unseen_symmetric',
    'held-out answers': 'seen_heldout_assigned',
    'memorizing networks': 'is_memorizing',
    'converged networks': 'converged',
}
ALL = 'all'  # the block of the contrast between kinds of exception
LOWEST, HIGHEST = 'lowest', 'highest'  # where the matched cells have different levels
# Two γ on the two sides of every border between P1's regimes. The range of γ holds two
# borders, so that its ends are not compared.
BORDERS = {
    TRAINED: {
        'from a table to symmetric': (0.2, 0.6),
        'from symmetric to composed': (0.6, 1.4),
    },
    BOTH_UNSEEN: {'from a table to composed': (1.0, 1.4)},
}


def measure_cells(members: pd.DataFrame) -> pd.DataFrame:
    """A row per cell: its factors, its `number` of members, the means of OUTCOMES."""
    members = members.assign(is_memorizing=members.solution == 'memorizing')
    cells = members.groupby(NAMES)
    means = cells[list(OUTCOMES.values())].mean()
    return means.assign(number=cells.size()).reset_index()


def pair_cells(members: pd.DataFrame, name: str) -> pd.DataFrame:
    """Every two cells that differ in one factor alone, sorted by its two levels.

    Columns of the cell at the higher level end in _up. `setting` is a number;
    `are_neighbours`: no third cell lies between the two, `are_ends`: all others do.
    """
    cells = measure_cells(members)
    others = [factor for factor in NAMES if factor != name]
    cells['level'] = _rank(name, cells[name])
    cells = cells.sort_values('level')
    cells['place'] = cells.groupby(others).cumcount()
    cells['last'] = cells.groupby(others).place.transform('max')
    pairs = cells.merge(cells, on=others, suffixes=('', '_up'))
    pairs = pairs[pairs.place < pairs.place_up]
    pairs = pairs.sort_values(['level', 'level_up'], ignore_index=True)
    setting = [factor for factor in SETTING if factor != name]
    return pairs.assign(
        setting=pairs.groupby(setting).ngroup(),
        are_neighbours=pairs.place_up == pairs.place + 1,
        are_ends=(pairs.place == 0) & (pairs.place_up == pairs['last']),
    )


def select_levels(
    pairs: pd.DataFrame, name: str, lower: Any, upper: Any
) -> pd.DataFrame:
    """The pairs at two levels of the factor."""
    return pairs[(pairs[name] == lower) & (pairs[f'{name}_up'] == upper)]


def average_settings(pairs: pd.DataFrame, column: str) -> pd.Series:
    """The mean difference of a column in every setting, the upper less the lower.

    A setting whose networks do not have the column, e.g. no unseen pair, is left out.
    """
    differences = pairs[f'{column}_up'] - pairs[column]
    return differences.groupby(pairs.setting).mean().dropna()


def tabulate(members: pd.DataFrame) -> pd.DataFrame:
    """A row per factor, pair of levels and outcome, of all and of converged networks.

    `border` is of γ alone. The intervals are NaN with fewer than three settings.
    """
    rows = []
    for block in law_members.list_blocks(members):
        of_block = members[members.exception == block]
        for name in NAMES:
            if name not in ('exception', 'gamma'):
                rows += _compare_levels(of_block, block, name)
        for border, gammas in BORDERS.get(block, {}).items():
            where = {'block': block, 'factor': 'gamma', 'border': border}
            rows += _cross(of_block, gammas, where)
    rows += _compare_levels(members, ALL, 'exception')
    return pd.DataFrame(rows)


def _cross(
    members: pd.DataFrame, gammas: tuple[float, float], where: dict[str, str]
) -> list[dict[str, Any]]:
    """The outcomes on the two sides of a border of γ."""
    pairs = select_levels(pair_cells(members, 'gamma'), 'gamma', *gammas)
    of_converged = pair_cells(members[members.converged], 'gamma')
    converged = select_levels(of_converged, 'gamma', *gammas)
    widths = pairs.width if len(pairs) else members.width
    lower, upper = [law_members.name_gamma(gamma, widths) for gamma in gammas]
    return _compare(pairs, converged, {'lower': lower, 'upper': upper} | where)


def _compare_levels(
    members: pd.DataFrame, block: str, name: str
) -> list[dict[str, Any]]:
    """The outcomes at every two neighbouring levels, the ends first."""
    if members[name].nunique() < 2:  # pairing many columns takes long
        return []
    pairs = pair_cells(members, name)
    converged = pair_cells(members[members.converged], name)
    neighbours = pairs[pairs.are_neighbours]
    converged_neighbours = converged[converged.are_neighbours]
    steps = neighbours[[name, f'{name}_up']].drop_duplicates()
    where = {'block': block, 'factor': name, 'border': ''}
    rows = []
    if len(steps) > 1:
        ends = {'lower': LOWEST, 'upper': HIGHEST} | where
        rows += _compare(pairs[pairs.are_ends], converged[converged.are_ends], ends)
    for levels in steps.itertuples(index=False):
        lower, upper = map(format_level, levels)
        step = {'lower': lower, 'upper': upper} | where
        of_step = select_levels(neighbours, name, *levels)
        of_converged = select_levels(converged_neighbours, name, *levels)
        rows += _compare(of_step, of_converged, step)
    return rows


def _compare(
    pairs: pd.DataFrame, converged: pd.DataFrame, where: dict[str, str]
) -> list[dict[str, Any]]:
    """A row per outcome: the differences of all pairs and of the converged ones."""
    rows = []
    for outcome, column in OUTCOMES.items():
        if column == 'unseen_symmetric' and where['block'] != TRAINED:
            continue
        differences = average_settings(pairs, column)
        of_converged = average_settings(converged, column)
        if column == 'converged':
            of_converged = of_converged[:0]
        alone = stats.mean_interval(of_converged, stats.CHANGE)
        row = {
            'outcome': outcome,
            **stats.mean_interval(differences, stats.CHANGE)._asdict(),
            'settings': len(differences),
            'up': int((differences > 0).sum()),
            'cells': len(pairs),
            'networks_lower': int(pairs.number.sum()),
            'networks_upper': int(pairs.number_up.sum()),
            'converged_mean': alone.mean,
            'converged_low': alone.low,
            'converged_high': alone.high,
            'converged_settings': len(of_converged),
        }
        rows.append(row | where)
    return rows


def _rank(name: str, levels: pd.Series) -> pd.Series:
    """What the levels of a factor are ordered by."""
    names = FACTORS[name].levels
    return levels.map(names.index) if names else levels
