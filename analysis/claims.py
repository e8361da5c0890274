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
from collections.abc import Sequence
from types import MappingProxyType, ModuleType
from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis import frame, stats
from analysis.changes.crossings import AT_LEAST, AT_MOST, NO_BOUND
from analysis.estimates import RATIO, Estimate, Estimator, Levels, Side, select
from anchorjax.storage.reader import Run

P_VALUE = 0.05  # after Holm's correction

HOLDS = 'holds'
FAILS = 'does not hold'
OPPOSITE = 'opposite'
UNDECIDED = 'undecided'
EXPLORATORY = ''
NOT_TRAINED = 'not trained'
PARTLY_TRAINED = 'partly trained'  # no verdict from whatever is there
AGAINST = 'against'  # an exploratory number on the other side than its paper says
VERDICTS = (HOLDS, FAILS, OPPOSITE, UNDECIDED, PARTLY_TRAINED, NOT_TRAINED)

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
