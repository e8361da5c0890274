"""The claim about the range of gamma of a GPT-2-like network (P1 Fig 2 c)."""

import numpy as np

from analysis.families.readings.members import describe_members
from analysis.gamma_range import BASELINE, LEAST_CHANGE, Result
from analysis.members.seeds import pair_seeds
from analysis.members.statistics import MIN_SEEDS
from analysis.report.readings.borders import (
    conclude_seeds,
    estimate,
    format_mean,
    judge,
)
from analysis.report.readings.reading import Reading, undecided

RISE = 0.5  # of the inferential agreement over the gammas


def read_trend(result: Result, setting: str) -> Reading:
    """As in one head: at a smaller initialization, the unseen pair is composed.

    holds          the interval of the largest change from the smallest gamma is above
                   RISE
    opposite       it is below 0
    does not hold  it is between
    """
    change = result.change_2T[0, result.setting_T == setting]
    is_here_M = result.members['setting'] == setting
    found = estimate(change)
    return conclude_seeds(
        judge(found, RISE, opposite=0),
        number=f'inferential agreement rises by {format_mean(found)}',
        null='a rise of 0',
        note=describe_members(result.members, is_here_M),
        values=change,
    )


def read_narrower(result: Result, setting: str) -> Reading:
    """The transition of the inferential agreement takes a smaller range of gamma.

    Widths of the seeds that both networks have; the baseline's less this one's.

    holds, opposite  the interval of the difference is above, below 0
    does not hold    the widths are equal
    undecided        otherwise, or if fewer than MIN_SEEDS have a transition in both
    """
    if setting == BASELINE:
        return undecided('the baseline itself')
    is_own_T = result.setting_T == setting
    is_baseline_T = result.setting_T == BASELINE
    at_own, at_baseline = pair_seeds(
        result.seed_T, np.flatnonzero(is_own_T), np.flatnonzero(is_baseline_T)
    )
    own = result.width_2T[0, at_own]
    other = result.width_2T[0, at_baseline]
    is_known = np.isfinite(own) & np.isfinite(other)
    note = describe_members(result.members, result.members['setting'] == setting)
    null = 'a difference of 0'
    if is_known.sum() < MIN_SEEDS:
        few = (
            f'{np.isfinite(own).sum()} of {len(own)} seeds change by {LEAST_CHANGE:g} '
            f'or more, {np.isfinite(other).sum()} with one head'
        )
        return undecided(few, null=null, note=note)
    difference = (other - own)[is_known]
    found = estimate(difference)
    return conclude_seeds(
        judge(found, 0, opposite=0),
        number=f'width {own[is_known].mean():.2f}, one head '
        f'{other[is_known].mean():.2f}; narrower by {format_mean(found)}',
        null=null,
        note=f'{is_known.sum()} seeds; {note}',
        values=difference,
    )
