"""From numbers of members to a verdict: on which side of a border is an interval?

The interval is of 95 %, over members or seeds. An interval that covers the border
decides nothing: the reading is undecided, not "does not hold".
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from analysis.members.rows import average_by_seed
from analysis.members.statistics import (
    MIN_SEEDS,
    P_VALUE,
    Mean,
    mean_interval,
    wilson_interval,
)
from analysis.old_claims.reading import Reading, undecided
from analysis.old_claims.verdicts import (
    DOES_NOT_HOLD,
    HOLDS,
    OPPOSITE,
    UNDECIDED,
    Verdict,
)

HALF = 0.5  # of the members: a claim about networks is about most of them
STRONG = 0.5  # a rank correlation that is surely weaker than this is none


def gather(results: Sequence[Any], field: str, *index: Any) -> np.ndarray:
    """A field of every member's result, at an index of it: [M, ...]."""
    values = []
    for result in results:
        array = np.asarray(getattr(result, field))
        values.append(array[index])
    return np.array(values)


def estimate(values: ArrayLike) -> Mean:
    """The mean over members with its interval; NaN if any value is NaN."""
    values = np.asarray(values, float)
    if not np.isfinite(values).all():
        return Mean(np.nan, np.nan, np.nan)
    return mean_interval(values)


def estimate_share(count: int, total: int) -> Mean:
    """The share of members that do something, with Wilson's interval."""
    share = count / total if total else np.nan
    return Mean(share, *wilson_interval(count, total))


def estimate_seed_share(is_so_M: np.ndarray, seed_M: np.ndarray) -> Mean:
    """The share of members that do something, some of which may share a seed.

    They are no independent draws: the share is the mean over seeds, and its interval
    Wilson's of as many draws as there are seeds.
    """
    of_seeds = average_by_seed(is_so_M.astype(float), seed_M)
    if len(of_seeds) == 0:
        return estimate_share(0, 0)
    share = float(of_seeds.mean())
    return Mean(share, *wilson_interval(share * len(of_seeds), len(of_seeds)))


def judge(found: Mean, border: float, opposite: float = -np.inf) -> Verdict:
    """holds above the border, opposite below another one, does not hold between.

    Each with the whole interval; undecided if it covers a border, or is NaN.
    """
    if found.low > border:
        return HOLDS
    if found.high < opposite:
        return OPPOSITE
    return DOES_NOT_HOLD if found.high <= border else UNDECIDED


def negate(found: Mean) -> Mean:
    """The mean of the negative numbers, to judge what lies below a border."""
    return Mean(-found.mean, -found.high, -found.low)


def judge_correlation(rho: float, p: float, interval: tuple[float, float]) -> Verdict:
    """Whether two numbers rise together.

    holds, opposite  p is below P_VALUE, and the interval does not cover 0
    does not hold    the interval covers 0 and lies below STRONG
    undecided        otherwise, as where so few members cannot have a small p; or NaN
    """
    low, high = interval
    if np.isnan([rho, p, low, high]).any():
        return UNDECIDED
    if p < P_VALUE and low > 0:
        return HOLDS
    if p < P_VALUE and high < 0:
        return OPPOSITE
    return DOES_NOT_HOLD if low <= 0 <= high < STRONG else UNDECIDED


def combine(parts: Sequence[Verdict]) -> Verdict:
    """The verdict on a claim with several parts, all of which must hold.

    One part that fails is enough; it is the opposite if every part is.
    """
    found = set(parts)
    if found == {HOLDS}:
        return HOLDS
    if found == {OPPOSITE}:
        return OPPOSITE
    if DOES_NOT_HOLD in found or OPPOSITE in found:
        return DOES_NOT_HOLD
    return UNDECIDED


def conclude(
    verdict: Verdict,
    number: str,
    null: str,
    note: str,
    count: int,
    unit: str = 'member',
    is_known: bool = True,
    why: str = 'an interval covers its border',
) -> Reading:
    """The Reading, undecided with its reason if it rests on too little.

    Args:
      count: units (members or seeds) behind it.
      is_known: whether every number behind it is finite.
      why: the reason if the verdict is undecided although all this is in order.
    """
    if count < MIN_SEEDS:
        units = unit if count == 1 else f'{unit}s'
        few = f'{count} {units}, at least {MIN_SEEDS} needed'
        return undecided(few, number, null, note)
    if not is_known:
        return undecided('a number is NaN', number, null, note)
    if verdict is UNDECIDED:
        return undecided(why, number, null, note)
    return Reading(number, verdict, null, note)


def conclude_seeds(
    verdict: Verdict,
    number: str,
    null: str,
    note: str,
    values: np.ndarray,
    why: str = 'the interval covers a border',
) -> Reading:
    """The Reading of a claim that rests on one number, or one row of them, a seed.

    Undecided with few seeds or a NaN.

    Args:
      values: [seed, ...].
      why: the reason if the verdict is undecided although all this is in order.
    """
    return conclude(
        verdict=verdict,
        number=number,
        null=null,
        note=note,
        count=len(values),
        unit='seed',
        is_known=bool(np.isfinite(values).all()),
        why=why,
    )


def format_mean(found: Mean, digits: int = 2) -> str:
    """'0.97 [0.95, 0.99]', or the mean alone without an interval."""
    mean = f'{found.mean:.{digits}f}'
    if np.isnan(found.low):
        return mean
    return f'{mean} [{found.low:.{digits}f}, {found.high:.{digits}f}]'


def format_count(count: int, total: int) -> str:
    """'4 of 5 [0.38, 0.96]'."""
    low, high = wilson_interval(count, total)
    return f'{count} of {total} [{low:.2f}, {high:.2f}]'


def format_seed_share(is_so_M: np.ndarray, seed_M: np.ndarray) -> str:
    """'4 of 5 [0.38, 0.96]'; where members share seeds '9 of 16, 5 seeds [0.24, 0.83]'.

    The interval is that of `estimate_seed_share`.
    """
    found = estimate_seed_share(is_so_M, seed_M)
    seeds = len(np.unique(seed_M))
    shared = f', {seeds} seeds' if seeds < len(seed_M) else ''
    counted = f'{int(is_so_M.sum())} of {len(seed_M)}{shared}'
    return f'{counted} [{found.low:.2f}, {found.high:.2f}]'


def format_negative(rho: float, interval: tuple[float, float]) -> str:
    """'-0.80 [-0.90, -0.60]' of a correlation 0.8 [0.6, 0.9] with the negative."""
    low, high = interval
    # Adding zero makes -0.0 positive.
    numbers = [f'{number + 0.0:.2f}' for number in (-rho, -high, -low)]
    return f'{numbers[0]} [{numbers[1]}, {numbers[2]}]'
