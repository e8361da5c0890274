"""What one factor changes: cells that differ in nothing else, averaged over settings.

A setting counts once, however many cells and networks it has: the difference of a
setting is the mean over its matched cells, and the interval is Student's over settings.
Two cells match if they are equal in the number of training steps, too.
"""

from typing import Any, NamedTuple

import pandas as pd

from analysis import stats
from analysis.law import members as law_members
from analysis.law.members import BOTH_UNSEEN, FACTORS, NAMES, SETTING, TRAINED
from analysis.tables.text import format_table

# Columns of a cell, by what they are called. The symmetric answer exists only where the
# exception is trained: elsewhere the reversed pair is composed, or unseen as well.
OUTCOMES = {
    'inferential answers': 'unseen_inferential',
    'symmetric answers': 'unseen_symmetric',
    'held-out answers': 'seen_heldout_assigned',
    'memorizing networks': 'is_memorizing',
    'converged networks': 'converged',
}
ALL = 'all'  # the block of the contrast between kinds of exception
LOWEST, HIGHEST = 'lowest', 'highest'  # where the matched cells have different levels


class Border(NamedTuple):
    """Two γ on the two sides of one border between P1's regimes."""

    name: str
    lower: float
    upper: float


# The range of γ holds two borders, so that its ends are not compared.
BORDERS = {
    TRAINED: (
        Border('from a table to symmetric', 0.2, 0.6),
        Border('from symmetric to inferential', 0.6, 1.4),
    ),
    BOTH_UNSEEN: (Border('from a table to inferential', 1.0, 1.4),),
}
_INTRODUCTION = (
    'Exploratory: numbers with intervals and no verdicts. What was predicted before '
    'its networks were trained, and has six fresh seeds, is in verdicts.md.',
    'Every number compares cells that differ in one factor alone, the number of '
    'training steps included: the share at the higher level less that at the lower. '
    'Answers are shares of the answers to the unseen pair (inferential, symmetric) or '
    'to held-out questions about seen pairs; networks are shares of networks. A '
    'setting is all cells that differ in γ or in the number of steps alone; settings '
    "count equally, and intervals are Student's over settings (95 %, none with fewer "
    f'than {stats.MIN_SEEDS}). "Up in" counts the settings in which the share rises.',
    'All networks count, as in every claim. The numbers of converged networks alone '
    'are beside them: small initializations converge later, so that leaving networks '
    'out changes what is measured.',
    f'Where matched cells have several levels, `{LOWEST}` and `{HIGHEST}` compare the '
    'ends of each, the other rows two neighbours. Contrasts of fewer settings are in '
    'effects.csv.',
)
_ABOUT_GAMMA = (
    'In brackets: the γ that starts with the same standard deviation at width 400, '
    "P1's. Its pair is 0.5 and 0.8."
)


def measure_cells(members: pd.DataFrame) -> pd.DataFrame:
    """A row per cell: its factors, its `number` of members, the means of OUTCOMES."""
    members = members.assign(is_memorizing=members.solution == 'memorizing')
    cells = members.groupby(NAMES)
    means = cells[list(OUTCOMES.values())].mean()
    return means.assign(number=cells.size()).reset_index()


def pair_levels(cells: pd.DataFrame, name: str, lower: Any, upper: Any) -> pd.DataFrame:
    """The matched cells at two levels of a factor; columns of the upper end in _up."""
    return _merge(cells[cells[name] == lower], cells[cells[name] == upper], name)


def pair_neighbours(cells: pd.DataFrame, name: str) -> pd.DataFrame:
    """Matched cells with no third one between them."""
    cells = _number_matched(cells, name)
    following = cells.assign(place=cells.place - 1)
    return _merge(cells, following, name, 'place')


def pair_ends(cells: pd.DataFrame, name: str) -> pd.DataFrame:
    """The matched cells at the lowest and at the highest level that they have."""
    cells = _number_matched(cells, name)
    is_last = cells.place == cells.matched - 1
    is_paired = cells.matched > 1
    return _merge(cells[cells.place == 0], cells[is_last & is_paired], name)


def average_settings(pairs: pd.DataFrame, name: str, column: str) -> pd.Series:
    """The mean difference of a column in every setting, the upper less the lower."""
    setting = [pairs[factor] for factor in SETTING if factor != name]
    return (pairs[f'{column}_up'] - pairs[column]).groupby(setting).mean()


def tabulate(members: pd.DataFrame) -> pd.DataFrame:
    """A row per factor, pair of levels and outcome, of all and of converged networks.

    `border` is of γ alone. The intervals are NaN with fewer than three settings.
    """
    tables = []
    for block in law_members.list_blocks(members):
        of_block = members[members.exception == block]
        for name in NAMES:
            if name not in ('exception', 'gamma'):
                tables += _contrast(of_block, block, name)
        for border in BORDERS.get(block, ()):
            tables.append(_cross(of_block, block, border))
    tables += _contrast(members, ALL, 'exception')
    return pd.concat(tables, ignore_index=True)


def _cross(members: pd.DataFrame, block: str, border: Border) -> pd.DataFrame:
    """The outcomes on the two sides of a border of γ."""
    sides = []
    for part in (members, members[members.converged]):
        pairs = pair_levels(measure_cells(part), 'gamma', border.lower, border.upper)
        sides.append(pairs)
    texts = []
    for gamma in (border.lower, border.upper):
        widths = sides[0].width if len(sides[0]) else members.width
        texts.append(law_members.name_gamma(gamma, widths))
    rows = _compare('gamma', block, *sides)
    return rows.assign(
        block=block, factor='gamma', border=border.name, lower=texts[0], upper=texts[1]
    )


def _contrast(members: pd.DataFrame, block: str, name: str) -> list[pd.DataFrame]:
    """The outcomes at every two neighbouring levels, the ends first."""
    cells = [measure_cells(members), measure_cells(members[members.converged])]
    neighbours = [pair_neighbours(part, name) for part in cells]
    levels = neighbours[0][[name, f'{name}_up']].drop_duplicates()
    found = []
    if len(levels) > 1:
        ends = [pair_ends(part, name) for part in cells]
        rows = _compare(name, block, *ends)
        found.append(rows.assign(lower=LOWEST, upper=HIGHEST))
    in_order = levels.sort_values([name, f'{name}_up'], key=lambda x: _rank(name, x))
    for lower, upper in in_order.itertuples(index=False):
        sides = []
        for pairs in neighbours:
            is_here = (pairs[name] == lower) & (pairs[f'{name}_up'] == upper)
            sides.append(pairs[is_here])
        texts = [law_members.format_level(name, level) for level in (lower, upper)]
        rows = _compare(name, block, *sides)
        found.append(rows.assign(lower=texts[0], upper=texts[1]))
    return [rows.assign(block=block, factor=name, border='') for rows in found]


def _compare(
    name: str, block: str, pairs: pd.DataFrame, converged: pd.DataFrame
) -> pd.DataFrame:
    """A row per outcome: the differences of all pairs and of the converged ones."""
    rows = []
    for outcome, column in OUTCOMES.items():
        if column == 'unseen_symmetric' and block != TRAINED:
            continue
        differences = average_settings(pairs, name, column)
        of_converged = average_settings(converged, name, column)
        if column == 'converged':
            of_converged = of_converged[:0]
        found = stats.mean_interval(differences)
        alone = stats.mean_interval(of_converged)
        row = {
            'outcome': outcome,
            **found._asdict(),
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
        rows.append(row)
    return pd.DataFrame(rows)


def format_effects(effects: pd.DataFrame) -> str:
    """The contrasts that have an interval, γ first, then by the kind of exception."""
    effects = effects[effects.settings >= stats.MIN_SEEDS]
    lines = ['# The law: what one factor changes']
    for paragraph in _INTRODUCTION:
        lines += ['', paragraph]
    is_gamma = effects.factor == 'gamma'
    lines += ['', '## γ, one border at a time', '', _ABOUT_GAMMA, '']
    lines.append(_format_rows(effects[is_gamma], 'border'))
    for block, rows in effects[~is_gamma].groupby('block', sort=False):
        title = 'Kinds of exception' if block == ALL else law_members.name_block(block)
        lines += ['', f'## {title[0].upper()}{title[1:]}', '']
        lines.append(_format_rows(rows, 'factor'))
    return '\n'.join(lines) + '\n'


def _format_rows(effects: pd.DataFrame, key: str) -> str:
    header = [key, 'from', 'to', 'outcome', 'all networks', 'up in', 'networks']
    header += ['converged alone', 'settings']
    table = []
    for row in effects.to_dict('records'):
        title = row['border'] if key == 'border' else FACTORS[row['factor']].title
        alone = '–'
        if row['converged_settings']:
            ends = [row[f'converged_{end}'] for end in stats.Mean._fields]
            alone = stats.format_mean(stats.Mean(*ends))
        found = stats.Mean(row['mean'], row['low'], row['high'])
        texts = [
            title,
            row['lower'],
            row['upper'],
            row['outcome'],
            stats.format_mean(found),
            f'{row["up"]} of {row["settings"]}',
            f'{row["networks_lower"]} and {row["networks_upper"]}',
            alone,
            str(row['converged_settings']),
        ]
        table.append(texts)
    return format_table(header, table)


def _number_matched(cells: pd.DataFrame, name: str) -> pd.DataFrame:
    """Adds the `place` of a cell among the `matched` ones, by the level of a factor."""
    others = [factor for factor in NAMES if factor != name]
    ordered = cells.sort_values(name, key=lambda levels: _rank(name, levels))
    groups = ordered.groupby(others)
    return ordered.assign(
        place=groups.cumcount(), matched=groups[name].transform('size')
    )


def _merge(
    lower: pd.DataFrame, upper: pd.DataFrame, name: str, *more: str
) -> pd.DataFrame:
    others = [factor for factor in NAMES if factor != name]
    return lower.merge(upper, on=[*others, *more], suffixes=('', '_up'))


def _rank(name: str, levels: pd.Series) -> pd.Series:
    """What the levels of a factor are ordered by."""
    names = FACTORS[name].levels
    return levels.map(names.index) if names else levels
