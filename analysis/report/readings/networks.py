"""What all converged networks of a sweep, each as a whole, say about a claim."""

import numpy as np

from analysis.members.correlation import correlation_interval
from analysis.old_claims.borders import (
    HALF,
    combine,
    conclude,
    estimate_seed_share,
    format_negative,
    format_seed_share,
    judge_correlation,
)
from analysis.old_claims.reading import Reading, undecided
from analysis.old_claims.verdicts import DOES_NOT_HOLD, HOLDS, OPPOSITE, UNDECIDED
from analysis.p1 import lazy
from analysis.p3 import complexity

LAZY = 1 / 2  # of the distance of two untrained networks: nearer is lazy
NONE_OF = 6  # seeds: if none of so many does it, it does not happen


def read_stable_rank(result: complexity.Result) -> Reading:
    """Of the chosen matrix and of the mean over all: P3 does not name its matrix.

    Members of one depth (or weight decay), compared within seeds. P-values are
    corrected for all correlations of the figure (Holm).

    holds          both correlations are negative (`borders.judge_correlation`)
    opposite       both are positive
    does not hold  otherwise, if one is surely not strongly negative
    undecided      otherwise; fewer than 3 seeds; one gamma; NaN, as where all members
                   have the same outcome
    """
    members = len(result.gamma_M)
    where = f'{result.row_name.replace("_", " ")} {result.row}'
    note = f'{members} converged members, {where}; {result.left_out} left out'
    if len(np.unique(result.gamma_M)) < 2:
        why = 'one gamma only' if members else 'no converged member'
        return undecided(why, note=note)
    measure = complexity.MEASURES.index('stable rank')
    outcome = complexity.OUTCOMES.index('inferential')
    cell = (measure, outcome)
    sources = (
        (result.matrix, result.complexity_2M, result.correlation_23, result.p_value_23),
        (
            'mean of the blocks',
            result.all_complexity_2M,
            result.all_correlation_23,
            result.all_p_value_23,
        ),
    )
    inferential_M = result.outcome_3M[outcome]
    parts = []
    numbers = []
    for name, complexity_2M, correlation_23, p_value_23 in sources:
        simplicity_M = -complexity_2M[measure]
        interval = correlation_interval(simplicity_M, inferential_M, result.seed_M)
        rho = -correlation_23[cell]
        p = p_value_23[cell]
        parts.append(judge_correlation(rho, p, interval))
        numbers.append(f'{format_negative(rho, interval)} ({name}), p = {p:.1g}')
    seeds = len(np.unique(result.seed_M))
    is_known = bool(np.isfinite(result.correlation_23[cell]))
    return conclude(
        verdict=combine(parts),
        number=f'rank correlation {"; ".join(numbers)}',
        null=f'0; p corrected for {result.compared} correlations',
        note=f'{note}; {seeds} seeds',
        count=seeds,
        unit='seed',
        is_known=is_known,
    )


def read_lazy(result: lazy.Result) -> Reading:
    """No converged member is much nearer to its own start than to another start.

    The null is the distance of two independent untrained networks of the same gamma. A
    member is lazy if its own distance is below LAZY of that.

    holds          no member of NONE_OF or more seeds is lazy
    opposite       most are (the interval, which is over seeds, is above HALF)
    does not hold  otherwise, if one is
    undecided      none of fewer seeds; fewer than 3 seeds; NaN
    """
    converged_M = result.converged_M
    distance_M = result.lazy_M[converged_M]
    null_M = result.null_M[converged_M]
    total = len(distance_M)
    if total == 0:
        return undecided('no converged member')
    is_lazy_M = distance_M < LAZY * null_M
    seed_M = result.points['seed'][converged_M]
    seeds = len(np.unique(seed_M))
    if estimate_seed_share(is_lazy_M, seed_M).low > HALF:
        verdict = OPPOSITE
    elif is_lazy_M.any():
        verdict = DOES_NOT_HOLD
    else:
        verdict = HOLDS if seeds >= NONE_OF else UNDECIDED
    is_known = bool(np.isfinite(distance_M + null_M).all())
    return conclude(
        verdict=verdict if is_known else UNDECIDED,
        number=f'{format_seed_share(is_lazy_M, seed_M)} lazy; distance from the start '
        f'{distance_M.min():.2f} to {distance_M.max():.2f}',
        null=f'two untrained networks: {null_M.min():.2f} to {null_M.max():.2f}',
        note=f'{total} converged members, {result.number} sequences',
        count=seeds,
        unit='seed',
        is_known=is_known,
        why=f'none of {seeds} seeds; at least {NONE_OF} needed to say that none is',
    )
