"""Matched sets: the cells that are equal in every factor but one.

They are equal in the number of steps, too. Where the cells of a set were trained for
several numbers of steps, the number that the most of them share counts, and of equally
common ones the largest: no member counts twice.
"""

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from analysis.designs import factors, outcomes
from analysis.designs.factors import Factor


class Cell(NamedTuple):
    """One cell of a matched set, for one of `outcomes.list_shares`."""

    level: Any  # of the factor that is contrasted
    gamma: float
    setting: tuple  # its other factors, without gamma and the number of steps
    number: int  # of the members that it is a share of
    share: float
    seeds: frozenset


class Counts(NamedTuple):
    """What the members of one cell end at."""

    point: dict[str, Any]  # its factors
    # By share (see `outcomes.list_shares`) its members, or the sum of their agreement.
    numbers: dict[str, float]
    wholes: dict[str, tuple]  # seeds of the members that they are shares of


Pair = tuple[Cell, Cell]  # of one matched set, the lower level first


class MatchedSets(NamedTuple):
    """The matched sets of one factor for one share."""

    sets: list[list[Cell]]  # of at least two cells, lowest level first
    empty: int  # sets that were trained and have no two cells with a share


def count_cells(members: pd.DataFrame) -> list[Counts]:
    """What the members of every cell end at."""
    counts = []
    for values, cell in members.groupby(list(factors.NAMES), sort=True):
        point = dict(zip(factors.NAMES, values, strict=True))
        counts.append(_count_cell(point, cell))
    return counts


def find_matched_sets(cells: list[Counts], factor: Factor, share: str) -> MatchedSets:
    """The matched sets of a factor.

    Cells without a member of whom it is a share do not count.
    """
    by_others = {}  # the same cells by number of steps, for every set
    for counts in cells:
        others = [counts.point[name] for name in _name_others(factor)]
        steps = None
        if factor.name != factors.NUISANCE:
            steps = counts.point[factors.NUISANCE]
        by_steps = by_others.setdefault(tuple(others), {})
        cell = measure_cell(counts, factor, share)
        by_steps.setdefault(steps, []).append(cell)
    sets = []
    empty = 0
    for by_steps in by_others.values():
        if max(map(len, by_steps.values())) < 2:
            continue
        matched = _choose_steps(by_steps)
        if len(matched) < 2:
            empty += 1
            continue
        sets.append(sorted(matched, key=_order_by_level(factor)))
    return MatchedSets(sets, empty)


def _choose_steps(by_steps: dict[int | None, list[Cell]]) -> list[Cell]:
    """The cells with a share at the number of steps that has the most of them."""
    chosen = []
    for steps in sorted(by_steps, key=lambda steps: steps or 0):
        measured = [cell for cell in by_steps[steps] if cell.number > 0]
        if len(measured) >= len(chosen):
            chosen = measured
    return chosen


def _name_others(factor: Factor) -> list[str]:
    """The factors in which the cells of a matched set are equal, but for the steps."""
    return [
        name for name in factors.NAMES if name not in (factor.name, factors.NUISANCE)
    ]


def pair_extremes(matched_sets: list[list[Cell]]) -> list[Pair]:
    """The lowest and the highest cell of every matched set."""
    return [(cells[0], cells[-1]) for cells in matched_sets]


def pair_neighbours(matched_sets: list[list[Cell]]) -> list[Pair]:
    """Every two cells of a matched set with no level between them."""
    pairs = []
    for cells in matched_sets:
        pairs += itertools.pairwise(cells)
    return pairs


def split_levels(
    cells: list[Counts], factor: Factor, share: str
) -> tuple[list[Cell], list[Cell]]:
    """The cells at the lowest and at the highest level, at the gammas that both have.

    Cells without a member of whom it is a share do not count.
    """
    measured = []
    for counts in cells:
        cell = measure_cell(counts, factor, share)
        if cell.number > 0:
            measured.append(cell)
    ordered = sorted(measured, key=_order_by_level(factor))
    if not ordered or ordered[0].level == ordered[-1].level:
        return [], []
    lower = _select_level(ordered, ordered[0].level)
    upper = _select_level(ordered, ordered[-1].level)
    return _select_gammas(lower, upper), _select_gammas(upper, lower)


def average_by_setting(cells: list[Cell]) -> np.ndarray:
    """The mean share of the cells of every setting."""
    by_setting = {}
    for cell in cells:
        by_setting.setdefault(cell.setting, []).append(cell.share)
    return np.array([np.mean(shares) for shares in by_setting.values()])


def keep_longest(members: pd.DataFrame) -> pd.DataFrame:
    """Of members that differ in the number of steps alone, the one trained longest.

    For what compares settings that are not matched: how long one is trained follows
    from how fast it converges.
    """
    keys = [name for name in factors.NAMES if name != factors.NUISANCE]
    ordered = members.sort_values(factors.NUISANCE, kind='stable')
    return ordered.drop_duplicates([*keys, 'seed'], keep='last').sort_index()


def _count_cell(point: dict[str, Any], cell: pd.DataFrame) -> Counts:
    wholes = outcomes.find_wholes(cell)
    reached = outcomes.find_outcomes(wholes['converged'])
    numbers = {outcomes.CONVERGED: float(len(reached))}
    for share in outcomes.list_shares(factors.TRAINED):
        if share in outcomes.AGREEMENT:
            agreement = wholes['converged'][outcomes.AGREEMENT[share]]
            numbers[share] = float(agreement.sum())
        elif share != outcomes.CONVERGED:
            numbers[share] = float((reached == share.removesuffix('*')).sum())
    seeds = {name: tuple(members.seed) for name, members in wholes.items()}
    return Counts(point, numbers, seeds)


def measure_cell(counts: Counts, factor: Factor, share: str) -> Cell:
    """A cell for one share; its number is 0 without members to have a share of."""
    setting = []
    for name in _name_others(factor):
        if name != 'gamma':
            setting.append(counts.point[name])
    seeds = counts.wholes[outcomes.name_whole(share)]
    number = len(seeds)
    level = counts.point[factor.name]
    gamma = counts.point['gamma']
    value = counts.numbers[share] / max(1, number)
    return Cell(level, gamma, tuple(setting), number, value, frozenset(seeds))


def _select_level(cells: list[Cell], level: Any) -> list[Cell]:
    return [cell for cell in cells if cell.level == level]


def _select_gammas(cells: list[Cell], others: list[Cell]) -> list[Cell]:
    """The cells at a gamma that one of the others has."""
    gammas = {cell.gamma for cell in others}
    return [cell for cell in cells if cell.gamma in gammas]


def _order_by_level(factor: Factor) -> Callable[[Cell], Any]:
    def order(cell: Cell) -> Any:
        return factors.rank_level(factor, cell.level)

    return order
