"""How a figure's numbers decide a claim. The limits are ours: the papers show pictures."""

from typing import Any, NamedTuple

import numpy as np

from analysis import attention_flow, causal, complexity, cosine, tsne
from analysis.phase import SEEN_ENOUGH, SOLVED
from analysis.spectra import measures

PARALLEL = 0.8  # mean cosine that counts as "nearly parallel"
LOW = 0.4  # mean cosine that counts as "low"
CONTRAST = 0.1  # inside the boxes above outside, with the mean vector removed
NECESSARY = 0.5  # a cut that leaves less than this share of answers unchanged


class Reading(NamedTuple):
    """What a run says to a claim."""

    number: str
    holds: bool | None
    note: str = ''


UNKNOWN = Reading('–', None, 'this run does not hold what it takes')


def never(*results: Any) -> None:
    """For claims about settings that a sweep of gamma does not have."""


def reaches_inferential(diagram) -> Reading:
    return _reaches(diagram, 0)


def reaches_symmetric(diagram) -> Reading:
    return _reaches(diagram, 1)


def order_of_phases(diagram) -> Reading | None:
    """In the row with the highest inferential cell; undecided where a phase is not reached."""
    y = int(np.nanmax(diagram.fixed[0], axis=1).argmax())
    inferential, symmetric = (diagram.fixed[m][y] for m in (0, 1))
    at = [diagram.gamma[int(np.nanargmax(v))] for v in (symmetric, inferential)]
    number = f'symmetric at γ {at[0]:g}, inferential at γ {at[1]:g}'
    return Reading(
        number, bool(at[0] < at[1]), f'peaks, {diagram.row_name} {diagram.rows[y]}'
    )


def too_large(diagram) -> Reading:
    lowest = np.nanmin(diagram.seen_fixed[:, 0])
    number = f'held-out {lowest:.2f} at γ {diagram.gamma[0]:g}'
    return Reading(number, bool(lowest < SEEN_ENOUGH), 'the lowest row')


def flows(first: str, second: str):
    """Layer by layer, more than half of the attention takes the way the paper draws."""

    def read(flow) -> Reading | None:
        if len(flow.flows_N3) != 2:
            return None
        names = enumerate((first, second))
        paid = [flow.flows_N3[n, attention_flow.FLOWS.index(name)] for n, name in names]
        number = f'{first} {paid[0]:.2f}, then {second} {paid[1]:.2f}'
        return Reading(
            number, bool(min(paid) > 0.5), f'attention, {flow.number:,} sequences'
        )

    return read


def necessary(solution: str):
    """Each edge alone: cutting it changes most answers to the unseen pair."""

    def read(found) -> Reading | None:
        edges = [causal.name(edge) for edge in causal.MECHANISMS[solution]]
        if not set(edges) <= set(found.edges):
            return None
        unchanged = _unseen(found, found.unchanged_EP)
        left = [unchanged[found.edges.index(edge)] for edge in edges]
        number = f'at most {max(left):.2f} of the answers survive'
        return Reading(
            number, bool(max(left) < NECESSARY), f'unseen pair, {len(left)} edges cut'
        )

    return read


def sufficient(solution: str):
    """All other edges cut: the answers to unseen and held-out sequences stay."""

    def read(found) -> Reading | None:
        kept_P = found.only_unchanged_CP[found.mechanism_names.index(solution)]
        if np.isnan(kept_P).any():
            return None
        held, unseen = (
            kept_P[found.probe_names.index(p)] for p in ('seen_heldout', 'unseen')
        )
        note = f'circuit found: {"; ".join(found.circuit)}'
        holds = min(held, unseen) >= causal.FAITHFUL
        return Reading(
            f'unchanged: unseen {unseen:.2f}, held-out {held:.2f}', bool(holds), note
        )

    return read


def own_mechanism(found) -> Reading | None:
    """Of the members at a solution, those for which the mechanism of that name suffices."""
    counts = {}
    for solution in ('inferential', 'symmetric'):
        k = found.mechanism_names.index(solution)
        at = np.array([s == solution for s in found.solutions])
        counts[solution] = (
            int((found.unchanged_MC[at, k] >= causal.FAITHFUL).sum()),
            int(at.sum()),
        )
    if not all(total for _, total in counts.values()):
        return None
    number = ', '.join(f'{name} {n} of {total}' for name, (n, total) in counts.items())
    return Reading(
        number, all(n == total for n, total in counts.values()), 'two-layer members'
    )


def reverse_is_near(found) -> Reading:
    """At least half as many neighbours carry the reverse pair as the pair itself."""
    same, reverse = found.shares[0, :2]
    chance = found.chance[0, 1]
    number = f'same pair {same:.2f}, reverse {reverse:.2f} of the neighbours'
    holds = reverse >= same / 2 and reverse > 2 * chance
    return Reading(number, bool(holds), f'chance {chance:.2f}; {tsne.SPACES[0]}')


def parallel(found) -> Reading:
    """High where targets are equal, and higher than elsewhere once the common mean is removed."""
    return _boxes(
        found, 'v', lambda inside, gain: inside >= PARALLEL and gain > CONTRAST
    )


def not_parallel(found) -> Reading:
    return _boxes(found, 'v', lambda inside, gain: inside < LOW and gain <= CONTRAST)


def single_anchor(found) -> Reading:
    return _boxes(
        found, 'u', lambda inside, gain: inside >= PARALLEL and gain > CONTRAST
    )


def condenses(inferential, symmetric) -> Reading:
    """Few directions in the inferential member, not few in the symmetric one."""
    here, there = (r.numbers['directions'] for r in (inferential, symmetric))
    null = inferential.null['directions'].mean()
    number = f'directions: inferential {here:.1f}, symmetric {there:.1f}'
    return Reading(
        number, bool(here < null / 4 and there > null / 2), f'Gaussian {null:.1f}'
    )


def ordered(inferential, symmetric) -> Reading:
    """|Spearman's| of value and best component, above chance in the inferential member alone."""
    rho = [r.numbers['rho'] for r in (inferential, symmetric)]
    limit = [np.quantile(r.null['rho'], 0.95) for r in (inferential, symmetric)]
    number = f'|ρ| of value: inferential {rho[0]:.2f}, symmetric {rho[1]:.2f}'
    holds = rho[0] > limit[0] and rho[1] <= limit[1]
    return Reading(
        number, bool(holds), f'95 % of random orders: {limit[0]:.2f}, {limit[1]:.2f}'
    )


def few_eigenvalues(found) -> Reading:
    rho = measures.rank_correlation(found.gamma_G, found.participation_G)
    ends = f'{found.participation_G[0]:.1f} at γ {found.gamma_G[0]:g}, '
    ends += f'{found.participation_G[-1]:.1f} at γ {found.gamma_G[-1]:g}'
    return Reading(
        f'participation ratio {ends}', bool(rho < -0.8), f'ρ with γ {rho:.2f}'
    )


def largest_first(found) -> Reading | None:
    if len(found.steps_S) < 3 or np.isnan(found.rises_I).all():
        return None
    rises = ', '.join('–' if np.isnan(s) else f'{s:g}' for s in found.rises_I)
    later = found.rises_I[1:]
    holds = (later[np.isfinite(later)] > found.rises_I[0]).all()
    return Reading(
        f'rise at steps {rises}', bool(holds), f'γ {found.gamma:g}, largest first'
    )


def falls_off(found) -> Reading:
    """Directions used, as a share of the full rank: few at one end of gamma, most at the other."""
    shares = []
    for spectra in found.singular_2NI:
        known = [s[np.isfinite(s)] for s in spectra]
        shares.append(
            np.mean([measures.participation_ratio(s) / len(s) for s in known])
        )
    large, small = shares
    ends = [
        f'{share:.0%} at γ {gamma:g}'
        for share, gamma in zip(shares, found.extremes, strict=True)
    ]
    number = f'participation ratio, share of full rank: {", ".join(ends)}'
    return Reading(
        number, bool(small < 0.25 and large > 0.5), 'participation ratio, mean'
    )


def low_rank_reasons(found) -> Reading:
    """Of the chosen matrix and of the mean over all: P3 does not say which matrix it took."""
    at = (
        complexity.MEASURES.index('stable rank'),
        complexity.OUTCOMES.index('inferential'),
    )
    rho = found.correlation_23[at], found.all_correlation_23[at]
    p = found.p_value_23[at], found.all_p_value_23[at]
    number = f'rank correlation {rho[0]:.2f} ({found.matrix}), {rho[1]:.2f} (mean of the blocks)'
    note = f'p {p[0]:.1g} and {p[1]:.1g}, {found.members} members'
    return Reading(number, bool(max(rho) < 0 and max(p) < 0.05), note)


def _reaches(diagram, mapping: int) -> Reading:
    """The best cell of one mapping, at one learning rate for all."""
    best = np.nanmax(diagram.fixed[mapping])
    y, x = np.argwhere(diagram.fixed[mapping] == best)[0]
    number = (
        f'{best:.2f} at {diagram.row_name} {diagram.rows[y]}, γ {diagram.gamma[x]:g}'
    )
    return Reading(number, bool(best >= SOLVED), 'highest cell, mean over seeds')


def _unseen(found, values_XP):
    return values_XP[:, found.probe_names.index('unseen')]


def _boxes(found, name: str, holds) -> Reading:
    """Mean cosine inside and outside the boxes (over both triangles), and with the mean removed."""
    n = cosine.NAMES.index(name)
    inside, outside = found.inside[n].mean(), found.outside[n].mean()
    gain, low, high = found.difference_centred[n]
    note = f'mean vector removed: {gain:+.2f} inside [{low:.2f}, {high:.2f}]'
    number = f'cosine {inside:.2f} inside the boxes, {outside:.2f} outside'
    return Reading(number, bool(holds(inside, gain)), note)
