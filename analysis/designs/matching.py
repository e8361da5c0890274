"""Matched sets: the cells that are equal in every factor but one.

Two cells match although they were trained for different numbers of steps (see
`factors.NUISANCE`). Of a member that was trained twice, the longer training counts.
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
    setting: tuple  # its other factors, without gamma
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


def count_cells(members: pd.DataFrame, factor: Factor) -> list[Counts]:
    """The cells among which a factor is contrasted."""
    names = list(factors.NAMES)
    if factor.name != factors.NUISANCE:
        members = keep_longest(members)
        names.remove(factors.NUISANCE)
    counts = []
    for values, cell in members.groupby(names, sort=True):
        point = dict(zip(names, values, strict=True))
        counts.append(_count_cell(point, cell))
    return counts


def list_matched_sets(
    cells: list[Counts], factor: Factor, share: str
) -> list[list[Cell]]:
    """The cells of every matched set with at least two, lowest level first.

    Cells without a member of whom it is a share do not count.
    """
    matched_sets = {}
    for counts in cells:
        others = {name: x for name, x in counts.point.items() if name != factor.name}
        cell = measure_cell(counts, factor, share)
        if cell.number > 0:
            matched_sets.setdefault(tuple(others.values()), []).append(cell)
    several = []  # sets with several cells
    for matched in matched_sets.values():
        if len(matched) > 1:
            several.append(sorted(matched, key=_order_by_level(factor)))
    return several


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
    """Of members that differ in the number of steps alone, the one trained longest."""
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
    for name, value in counts.point.items():
        if name not in (factor.name, 'gamma'):
            setting.append(value)
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
