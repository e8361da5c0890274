"""What the weights of the converged members of a sweep say about a claim."""

import numpy as np

from analysis.members.correlation import correlation_interval, correlations
from analysis.old_claims.borders import (
    HALF,
    combine,
    conclude,
    estimate_seed_share,
    format_negative,
    format_seed_share,
    judge,
    judge_correlation,
)
from analysis.old_claims.reading import Reading, format_gamma, undecided
from analysis.old_claims.verdicts import (
    DOES_NOT_HOLD,
    HOLDS,
    OPPOSITE,
    UNDECIDED,
    Verdict,
)
from analysis.p1 import condensation_grid, eigenvalues, embedding_grid
from analysis.report.readings.ends import (
    Ends,
    describe_ends,
    find_ends,
    format_ends,
    judge_ends,
    list_settings,
    measure_ends,
)

CONDENSED = 1 / 4  # of the directions of Gaussian weights: fewer are few
SPREAD = 1 / 2  # of the same: more are many
FEW_VALUES = 1 / 2  # of the rank that counts in an untrained network: few stand out
MANY_VALUES = 3 / 4  # of the same: none do


def read_condensation(result: condensation_grid.Result) -> Reading:
    """Few directions at the largest gamma, not few at the smallest.

    The null is Gaussian weights of the same shape. `ends.judge_ends` has the rules,
    with CONDENSED and SPREAD of the null as the borders; undecided without two gammas
    of 3 seeds, or with NaN.
    """
    ends = find_ends(result.points)
    if isinstance(ends, str):
        return undecided(ends)
    shares_M = result.directions_M / result.gaussian_M
    found = measure_ends(result.points, shares_M, ends)
    directions = measure_ends(result.points, result.directions_M, ends)
    gaussian = result.gaussian_M.mean()
    return _conclude_ends(
        found,
        judge_ends(found, CONDENSED, SPREAD),
        number=f'directions: {format_ends(directions, digits=1)}',
        null=f'Gaussian weights: {gaussian:.1f}; few: below {CONDENSED * gaussian:.1f}',
        note=result.matrix,
    )


def read_embedding_order(result: embedding_grid.Result) -> Reading:
    """|Spearman's| of value and best component is above chance at large gamma alone.

    The null is the 95 % quantile of random orders of the same rows.

    holds          at the largest gamma the correlation is above the null, at the
                   smallest it is below
    opposite       the other way round
    does not hold  otherwise, if an end is surely on the wrong side
    undecided      otherwise; not two gammas of 3 seeds; NaN
    """
    ends = find_ends(result.points)
    if isinstance(ends, str):
        return undecided(ends)
    # Below 0 is ordered: `judge_ends` asks for a number that is small at large gamma.
    lack_M = result.bound_M - result.rho_M
    found = measure_ends(result.points, lack_M, ends)
    rho = measure_ends(result.points, result.rho_M, ends)
    bounds = measure_ends(result.points, result.bound_M, ends)
    return _conclude_ends(
        found,
        judge_ends(found, 0, 0),
        number=f'|ρ| with the value: {format_ends(rho)}',
        null=f'95 % of random orders are below {bounds.large.mean:.2f} and '
        f'{bounds.small.mean:.2f}',
        note=result.matrix,
    )


def read_singular_values(result: eigenvalues.Result) -> Reading:
    """Few directions are used at a small initialization, most at a large one.

    The null is the untrained network. `ends.judge_ends` has the rules, with FEW_VALUES
    and MANY_VALUES of the null as the borders; undecided without two gammas of 3 seeds,
    or with NaN.
    """
    ends = find_ends(result.points)
    if isinstance(ends, str):
        return undecided(ends)
    shares_M = result.rank_share_M / result.untrained_rank_share_M
    found = measure_ends(result.points, shares_M, ends)
    rank = measure_ends(result.points, result.rank_share_M, ends)
    untrained = result.untrained_rank_share_M.mean()
    return _conclude_ends(
        found,
        judge_ends(found, FEW_VALUES, MANY_VALUES),
        number=f'participation ratio as a share of the full rank: {format_ends(rank)}',
        null=f'untrained {untrained:.2f}; few: below {FEW_VALUES * untrained:.2f}',
        note='mean over the matrices, rows and columns that see data',
    )


def read_large_eigenvalues(result: eigenvalues.Result) -> Reading:
    """The participation ratio falls with gamma, to below that of untrained networks.

    The rank correlation compares members of one seed and setting; its interval
    resamples seeds.

    holds          the correlation is negative (`borders.judge_correlation`), and at the
                   largest gamma the ratio is below that of the untrained network
    opposite       the correlation is positive: the ratio rises
    does not hold  otherwise, if one of the two is surely false
    undecided      otherwise; not two gammas of 3 seeds; NaN
    """
    ends = find_ends(result.points)
    if isinstance(ends, str):
        return undecided(ends)
    gamma_M = np.asarray(result.points['gamma'], float)
    seed_M = result.points['seed']
    named_seed_M = np.char.add(' seed=', seed_M.astype(str))
    strata_M = np.char.add(list_settings(result.points), named_seed_M)
    participation_M = result.participation_M
    falling_M = -participation_M
    tests = correlations(gamma_M[None], falling_M[None], strata_M=strata_M)
    rho = float(tests.correlation_XY[0, 0])
    p = float(tests.p_value_XY[0, 0])
    interval = correlation_interval(gamma_M, falling_M, strata_M, seed_M)
    falls = judge_correlation(rho, p, interval)
    share = measure_ends(result.points, participation_M / result.untrained_M, ends)
    is_below = _judge_below(share.small.low, share.small.high, 1)
    verdict = OPPOSITE if falls is OPPOSITE else combine([falls, is_below])
    found = measure_ends(result.points, participation_M, ends)
    return _conclude_ends(
        share,
        verdict,
        number=f'participation ratio: {format_ends(found, digits=1)}; rank correlation '
        f'with γ {format_negative(rho, interval)}, p = {p:.1g}',
        null=f'untrained {result.untrained_M.mean():.1f} at every γ',
        note=f'{len(gamma_M)} converged members in all',
    )


def read_first_rise(result: eigenvalues.Result) -> Reading:
    """The largest eigenvalue rises at an earlier snapshot than all the others.

    Of the converged members at the largest gamma in which it rises at all.

    holds          so it is in most of them (the interval, which is over seeds, is
                   above HALF)
    opposite       in most of them another one rises earlier
    does not hold  otherwise, if it is surely not the first in most of them
    undecided      otherwise; fewer than 3 seeds; fewer than 3 snapshots; snapshots so
                   far apart that in most members it rises together with another one
    """
    if len(result.rises_KI) == 0:
        return undecided('no converged member')
    rises_K = np.isfinite(result.rises_KI[:, 0])
    if not rises_K.any():
        return undecided('fewer than 3 snapshots, or no eigenvalue doubles')
    first_K = result.rises_KI[rises_K, 0]
    # One that never rises is later than all.
    others_KI = np.nan_to_num(result.rises_KI[rises_K, 1:], nan=np.inf)
    earliest_K = others_KI.min(1)
    seed_K = result.rises_seeds_K[rises_K]
    is_first_K, is_reversed_K = first_K < earliest_K, first_K > earliest_K
    verdict = judge(estimate_seed_share(is_first_K, seed_K), HALF)
    if estimate_seed_share(is_reversed_K, seed_K).low > HALF:
        verdict = OPPOSITE
    total = len(first_K)
    reversed_count = int(is_reversed_K.sum())
    together = int((first_K == earliest_K).sum())
    why = 'an interval covers its border'
    if together > HALF * total:
        verdict = UNDECIDED
        why = 'the snapshots are too far apart to tell which one rises first'
    gamma = format_gamma(result.rises_gamma)
    eigenvalues_looked_at = result.rises_KI.shape[1]
    return conclude(
        verdict=verdict,
        number=f'the largest rises first in {format_seed_share(is_first_K, seed_K)}',
        null=f'1 of {eigenvalues_looked_at} by chance',
        note=f'{gamma}; another one earlier in {reversed_count}, at the same snapshot '
        f'in {together}; left out, because it does not rise: {len(rises_K) - total}',
        count=len(np.unique(seed_K)),
        unit='seed',
        why=why,
    )


def _judge_below(low: float, high: float, border: float) -> Verdict:
    if high < border:
        return HOLDS
    return DOES_NOT_HOLD if low >= border else UNDECIDED


def _conclude_ends(
    found: Ends, verdict: Verdict, number: str, null: str, note: str
) -> Reading:
    is_known = bool(np.isfinite([found.large.mean, found.small.mean]).all())
    return conclude(
        verdict=verdict,
        number=number,
        null=null,
        note=f'{describe_ends(found)}; {note}',
        count=found.seeds,
        unit='seed',
        is_known=is_known,
    )
