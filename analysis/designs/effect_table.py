"""All contrasts of the design in one table."""

from collections.abc import Callable

import pandas as pd

from analysis.designs import contrasts, factors, matching, outcomes
from analysis.designs.contrasts import Contrast
from analysis.designs.factors import Factor
from analysis.designs.matching import Cell, Pair

ALL = 'all'  # the block of a contrast between kinds of exception
MATCHED, MARGINAL = 'matched', 'marginal'
LOWEST, HIGHEST = 'lowest', 'highest'  # where the sets have different levels
KEYS = ('block', 'factor', 'method', 'lower', 'upper', 'outcome')


def tabulate_contrasts(members: pd.DataFrame) -> pd.DataFrame:
    """A row per contrast: the columns KEYS, then the fields of Contrast.

    Of the matched ones, the lowest against the highest level of every set comes first,
    then, if there are other pairs, each two neighbouring levels. The exception is
    contrasted over all blocks, every other factor within each. A factor that does not
    vary has a single row, without an outcome.
    """
    rows = []
    for block in outcomes.list_blocks(members):
        of_block = outcomes.select_block(members, block)
        for factor in factors.FACTORS:
            if factor.name != 'exception':
                rows += _contrast_factor(of_block, block, factor)
    rows += _contrast_factor(members, ALL, factors.BY_NAME['exception'])
    return pd.DataFrame(rows, columns=[*KEYS, *Contrast._fields])


def _contrast_factor(members: pd.DataFrame, block: str, factor: Factor) -> list[tuple]:
    levels = factors.order_levels(factor, members[factor.name])
    lowest = factors.format_level(factor, levels[0])
    highest = factors.format_level(factor, levels[-1])
    if len(levels) == 1:
        contrast = contrasts.refuse_single(factor, levels)
        return [(block, factor.name, MATCHED, lowest, highest, '', *contrast)]
    cells = matching.count_cells(members)
    longest = matching.count_cells(matching.keep_longest(members))
    rows = []
    for outcome in outcomes.list_shares(block):
        matched = matching.find_matched_sets(cells, factor, outcome)
        groups = _group_pairs(factor, matched.sets) or {(lowest, highest): []}
        for texts, pairs in groups.items():
            contrast = contrasts.compare_pairs(pairs, factor)
            contrast = contrast._replace(empty=matched.empty)
            rows.append((block, factor.name, MATCHED, *texts, outcome, *contrast))
        if factor.name != 'gamma':
            contrast = contrasts.compare_levels(longest, factor, outcome)
            key = (block, factor.name, MARGINAL, lowest, highest, outcome)
            rows.append((*key, *contrast))
    return rows


def _group_pairs(
    factor: Factor, matched_sets: list[list[Cell]]
) -> dict[tuple[str, ...], list[Pair]]:
    """Pairs by the texts of their levels: the extremes first, then neighbours."""
    neighbours = matching.pair_neighbours(matched_sets)
    by_level = {}
    for pair in sorted(neighbours, key=_order_by_levels(factor)):
        texts = tuple(factors.format_level(factor, cell.level) for cell in pair)
        by_level.setdefault(texts, []).append(pair)
    if len(by_level) <= 1:
        return by_level
    extremes = matching.pair_extremes(matched_sets)
    return {(LOWEST, HIGHEST): extremes} | by_level


def _order_by_levels(factor: Factor) -> Callable[[Pair], tuple]:
    def order(pair: Pair) -> tuple:
        return tuple(factors.rank_level(factor, cell.level) for cell in pair)

    return order
