"""A claim: a sentence, the networks it is about, one number per seed, and a rule.

One rule for every paper:

- The number of a claim is a mean over all networks of its runs that did not diverge, at
  the step at which their training was set to end. Two groups are compared by networks
  with the same seed and the same value of every other axis; what has no partner is left
  out and counted. P1's statistic of Fig 2 alone is the largest over a seed's rates.
- It has a verdict if its prediction and its rule were committed before its numbers, and
  it has at least as many seeds as the rule of its day asked: EARLIER, for what was
  predicted before 2026-11-27, or TODAY. The test is Student's t, two-sided, against the
  border of the rule, with Holm's correction over the family that the day's rule names.
  Whoever changes the rule changes it for later predictions: no verdict moves.
- The border is 0, or a size that the paper prints, or, where it says "much", "as much
  as" or "no worse", one of ours that was fixed before the runs (p4/claims.py). That the
  seeds were not used to choose the settings is seen to by hand: a claim names runs with
  fresh ones (gallery/log).
- Its power stands beside it (`measure_power`): where that is low, "undecided" is what
  so few seeds say whatever is true.
- Every other row is exploratory: a number with an interval and no verdict. If its paper
  says on which side of a border the number lies (`Rule` without a day) and the interval
  is wholly on the other, the row is marked as AGAINST it. A sweep of which networks are
  missing has no verdict either: "partly trained".

  holds          the number is on the side of the border that the claim says
  does not hold  it is on the other side
  opposite       it is on the other side of 0, too: the reverse of a direction (by a
                 test of its own, which Holm does not correct)
  undecided      the test decides neither

The number of converged networks alone stands beside it and decides nothing: small
initializations converge later, so leaving them out changes what is measured.
"""

import pathlib
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from analysis import frame, spectra, stats
from analysis.changes.crossings import (
    AT_LEAST,
    AT_MOST,
    NO_BOUND,
    Lag,
    divide_lags,
    share_seeds,
)
from analysis.members.columns import list_varying_axes, name_gamma
from analysis.tables.text import list_records
from anchorjax.storage.reader import Run

P_VALUE = 0.05  # after Holm's correction

HOLDS = 'holds'
FAILS = 'does not hold'
OPPOSITE = 'opposite'
UNDECIDED = 'undecided'
EXPLORATORY = ''
NOT_TRAINED = 'not trained'
PARTLY_TRAINED = 'partly trained'  # no verdict from whatever is there
NOTHING = '–'  # in a cell
NOT_STORED = 'not stored'  # the networks are in the table, the number of them is not
AGAINST = 'against'  # an exploratory number on the other side than its paper says
VERDICTS = (HOLDS, FAILS, OPPOSITE, UNDECIDED, PARTLY_TRAINED, NOT_TRAINED)

# What the number of a row is.
LEVEL, DIFFERENCE, RATIO = 'level', 'difference', 'ratio'
CORRELATION = 'rank correlation'

# What `measure_power` asks for: 0.4 of the answers, as at P1's own size; a factor of 2.
SHARE_EFFECT, RATIO_EFFECT = 0.4, float(np.log(2))

SUFFIXES = {'mean': '', 'low': '_low', 'high': '_high'}
NUMBERS = (  # of all networks; with 'converged_' before, of those that converged
    'kind',
    *('first_name', 'first_bound', 'first', 'first_low', 'first_high'),
    *('second_name', 'second_bound', 'second', 'second_low', 'second_high'),
    *('bound', 'value', 'low', 'high', 'n'),
)
COLUMNS = (  # of a table of claims
    *('address', 'source', 'family', 'claim', 'run'),
    *NUMBERS,
    *('rule', 'p', 'p_corrected', 'power', 'verdict', 'against'),
    *('null', 'left_out', 'untrained', 'note'),
    *(f'converged_{name}' for name in NUMBERS),
)
# Ends of the names of columns that are no numbers.
TEXTS = (
    *('address', 'source', 'family', 'claim', 'run', 'kind', 'name', 'bound'),
    *('rule', 'verdict', 'against', 'note'),
)
WORDS = (  # what `write_words` gives of them
    *('address', 'source', 'claim', 'run', 'number', 'n', 'null', 'converged'),
    *('p', 'power', 'verdict', 'note'),
)

# Which members: {column: value}, beside a name that the tables print.
Levels = Mapping[str, object]


class Group(NamedTuple):
    """Members with these values of their columns; a tuple allows several."""

    name: str
    levels: Levels


def at_gamma(gamma: float, width: float, **levels: object) -> Group:
    """Members with this γ, and other columns, by the name of γ at this width."""
    return Group(name_gamma(gamma, width), {'gamma': gamma, **levels})


class Day(NamedTuple):
    """What a verdict takes, by the rule of the day of its prediction."""

    seeds: int  # at least
    is_by_figure: bool  # Holm over one figure at one width and depth, or a whole table

    @property
    def words(self) -> str:
        """'6 seeds, Holm over the paper'."""
        family = 'figure' if self.is_by_figure else 'paper'
        return f'{self.seeds} seeds, Holm over the {family}'


EARLIER = Day(seeds=6, is_by_figure=False)  # of predictions before 2026-11-27
TODAY = Day(seeds=12, is_by_figure=True)


class Rule(NamedTuple):
    """Where the claim says that the mean lies: strictly between the borders."""

    low: float = -np.inf
    high: float = np.inf
    day: Day | None = TODAY  # None: it came after the numbers, and judges nothing


def above(border: float, day: Day | None = TODAY) -> Rule:
    return Rule(low=border, day=day)


def below(border: float, day: Day | None = TODAY) -> Rule:
    return Rule(high=border, day=day)


def within(border: float, day: Day | None = TODAY) -> Rule:
    return Rule(-border, border, day)


# Of exploratory rows: the side on which their paper says that the number lies.
MORE, LESS = above(0, None), below(0, None)


class Side(NamedTuple):
    """One of the two groups, or columns, that an estimate compares."""

    name: str
    mean: stats.Mean  # over the seeds of the estimate
    bound: str = ''  # 'at least': what the mean is if not exact


class Estimate(NamedTuple):
    """One number per seed, and what it is made of: numbers, which `describe` words."""

    values: pd.Series  # [seed]; of a RATIO its logarithms, so that 0 is equality
    kind: str
    sides: tuple[Side, ...] = ()
    bound: str = ''  # of the mean, as of a Side
    null: float = np.nan  # what a network scores that does not compose
    note: str = ''
    left_out: int = 0  # networks without a partner to be compared with
    possible: stats.Possible = stats.ANY  # what the mean of the values may be

    @property
    def mean(self) -> stats.Mean:
        """The number of the row, and its interval."""
        found = stats.mean_interval(self.values, self.possible)
        return stats.Mean(*np.exp(found)) if self.kind == RATIO else found


Estimator = Callable[[pd.DataFrame], Estimate]


class Claim(NamedTuple):
    """A row of a table of claims.

    Its address, 'p1.fig02.w400_d2.composed', is what pages know it by: the paper, the
    figure, the networks, and the number. All but the last part is its `family`.
    """

    address: str
    source: str  # paper and figure
    sentence: str
    runs: tuple[str, ...]  # names of the runs it is about; their seeds are pooled
    estimate: Estimator
    rule: Rule | None = None  # None: exploratory, of no direction
    where: Levels = MappingProxyType({})  # the part of these runs that it is about
    note: str = ''  # beside its number: what the paper prints
    withdrawn: str = ''  # why it has no verdict, though Holm counts it

    @property
    def day(self) -> Day | None:
        """By whose rule it is tested; None: it is exploratory."""
        return self.rule.day if self.rule is not None else None

    @property
    def family(self) -> str:
        """What shares Holm's correction: a figure at one width and depth, or a paper.

        A figure of what is exploratory.
        """
        paper, figure = self.address.partition('.')[0], self.address.rpartition('.')[0]
        return paper if self.day == EARLIER else figure


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


def average_null(members: pd.DataFrame, column: str) -> float:
    """`null_COLUMN`: what a network scores that does not compose; NaN: not known."""
    name = f'null_{column}'
    return members[name].mean() if name in members else np.nan


def average(members: pd.DataFrame, column: str, statistic: str = 'mean') -> pd.Series:
    """A column by seed: the mean, or another statistic, over the networks of a seed.

    Seeds whose value is not known are left out.
    """
    return members.groupby('seed')[column].agg(statistic).dropna()


def level(
    column: str,
    group: Group,
    possible: stats.Possible = stats.SHARE,
    statistic: str = 'mean',
) -> Estimator:
    """The mean of a column.

    Args:
      possible: the values that the column may have, here and below: a share's.
      statistic: over the networks of a seed; 'max' over its rates in P1 Sec 4.
    """

    def estimate(members: pd.DataFrame) -> Estimate:
        chosen = select(members, group.levels)
        null = average_null(chosen, column)
        values = average(chosen, column, statistic)
        return measure(group.name, values, possible, null)

    return estimate


def fraction_above(column: str, border: float, group: Group) -> Estimator:
    """The share of networks whose column is above the border."""

    def estimate(members: pd.DataFrame) -> Estimate:
        chosen = select(members, group.levels).dropna(subset=column)
        is_above = chosen[column] > border
        found = measure(
            f'{group.name} above {border:g}', average_flags(is_above, chosen)
        )
        note = f'{is_above.sum()} of {len(is_above)} networks'
        return found._replace(note=note if len(is_above) else '')

    return estimate


def average_flags(is_true: pd.Series, members: pd.DataFrame) -> pd.Series:
    """By seed, the share of its networks of which this is true."""
    return is_true.groupby(members.seed).mean()


def measure(
    name: str,
    values: pd.Series,
    possible: stats.Possible = stats.SHARE,
    null: float = np.nan,
) -> Estimate:
    """The mean of one group's numbers, by seed."""
    side = Side(name, stats.mean_interval(values, possible))
    return Estimate(values, LEVEL, (side,), null=null, possible=possible)


def select_pairs(
    members: pd.DataFrame, first: Levels, second: Levels
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The members of two groups that have a partner in the other one.

    Partners have the same seed, and the same value of every other axis that varies here
    and that neither group names: a rate that diverged at one γ alone says nothing of γ.
    The axes are the columns up to `seed`.
    """
    axes = list_varying_axes(members.drop(columns='run', errors='ignore'))
    keys = ['seed', *(axis for axis in axes if axis not in {*first, *second})]
    ones, others = select(members, first), select(members, second)
    of_ones = pd.MultiIndex.from_frame(ones[keys].astype(str))
    of_others = pd.MultiIndex.from_frame(others[keys].astype(str))
    return ones[of_ones.isin(of_others)], others[of_others.isin(of_ones)]


class Pairs(NamedTuple):
    """Means by seed of two groups, or columns, of the networks that have partners."""

    first: pd.Series
    second: pd.Series
    left_out: int  # networks without a partner
    null: float  # what a network scores in the first column that does not compose


def pair(
    members: pd.DataFrame,
    first: tuple[str, Levels],
    second: tuple[str, Levels],
    statistic: str = 'mean',
) -> Pairs:
    """A column of some members beside a column of others, or of the same.

    Args:
      first, second: the column, and which members. Those whose number is not known are
        left out without being counted.
      statistic: over the networks of a seed.
    """
    (first_column, first_levels), (second_column, second_levels) = first, second
    known = members.dropna(subset=[first_column, second_column])
    everyone = len(select(known, first_levels)) + len(select(known, second_levels))
    ones, others = select_pairs(known, first_levels, second_levels)
    return Pairs(
        average(ones, first_column, statistic),
        average(others, second_column, statistic),
        left_out=everyone - len(ones) - len(others),
        null=average_null(pd.concat([ones, others]), first_column),
    )


def difference(
    column: str,
    first: Group,
    second: Group,
    possible: stats.Possible = stats.SHARE,
    statistic: str = 'mean',
) -> Estimator:
    """The first group less the second, of networks that are partners.

    Args:
      statistic: as of `level`.
    """

    def estimate(members: pd.DataFrame) -> Estimate:
        groups = (column, first.levels), (column, second.levels)
        pairs = pair(members, *groups, statistic)
        return subtract(pairs, (first.name, second.name), possible)

    return estimate


def ratio(column: str, first: Group, second: Group) -> Estimator:
    """The first group by the second, of networks that are partners.

    The ratio is a geometric mean; the numbers of both groups beside it are plain means.
    """

    def estimate(members: pd.DataFrame) -> Estimate:
        pairs = pair(members, (column, first.levels), (column, second.levels))
        values = (pairs.first / pairs.second).transform(np.log)
        sides = name_sides(pairs, (first.name, second.name), stats.POSITIVE)
        return Estimate(values, RATIO, sides, left_out=pairs.left_out)

    return estimate


def paired_difference(
    first: str,
    second: str,
    names: tuple[str, str],
    levels: Levels,
    possible: stats.Possible = stats.SHARE,
) -> Estimator:
    """One column less another, of the same networks.

    Args:
      names: of both columns in the table.
    """

    def estimate(members: pd.DataFrame) -> Estimate:
        pairs = pair(members, (first, levels), (second, levels))
        return subtract(pairs, names, possible)._replace(null=np.nan)

    return estimate


def rank_correlation(first: str, second: str, levels: Levels) -> Estimator:
    """Spearman's correlation of two columns over the networks of a seed."""

    def estimate(members: pd.DataFrame) -> Estimate:
        found = {}
        for seed, of_seed in select(members, levels).groupby('seed'):
            found[seed] = spectra.rank_correlation(of_seed[first], of_seed[second])
        values = pd.Series(found, dtype=float).dropna()
        return Estimate(values, CORRELATION, possible=stats.COSINE)

    return estimate


def subtract(
    pairs: Pairs, names: tuple[str, str], possible: stats.Possible = stats.SHARE
) -> Estimate:
    """The first less the second, by seed."""
    low, high, is_share = possible
    return Estimate(
        pairs.first - pairs.second,
        DIFFERENCE,
        name_sides(pairs, names, possible),
        null=pairs.null,
        left_out=pairs.left_out,
        possible=stats.Possible(low - high, high - low, is_share),
    )


def name_sides(
    pairs: Pairs, names: tuple[str, str], possible: stats.Possible
) -> tuple[Side, Side]:
    """Both means with their intervals."""
    first, second = names
    return (
        Side(first, stats.mean_interval(pairs.first, possible)),
        Side(second, stats.mean_interval(pairs.second, possible)),
    )


def compare_moments(found: Lag, slow: str, fast: str) -> Estimate:
    """How many times later one crossing comes than another: log ratio by seed.

    Args:
      slow, fast: their names in the table.
    """
    sides = []
    for name, steps in ((slow, found.slow), (fast, found.fast)):
        sides.append(Side(name, stats.mean_interval(steps, stats.POSITIVE)))
    note = f'never: {found.never}' if len(found.ratios) else ''
    log_ratios = found.ratios.transform(np.log)
    return Estimate(log_ratios, RATIO, tuple(sides), found.bound, note=note)


def compare_lags(lags: Sequence[Lag], names: tuple[str, str]) -> Estimate:
    """The first lag by the second, of the seeds that have both: log ratio by seed."""
    first, second = lags
    shared = share_seeds(first, second)
    quotients, bound = divide_lags(*shared)
    sides = []
    for name, found in zip(names, shared, strict=True):
        mean = stats.ratio_interval(found.ratios)
        sides.append(Side(name, mean, found.bound))
    log_ratios = quotients.transform(np.log)
    return Estimate(log_ratios, RATIO, tuple(sides), bound)


def find_named(package: ModuleType, run: Run) -> list[Claim]:
    """The claims of a package that are about runs of this name."""
    name = name_run(run)
    return [claim for claim in package.CLAIMS if name in claim.runs]


def tabulate_run(package: ModuleType, run: Run) -> pd.DataFrame:
    """What the networks of one run alone say to the claims that are about it.

    Raises:
      UserError: it has none that a claim can count.
    """
    members = frame.collect({name_run(run): run}, package.tabulate)
    # The others count in Holm's correction.
    table = tabulate(package.CLAIMS, members)
    addresses = [claim.address for claim in find_named(package, run)]
    return table[table.address.isin(addresses)].reset_index(drop=True)


def name_run(run: Run) -> str:
    """The name by which claims refer to a run: of its folder, or of a link to it."""
    return run.folder.workdir.name


def tabulate(claims: Sequence[Claim], members: pd.DataFrame) -> pd.DataFrame:
    """A row for every claim of one paper, with COLUMNS: numbers, not words.

    Args:
      members: a row per network that did not diverge: `run`, `seed`, `converged`, the
        columns that the claims read, and of the grid of its run `untrained`.
    """
    rows = []
    estimates = []
    for claim in claims:
        of_claim = select(members[members.run.isin(claim.runs)], claim.where)
        found = claim.estimate(of_claim)
        converged = claim.estimate(of_claim[of_claim.converged])
        estimates.append(found)
        row = {
            'address': claim.address,
            'source': claim.source,
            'family': claim.family,
            'claim': claim.sentence,
            'run': ', '.join(dict.fromkeys(of_claim.run)),
            'rule': claim.day.words if claim.day else '',
            'against': AGAINST if _is_against(claim.rule, found) else '',
            'null': found.null,
            'left_out': found.left_out,
            'untrained': count_untrained(of_claim),
            'note': '; '.join(filter(None, (claim.withdrawn, claim.note, found.note))),
        }
        row |= list_numbers(found)
        for name, number in list_numbers(converged).items():
            row[f'converged_{name}'] = number
        rows.append(row)
    table = pd.DataFrame(rows)
    is_partial = table.untrained > 0
    judged = []
    for claim, is_left in zip(claims, is_partial, strict=True):
        judged.append(claim._replace(rule=None) if is_left else claim)
    table['p'], table['p_corrected'], table['verdict'] = judge(judged, estimates)
    table['power'] = measure_power(judged, estimates, table.p.to_numpy())
    table.loc[table.verdict != EXPLORATORY, 'against'] = ''
    is_unknown = (table.n == 0) & (table.run != '')
    lacks_run = np.array([not set(claim.runs) <= set(members.run) for claim in claims])
    table.loc[is_unknown, 'verdict'] = EXPLORATORY
    table.loc[is_partial | (is_unknown & lacks_run), 'verdict'] = PARTLY_TRAINED
    return table[list(COLUMNS)]


def list_untrained(claims: Sequence[Claim]) -> pd.DataFrame:
    """A table of claims about which no network was trained, with COLUMNS."""
    rows = []
    for claim in claims:
        row: dict[str, object] = {'address': claim.address, 'source': claim.source}
        row |= {'family': claim.family, 'claim': claim.sentence, 'n': 0}
        row['verdict'] = NOT_TRAINED if claim.day else EXPLORATORY
        rows.append(row)
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    texts = [name for name in COLUMNS if name.rpartition('_')[2] in TEXTS]
    return table.fillna(dict.fromkeys(texts, ''))


def count_untrained(members: pd.DataFrame) -> int:
    """How many networks are missing from the grids of these runs.

    0 of a table without that column, whose sweeps had all ended.
    """
    if 'untrained' not in members:
        return 0
    return int(members.groupby('run').untrained.first().sum())


def list_numbers(found: Estimate) -> dict[str, object]:
    """The columns of a table that an estimate alone decides."""
    numbers = {'kind': found.kind, 'n': len(found.values), 'bound': found.bound}
    numbers |= found.mean._asdict()
    nothing = Side('', stats.Mean(np.nan, np.nan, np.nan))
    first, second = (*found.sides, nothing, nothing)[:2]
    for place, side in (('first', first), ('second', second)):
        numbers[f'{place}_name'] = side.name
        numbers[f'{place}_bound'] = side.bound
        for name, number in side.mean._asdict().items():
            numbers[place + SUFFIXES[name]] = number
    numbers['value'] = numbers.pop('mean')
    return numbers


def read_table(path: pathlib.Path) -> pd.DataFrame:
    """A committed verdicts.csv: numbers, and texts that may be empty."""
    table = pd.read_csv(path)
    for name in map(str, table):
        if name.rpartition('_')[2] in TEXTS:
            table[name] = table[name].astype(object).fillna('')
    return table


def judge(
    claims: Sequence[Claim], estimates: Sequence[Estimate]
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """(p-value, NaN: not tested; after Holm's correction; verdict) of every claim."""
    p_values = np.full(len(claims), np.nan)
    for i, (claim, found) in enumerate(zip(claims, estimates, strict=True)):
        rule, day = claim.rule, claim.day
        if rule is not None and day is not None and len(found.values) >= day.seeds:
            p_values[i] = _test(rule, found)
    counted = p_values.copy()
    for i, (claim, found) in enumerate(zip(claims, estimates, strict=True)):
        if claim.day is not None and not len(found.values):
            counted[i] = 1  # so that part of a table says no more than the whole
    families = pd.Series([claim.family for claim in claims], dtype=str)
    corrected = pd.Series(counted).groupby(families).transform(stats.holm)
    corrected = corrected.where(np.isfinite(p_values)).to_numpy(float)
    verdicts = []
    for claim, found, p in zip(claims, estimates, corrected, strict=True):
        verdicts.append(_conclude(claim, found, p))
    return p_values, corrected, verdicts


def _test(rule: Rule, found: Estimate) -> float:
    """The p-value against the border that the mean is nearest to, which decides."""
    borders = np.array([rule.low, rule.high])
    border = borders[np.abs(borders - found.values.mean()).argmin()]
    return stats.p_value(found.values, border)


def _is_against(rule: Rule | None, found: Estimate) -> bool:
    """Whether the interval lies wholly on the side that the claim denies."""
    if rule is None or len(found.values) < stats.MIN_SEEDS:
        return False
    lowest, highest = _list_ends(found)
    is_beyond = highest <= rule.low or rule.high <= lowest
    return is_beyond and _test(rule, found) < P_VALUE


def _list_ends(found: Estimate) -> tuple[float, float]:
    """Where its mean may lie: of a bound only one end is known."""
    mean = found.values.mean()
    lowest = -np.inf if found.bound in (AT_MOST, NO_BOUND) else mean
    highest = np.inf if found.bound in (AT_LEAST, NO_BOUND) else mean
    return lowest, highest


def measure_power(
    claims: Sequence[Claim], estimates: Sequence[Estimate], p_values: np.ndarray
) -> list[float]:
    """How often a judged design finds 0.4 of the answers, or a factor of 2.

    That far beyond its border, with its seeds and the spread that they have, at the
    first step of Holm's correction; NaN: it is not judged, or its number is neither.
    """
    is_judged = np.isfinite(p_values)
    families = [claim.family for claim in claims]
    sizes = pd.Series(is_judged).groupby(families).transform('sum')
    powers = []
    for found, size, is_here in zip(estimates, sizes, is_judged, strict=True):
        effect = SHARE_EFFECT if found.possible.is_share else np.nan
        if found.kind == RATIO:
            effect = RATIO_EFFECT
        is_known = is_here and np.isfinite(effect)
        level = P_VALUE / max(size, 1)
        powers.append(stats.power(found.values, effect, level) if is_known else np.nan)
    return powers


def _conclude(claim: Claim, found: Estimate, p: float) -> str:
    rule = claim.rule
    if rule is None or claim.day is None or claim.withdrawn:
        return EXPLORATORY
    if not len(found.values):
        return NOT_TRAINED
    if np.isnan(p):
        return EXPLORATORY
    if p >= P_VALUE:
        return UNDECIDED
    mean = found.values.mean()
    lowest, highest = _list_ends(found)
    if rule.low <= lowest and highest <= rule.high:
        return HOLDS
    if rule.low < highest and lowest < rule.high:
        return UNDECIDED
    is_direction = np.isinf(rule.low) or np.isinf(rule.high)
    is_reverse = mean < 0 <= rule.low or rule.high <= 0 < mean
    # The border may be a size: the reverse of the direction must be certain by itself.
    if is_direction and is_reverse and stats.p_value(found.values, 0) < P_VALUE:
        return OPPOSITE
    return FAILS


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
