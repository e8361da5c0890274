"""A claim: a sentence, the networks it is about, one number per seed, and a rule.

One rule for every paper:

- The number of a claim is a mean over all networks of its runs that did not diverge, at
  the step at which their training was set to end, paired by seed. P1's statistic of Fig
  2 alone is the largest over the rates of a seed.
- It is judged with at least SEEDS seeds, by Student's t test against the border of the
  rule, and Holm's correction over the judged claims of one table. The border is 0, or a
  size that the paper prints, or, where it says "much", "as much as" or "no worse", one
  of ours that was fixed before the runs (p4/claims.py). That the seeds were not used to
  choose the settings is seen to by hand: a claim names runs with fresh ones
  (predictions.md).
- With fewer seeds, or without a rule, the row is exploratory: a number with an interval
  and no verdict.

  holds          the number is on the side of the border that the claim says
  does not hold  it is on the other side
  opposite       it is on the other side of 0, too: the reverse of a direction (by a
                 test of its own, which Holm does not correct)
  undecided      the test decides neither

The number of converged networks alone stands beside it and decides nothing: small
initializations converge later, so leaving them out changes what is measured.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType, ModuleType
from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis import frame, spectra, stats
from analysis.members.columns import name_gamma
from analysis.tables.text import format_table
from anchorjax.storage.reader import Run

SEEDS = 6  # fewer are exploratory
P_VALUE = 0.05  # after Holm's correction

HOLDS = 'holds'
FAILS = 'does not hold'
OPPOSITE = 'opposite'
UNDECIDED = 'undecided'
EXPLORATORY = ''
NOT_TRAINED = 'not trained'
NOTHING = '–'  # in a cell
NOT_STORED = 'not stored'  # the networks are in the table, the number of them is not
VERDICTS = (HOLDS, FAILS, OPPOSITE, UNDECIDED, NOT_TRAINED)

TITLES = {
    'source': 'paper',
    'claim': 'claim',
    'run': 'runs',
    'number': 'all networks',
    'seeds': 'seeds',
    'null': 'null',
    'converged': 'converged networks alone',
    'p': 'p (Holm)',
    'verdict': 'verdict',
    'note': 'note',
}

# Which members: {column: value}, beside a name that the tables print.
Levels = Mapping[str, object]


class Group(NamedTuple):
    """Members with these values of their columns; a tuple allows several."""

    name: str
    levels: Levels


def at_gamma(gamma: float, width: float, **levels: object) -> Group:
    """Members with this γ, and other columns, by the name of γ at this width."""
    return Group(name_gamma(gamma, width), {'gamma': gamma, **levels})


class Rule(NamedTuple):
    """Where the claim says that the mean lies: strictly between the borders."""

    low: float = -np.inf
    high: float = np.inf


def above(border: float) -> Rule:
    return Rule(low=border)


def below(border: float) -> Rule:
    return Rule(high=border)


def within(border: float) -> Rule:
    return Rule(-border, border)


class Estimate(NamedTuple):
    """One number per seed, and the words of the table."""

    values: pd.Series  # [seed]
    text: str
    null: str = ''
    note: str = ''


Estimator = Callable[[pd.DataFrame], Estimate]


class Claim(NamedTuple):
    """A row of a table of claims."""

    source: str  # paper and figure
    sentence: str
    runs: tuple[str, ...]  # names of the runs it is about; their seeds are pooled
    estimate: Estimator
    rule: Rule | None = None  # None: exploratory
    where: Levels = MappingProxyType({})  # the part of these runs that it is about
    note: str = ''  # beside its number: what the paper prints


def select(members: pd.DataFrame, levels: Levels) -> pd.DataFrame:
    """The members with these values; numbers match to three digits."""
    for column, wanted in levels.items():
        allowed = wanted if isinstance(wanted, tuple) else (wanted,)
        is_here = pd.Series(False, members.index)
        for value in allowed:
            if isinstance(value, float):
                is_here |= np.isclose(members[column], value, rtol=1e-3, atol=1e-9)
            else:
                is_here |= members[column] == value
        members = members[is_here]
    return members


def name_null(members: pd.DataFrame, column: str) -> str:
    """What a network scores in a column that does not compose, if the table knows it.

    It is in the column `null_COLUMN`.
    """
    name = f'null_{column}'
    if name not in members or members[name].isna().all():
        return ''
    return f'{members[name].mean():.2f}'


def average(members: pd.DataFrame, column: str) -> pd.Series:
    """The mean of a column by seed; seeds whose value is not known are left out."""
    return members.groupby('seed')[column].mean().dropna()


def level(column: str, group: Group) -> Estimator:
    """The mean of a column."""

    def estimate(members: pd.DataFrame) -> Estimate:
        chosen = select(members, group.levels)
        values = average(chosen, column)
        text = f'{group.name} {stats.describe_mean(values)}'
        return Estimate(values, text.strip(), name_null(chosen, column))

    return estimate


def share(column: str, border: float, group: Group) -> Estimator:
    """The share of networks whose column is above the border.

    Its exact interval takes networks for independent; those of one seed are not quite.
    """

    def estimate(members: pd.DataFrame) -> Estimate:
        chosen = select(members, group.levels).dropna(subset=column)
        is_above = chosen[column] > border
        count = stats.format_share(int(is_above.sum()), len(is_above))
        text = f'{group.name}: above {border:g} in {count}'
        return Estimate(is_above.groupby(chosen.seed).mean(), text)

    return estimate


def difference(column: str, first: Group, second: Group) -> Estimator:
    """The first group less the second, of the seeds that both have."""

    def estimate(members: pd.DataFrame) -> Estimate:
        chosen = [select(members, group.levels) for group in (first, second)]
        sides = []
        for group, of_group in zip((first, second), chosen, strict=True):
            sides.append((group.name, average(of_group, column)))
        return compare(*sides, name_null(pd.concat(chosen), column))

    return estimate


def ratio(column: str, first: Group, second: Group) -> Estimator:
    """The first group by the second, of the seeds that both have.

    The ratio is a geometric mean; the numbers of both groups beside it are plain means.
    The values of the estimate are logarithms, so that 0 stands for equal groups.
    """

    def estimate(members: pd.DataFrame) -> Estimate:
        above = average(select(members, first.levels), column)
        below = average(select(members, second.levels), column)
        values = np.log(above / below).dropna()
        words = []
        for group, side in ((first, above), (second, below)):
            words.append(f'{group.name} {side.loc[values.index].mean():,.0f}')
        found = stats.describe_ratio(np.exp(values))
        return Estimate(values, f'{" against ".join(words)}; ratio {found}', 'ratio 1')

    return estimate


def change(
    first: str, second: str, names: tuple[str, str], levels: Levels
) -> Estimator:
    """One column less another, of the same networks.

    Args:
      names: of both columns in the table.
    """

    def estimate(members: pd.DataFrame) -> Estimate:
        chosen = select(members, levels)
        sides = []
        for name, column in zip(names, (first, second), strict=True):
            sides.append((name, average(chosen, column)))
        return compare(*sides)

    return estimate


def rank_correlation(first: str, second: str, levels: Levels) -> Estimator:
    """Spearman's correlation of two columns over the networks of a seed."""

    def estimate(members: pd.DataFrame) -> Estimate:
        found = {}
        for seed, of_seed in select(members, levels).groupby('seed'):
            found[seed] = spectra.rank_correlation(of_seed[first], of_seed[second])
        values = pd.Series(found, dtype=float).dropna()
        text = stats.describe_mean(values)
        return Estimate(values, f'rank correlation {text}', '0')

    return estimate


def compare(
    first: tuple[str, pd.Series], second: tuple[str, pd.Series], null: str = ''
) -> Estimate:
    """The difference of two named numbers of the seeds that have both."""
    values = (first[1] - second[1]).dropna()
    words = []
    for name, side in (first, second):
        words.append(f'{name} {stats.describe_mean(side.loc[values.index])}')
    gap = stats.describe_mean(values)
    text = f'{" against ".join(words)}; difference {gap}'
    nulls = filter(None, (null, 'difference 0'))
    return Estimate(values, text, '; '.join(nulls))


def find_named(room: ModuleType, run: Run) -> list[Claim]:
    """The claims of a room that are about runs of this name."""
    name = _name_run(run)
    return [claim for claim in room.CLAIMS if name in claim.runs]


def tabulate_run(claims: Sequence[Claim], room: ModuleType, run: Run) -> pd.DataFrame:
    """What the networks of one run alone say to claims of a room.

    Raises:
      UserError: it has none that a claim can count.
    """
    return tabulate(claims, frame.collect({_name_run(run): run}, room.tabulate))


def _name_run(run: Run) -> str:
    """That of its folder, by which claims name it."""
    return run.folder.workdir.resolve().name


def tabulate(claims: Sequence[Claim], members: pd.DataFrame) -> pd.DataFrame:
    """A row for every claim of one paper, with the columns of TITLES.

    Args:
      members: a row per network that did not diverge: `run`, `seed`, `converged`, and
        the columns that the claims read.
    """
    rows = []
    estimates = []
    for claim in claims:
        of_claim = select(members[members.run.isin(claim.runs)], claim.where)
        found = claim.estimate(of_claim)
        converged = claim.estimate(of_claim[of_claim.converged])
        estimates.append(found)
        missing = NOT_STORED if len(of_claim) else NOTHING
        row = {
            'source': claim.source,
            'claim': claim.sentence,
            'run': ', '.join(dict.fromkeys(of_claim.run)) or NOTHING,
            'number': found.text if len(found.values) else missing,
            'seeds': len(found.values),
            'null': found.null,
            'converged': converged.text if len(converged.values) else NOTHING,
            'note': '; '.join(filter(None, (claim.note, found.note))),
        }
        rows.append(row)
    table = pd.DataFrame(rows)
    table['p'], table['verdict'] = judge(claims, estimates)
    table.loc[table.number == NOT_STORED, 'verdict'] = EXPLORATORY
    return table[list(TITLES)]


def judge(
    claims: Sequence[Claim], estimates: Sequence[Estimate]
) -> tuple[np.ndarray, list[str]]:
    """(p-value after Holm's correction, NaN: not judged; verdict) of every claim."""
    p_values = np.full(len(claims), np.nan)
    for i, (claim, found) in enumerate(zip(claims, estimates, strict=True)):
        if claim.rule is not None and len(found.values) >= SEEDS:
            p_values[i] = stats.p_value(found.values, _nearest_border(claim, found))
    p_values = stats.holm(p_values)
    verdicts = []
    for claim, found, p in zip(claims, estimates, p_values, strict=True):
        verdicts.append(_conclude(claim, found, p))
    return p_values, verdicts


def _conclude(claim: Claim, found: Estimate, p: float) -> str:
    if claim.rule is not None and not len(found.values):
        return NOT_TRAINED
    if np.isnan(p):
        return EXPLORATORY
    if p >= P_VALUE:
        return UNDECIDED
    rule = claim.rule
    mean = found.values.mean()
    if rule.low < mean < rule.high:
        return HOLDS
    is_direction = np.isinf(rule.low) or np.isinf(rule.high)
    is_reverse = mean < 0 <= rule.low or rule.high <= 0 < mean
    # The border may be a size: the reverse of the direction must be certain by itself.
    if is_direction and is_reverse and stats.p_value(found.values, 0) < P_VALUE:
        return OPPOSITE
    return FAILS


def _nearest_border(claim: Claim, found: Estimate) -> float:
    """The border that the mean is nearest to: the one whose test decides."""
    distances = np.abs(np.array(claim.rule) - found.values.mean())
    return claim.rule[int(distances.argmin())]


def count_verdicts(table: pd.DataFrame) -> str:
    """'holds: 3 · undecided: 2 · exploratory: 7'."""
    counts = table.verdict.replace(EXPLORATORY, 'exploratory').value_counts()
    names = [name for name in (*VERDICTS, 'exploratory') if name in counts]
    return ' · '.join(f'{name}: {counts[name]}' for name in names)


def format_markdown(table: pd.DataFrame, introduction: str) -> str:
    """The table as Markdown, below the counts of its verdicts and some words."""
    verdicts = table.verdict.map(_format_verdict)
    texts = table.assign(p=format_p_values(table, NOTHING), verdict=verdicts)
    rows = texts[list(TITLES)].astype(str).values.tolist()
    body = format_table(list(TITLES.values()), rows)
    return f'{count_verdicts(table)}\n\n{introduction}\n\n{body}\n'


def _format_verdict(verdict: str) -> str:
    return f'**{verdict}**' if verdict else 'exploratory'


def format_p_values(table: pd.DataFrame, missing: str) -> pd.Series:
    """The p-values of a table as texts."""
    texts = table.p.map('{:.3f}'.format)
    return texts.replace({'nan': missing, '0.000': '<0.001'})
