"""The claim about the range of gamma of a GPT-2-like network (P1 Fig 2 c)."""

import numpy as np

from analysis.families.readings.members import describe_members
from analysis.members.seeds import pair_seeds
from analysis.members.statistics import MIN_SEEDS
from analysis.members.table import list_converged
from analysis.old_claims.borders import (
    conclude_seeds,
    estimate,
    format_mean,
    judge,
)
from analysis.old_claims.reading import Reading, format_gamma, undecided
from analysis.p1.gamma_range import BASELINE, LEAST_CHANGE, Result

RISE = 0.5  # of the inferential agreement over the gammas


def read_trend(result: Result, setting: str) -> Reading:
    """As in one head: at a smaller initialization, the unseen pair is composed.

    Of the gammas at which all seeds have converged.

    holds          the interval of the largest change from the smallest gamma is above
                   RISE
    opposite       it is below 0
    does not hold  it is between
    """
    change = result.change_2T[0, result.setting_T == setting]
    found = estimate(change)
    return conclude_seeds(
        judge(found, RISE, opposite=0),
        number=f'inferential agreement rises by {format_mean(found)}',
        null='a rise of 0',
        note=_describe(result, setting),
        values=change,
    )


def read_narrower(result: Result, setting: str) -> Reading:
    """The transition of the inferential agreement takes a smaller range of gamma.

    Widths of the seeds that both networks have; the baseline's less this one's.

    holds, opposite  the interval of the difference is above, below 0
    does not hold    the widths are equal
    undecided        otherwise, or if fewer than MIN_SEEDS have a transition in both
    """
    at_own = np.flatnonzero(result.setting_T == setting)
    at_baseline = np.flatnonzero(result.setting_T == BASELINE)
    at_own, at_baseline = pair_seeds(result.seed_T, at_own, at_baseline)
    width_T = result.width_2T[0]
    own = width_T[at_own]
    other = width_T[at_baseline]
    has_own = np.isfinite(own)
    has_other = np.isfinite(other)
    is_known = has_own & has_other
    note = _describe(result, setting)
    null = 'a difference of 0'
    if is_known.sum() < MIN_SEEDS:
        few = (
            f'{has_own.sum()} of {len(own)} seeds change by {LEAST_CHANGE:g} or more, '
            f'{has_other.sum()} with one head'
        )
        return undecided(few, null=null, note=note)
    own = own[is_known]
    other = other[is_known]
    difference = other - own
    found = estimate(difference)
    return conclude_seeds(
        judge(found, 0, opposite=0),
        number=f'width {own.mean():.2f}, one head {other.mean():.2f}; '
        f'narrower by {format_mean(found)}',
        null=null,
        note=f'{len(difference)} seeds; {note}',
        values=difference,
    )


def _describe(result: Result, setting: str) -> str:
    """'γ 0.3 to 0.9; 16 of 24 converged, train loss 0.86'."""
    is_here_M = result.members['setting'] == setting
    gammas = list_converged(result.members, is_here_M, result.members['gamma'])
    counted = 'no γ at which all converged'
    if len(gammas):
        counted = f'{format_gamma(gammas[0])} to {gammas[-1]:g}'
    return f'{counted}; {describe_members(result.members, is_here_M)}'
