"""Contrasts: how the share of an outcome differs between two levels of a factor.

matched    between cells that differ in this factor alone: the share in the highest cell
           of a matched set minus that in its lowest, averaged over the sets of a
           setting and then over settings
marginal   between all settings at the highest level and all at the lowest, at the
           gammas that both have: for a fraction of a factorial, where few cells match

A setting is all cells that differ in gamma alone: they are no independent draws of the
design. A 95 % interval is the wider, at either end, of two: Newcombe's for two
proportions, which sees that members are few, and a t interval over settings, which sees
that they differ: of paired differences (matched) or Welch's (marginal).
"""

import collections
from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis.designs import factors, intervals, matching
from analysis.designs.factors import Factor
from analysis.designs.matching import Cell, Counts, Pair
from analysis.members.statistics import newcombe_interval


class Contrast(NamedTuple):
    """A difference of shares; NaN and a note where it cannot be estimated."""

    share_lower: float = np.nan
    share_upper: float = np.nan
    effect: float = np.nan
    low: float = np.nan  # ends of its interval
    high: float = np.nan
    sets: int = 0  # matched sets, or cells at the level that has fewer
    settings: int = 0  # of the matched sets, or at the level that has fewer
    members_lower: int = 0
    members_upper: int = 0
    seeds: int = 0  # distinct ones, at the level that has fewer
    note: str = ''


def contrast_matched(members: pd.DataFrame, name: str, outcome: str) -> Contrast:
    """The lowest against the highest level of a factor in every matched set."""
    factor = factors.BY_NAME[name]
    levels = factors.order_levels(factor, members[name])
    if len(levels) < 2:
        return refuse_single(factor, levels)
    cells = matching.count_cells(members, factor)
    matched_sets = matching.list_matched_sets(cells, factor, outcome)
    return compare_pairs(matching.pair_extremes(matched_sets))


def contrast_marginal(members: pd.DataFrame, name: str, outcome: str) -> Contrast:
    """All settings at the lowest against all at the highest level of a factor."""
    factor = factors.BY_NAME[name]
    levels = factors.order_levels(factor, members[name])
    if len(levels) < 2:
        return refuse_single(factor, levels)
    return compare_levels(matching.count_cells(members, factor), factor, outcome)


def compare_pairs(pairs: list[Pair]) -> Contrast:
    """The mean difference of the matched pairs' shares, with its interval."""
    if not pairs:
        return Contrast(note='not estimable: no matched cells')
    lower = [cell for cell, _ in pairs]
    upper = [cell for _, cell in pairs]
    shares_lower = matching.average_by_setting(lower)
    shares_upper = matching.average_by_setting(upper)
    contrast = _compare_members(lower, upper)
    contrast = contrast._replace(sets=len(pairs))
    differences = shares_upper - shares_lower
    return _widen(contrast, *intervals.student_interval(differences))


def compare_levels(cells: list[Counts], factor: Factor, outcome: str) -> Contrast:
    """The difference of the settings' mean shares at the two extreme levels."""
    lower, upper = matching.split_levels(cells, factor, outcome)
    shares_lower = matching.average_by_setting(lower)
    shares_upper = matching.average_by_setting(upper)
    if min(len(shares_lower), len(shares_upper)) < 2:
        return Contrast(note='not estimable: fewer than 2 settings at a level')
    contrast = _compare_members(lower, upper)
    contrast = contrast._replace(sets=min(len(lower), len(upper)))
    return _widen(contrast, *intervals.welch_interval(shares_upper, shares_lower))


def subtract_contrasts(first: Contrast, second: Contrast) -> Contrast:
    """first - second, of different members.

    The interval combines both (Zou and Donner 2008): each end takes the distances to
    the ends that work against it.
    """
    effect = first.effect - second.effect
    below = np.hypot(first.effect - first.low, second.high - second.effect)
    above = np.hypot(first.high - first.effect, second.effect - second.low)
    return Contrast(
        effect=effect,
        low=effect - below,
        high=effect + above,
        sets=min(first.sets, second.sets),
        settings=min(first.settings, second.settings),
        members_lower=first.members_lower + second.members_lower,
        members_upper=first.members_upper + second.members_upper,
        seeds=min(first.seeds, second.seeds),
        note=first.note or second.note,
    )


def refuse_single(factor: Factor, levels: list) -> Contrast:
    """The contrast of a factor that does not vary."""
    if not levels:
        return Contrast(note='not estimable: no members')
    text = factors.format_level(factor, levels[0])
    return Contrast(note=f'not estimable: one level of {factor.title} only ({text})')


def _compare_members(lower: list[Cell], upper: list[Cell]) -> Contrast:
    """The difference of two shares, averaged over settings: Newcombe's interval."""
    shares_lower = matching.average_by_setting(lower)
    shares_upper = matching.average_by_setting(upper)
    share_lower = float(shares_lower.mean())
    share_upper = float(shares_upper.mean())
    number_lower = _count_effective(lower)
    number_upper = _count_effective(upper)
    low, high = newcombe_interval(
        share_upper * number_upper,
        number_upper,
        share_lower * number_lower,
        number_lower,
    )
    return Contrast(
        share_lower,
        share_upper,
        effect=share_upper - share_lower,
        low=low,
        high=high,
        settings=min(len(shares_lower), len(shares_upper)),
        members_lower=sum(cell.number for cell in lower),
        members_upper=sum(cell.number for cell in upper),
        seeds=min(_count_seeds(lower), _count_seeds(upper)),
    )


def _widen(contrast: Contrast, low: float, high: float) -> Contrast:
    """The contrast with the wider of two intervals at either end, within [-1, 1]."""
    low = max(-1.0, min(contrast.low, low))
    high = min(1.0, max(contrast.high, high))
    return contrast._replace(low=low, high=high)


def _count_effective(cells: list[Cell]) -> float:
    """Members whose pooled share varies as much as the mean over settings of theirs."""
    cells_in = collections.Counter(cell.setting for cell in cells)
    variance = 0.0  # in units of that of one member
    for cell in cells:
        weight = 1 / (len(cells_in) * cells_in[cell.setting])
        variance += weight**2 / cell.number
    return 1 / variance


def _count_seeds(cells: list[Cell]) -> int:
    seeds = set()
    for cell in cells:
        seeds |= cell.seeds
    return len(seeds)
