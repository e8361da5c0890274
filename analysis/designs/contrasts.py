"""Contrasts: how the share of an outcome differs between two levels of a factor.

matched    between cells that differ in this factor alone: the share in the highest cell
           of a matched set minus that in its lowest, averaged over the sets of a
           setting and then over settings
marginal   between all settings at the highest level and all at the lowest, at the
           gammas that both have: for a fraction of a factorial, where few cells match

A setting is all cells that differ in gamma or steps alone: no independent draws of the
design. A 95 % interval is the wider, at either end, of two: Newcombe's for two
proportions, which sees that members are few, and a t interval over settings, which sees
that they differ: of paired differences (matched) or Welch's (marginal). With fewer than
MIN_SEEDS members at a level it is all of [-1, 1]: Newcombe's is too narrow there.
"""

import collections
from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis.designs import factors, intervals, matching
from analysis.designs.factors import Factor
from analysis.designs.matching import Cell, Counts, Pair
from analysis.members.statistics import MIN_SEEDS, newcombe_interval


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
    # Distinct ones of a setting (the median), at the level that has fewer: settings
    # with one seed each are not several seeds.
    seeds: int = 0
    empty: int = 0  # matched sets left out: no two cells have a member to count
    levels: str = ''  # '3 → 4, 4 → 9': those that were compared
    note: str = ''


def contrast_matched(members: pd.DataFrame, name: str, outcome: str) -> Contrast:
    """The lowest against the highest level of a factor in every matched set."""
    factor = factors.BY_NAME[name]
    levels = factors.order_levels(factor, members[name])
    if len(levels) < 2:
        return refuse_single(factor, levels)
    cells = matching.count_cells(members)
    matched = matching.find_matched_sets(cells, factor, outcome)
    contrast = compare_pairs(matching.pair_extremes(matched.sets), factor)
    return contrast._replace(empty=matched.empty)


def contrast_marginal(members: pd.DataFrame, name: str, outcome: str) -> Contrast:
    """All settings at the lowest against all at the highest level of a factor."""
    factor = factors.BY_NAME[name]
    levels = factors.order_levels(factor, members[name])
    if len(levels) < 2:
        return refuse_single(factor, levels)
    cells = matching.count_cells(matching.keep_longest(members))
    return compare_levels(cells, factor, outcome)


def compare_pairs(pairs: list[Pair], factor: Factor) -> Contrast:
    """The mean difference of the matched pairs' shares, with its interval."""
    if not pairs:
        return Contrast(note='not estimable: no matched cells')
    lower = [cell for cell, _ in pairs]
    upper = [cell for _, cell in pairs]
    shares_lower = matching.average_by_setting(lower)
    shares_upper = matching.average_by_setting(upper)
    contrast = _compare_members(lower, upper)
    contrast = contrast._replace(
        sets=len(pairs), levels=_describe_levels(pairs, factor)
    )
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
    contrast = contrast._replace(
        sets=min(len(lower), len(upper)),
        levels=_describe_levels([(lower[0], upper[0])], factor),
    )
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
        empty=first.empty + second.empty,
        levels=first.levels,
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
    members_lower = sum(cell.number for cell in lower)
    members_upper = sum(cell.number for cell in upper)
    low, high = -1.0, 1.0
    if min(members_lower, members_upper) >= MIN_SEEDS:
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
        members_lower=members_lower,
        members_upper=members_upper,
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
    """The distinct seeds of a setting: of half of the settings at least as many."""
    by_setting = {}
    for cell in cells:
        by_setting.setdefault(cell.setting, set()).update(cell.seeds)
    numbers = [len(seeds) for seeds in by_setting.values()]
    return int(np.median(numbers))


def _describe_levels(pairs: list[Pair], factor: Factor) -> str:
    """'3 → 4, 4 → 9': the distinct levels of the pairs."""
    texts = []
    for lower, upper in pairs:
        first = factors.format_level(factor, lower.level)
        second = factors.format_level(factor, upper.level)
        texts.append(f'{first} → {second}')
    return ', '.join(sorted(set(texts)))
