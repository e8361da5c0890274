"""What the weights of a member or of a sweep say about a claim."""

import numpy as np

from analysis import complexity, condensation, eigenvalues, embedding
from analysis.report.readings.reading import Reading, format_gamma
from analysis.spectra import measures

CONDENSED = 1 / 4  # of the directions of Gaussian weights: fewer are few
SPREAD = 1 / 2  # of the same: more are many
QUANTILE = 0.95  # of random orders: a correlation above it is an order
FALLING = -0.8  # rank correlation with gamma
LOW_RANK = 0.25  # participation ratio as a share of the full rank
HIGH_RANK = 0.5
P_VALUE = 0.05


def read_condensation(
    inferential: condensation.Result, symmetric: condensation.Result
) -> Reading:
    """Few directions in the inferential member, not few in the symmetric one."""
    small_init = inferential.numbers['directions']
    large_init = symmetric.numbers['directions']
    null = inferential.null['directions'].mean()
    holds = small_init < null * CONDENSED and large_init > null * SPREAD
    return Reading(
        number=f'directions: inferential {small_init:.1f}, symmetric {large_init:.1f}',
        holds=holds,
        note=f'Gaussian weights: {null:.1f}',
    )


def read_embedding_order(
    inferential: embedding.Result, symmetric: embedding.Result
) -> Reading:
    """|Spearman's| of value and best component is above chance in the first alone."""
    small_init = inferential.numbers['rho']
    large_init = symmetric.numbers['rho']
    small_limit = np.quantile(inferential.null['rho'], QUANTILE)
    large_limit = np.quantile(symmetric.null['rho'], QUANTILE)
    ordered = small_init > small_limit and large_init <= large_limit
    return Reading(
        number=f'|ρ| with the value: inferential {small_init:.2f}, '
        f'symmetric {large_init:.2f}',
        holds=ordered,
        note=f'{QUANTILE:.0%} of random orders are below '
        f'{small_limit:.2f} and {large_limit:.2f}',
    )


def read_large_eigenvalues(result: eigenvalues.Result) -> Reading:
    """The participation ratio falls with gamma."""
    ratios_G = result.participation_G
    rho = measures.rank_correlation(result.gamma_G, ratios_G)
    first = format_gamma(result.gamma_G[0])
    last = format_gamma(result.gamma_G[-1])
    return Reading(
        number=f'participation ratio {ratios_G[0]:.1f} at {first}, '
        f'{ratios_G[-1]:.1f} at {last}',
        holds=rho < FALLING,
        note=f'rank correlation with γ {rho:.2f}',
    )


def read_first_rise(result: eigenvalues.Result) -> Reading | None:
    """The largest eigenvalue rises at an earlier snapshot than all the others."""
    rises = result.rises_I
    if len(result.steps_S) < 3 or np.isnan(rises).all():
        return None
    steps = []
    for step in rises:
        steps.append('–' if np.isnan(step) else f'{step:g}')
    later = rises[1:]
    known = later[np.isfinite(later)]
    listed = ', '.join(steps)
    return Reading(
        number=f'rise at steps {listed}',
        holds=(known > rises[0]).all(),
        note=f'{format_gamma(result.gamma)}; the largest eigenvalue first',
    )


def read_singular_values(result: eigenvalues.Result) -> Reading:
    """Few directions are used at a small initialization, most at a large one."""
    shares = [_share_of_rank(spectra) for spectra in result.singular_2NI]
    large_init, small_init = shares
    ends = []
    for gamma, share in zip(result.extremes, shares, strict=True):
        ends.append(f'{share:.0%} at {format_gamma(gamma)}')
    listed = ', '.join(ends)
    return Reading(
        number=f'participation ratio as a share of the full rank: {listed}',
        holds=small_init < LOW_RANK and large_init > HIGH_RANK,
        note='mean over the matrices',
    )


def read_stable_rank(result: complexity.Result) -> Reading:
    """Of the chosen matrix and of the mean over all: P3 does not name its matrix."""
    measure = complexity.MEASURES.index('stable rank')
    outcome = complexity.OUTCOMES.index('inferential')
    cell = (measure, outcome)
    rho = result.correlation_23[cell]
    rho_of_mean = result.all_correlation_23[cell]
    p = result.p_value_23[cell]
    p_of_mean = result.all_p_value_23[cell]
    negative = max(rho, rho_of_mean) < 0
    return Reading(
        number=f'rank correlation {rho:.2f} ({result.matrix}), '
        f'{rho_of_mean:.2f} (mean of the blocks)',
        holds=negative and max(p, p_of_mean) < P_VALUE,
        note=f'p = {p:.1g} and {p_of_mean:.1g}; {result.members} members',
    )


def _share_of_rank(spectra: np.ndarray) -> float:
    """Mean participation ratio over matrices [N, I], NaN beyond the rank of each."""
    shares = []
    for spectrum in spectra:
        known = spectrum[np.isfinite(spectrum)]
        shares.append(measures.participation_ratio(known) / len(known))
    return np.mean(shares)
