"""Claims about weight decay, gamma and the rate (P3 Figs 3, 5 C; P1 Figs 14 to 16).

A difference or a ratio is of two cells of the map, seed by seed; both need MIN_SEEDS
converged members. A trend is Spearman's correlation of a reading with an axis, over the
members of one seed with the same value of the other axis, averaged over these. Trends
along the rate are of all trained members, as in P1: low rates do not converge in the
same time, and leaving them out would leave no axis. Those of converged members stand
beside them: a trend that these alone do not show decides nothing, nor does one where
fewer than half have converged.
"""

import numpy as np

from analysis.members.statistics import MIN_SEEDS, average_ratios
from analysis.old_claims.borders import (
    conclude_seeds,
    estimate,
    format_mean,
    judge,
)
from analysis.old_claims.reading import Reading, undecided
from analysis.old_claims.verdicts import DOES_NOT_HOLD, HOLDS, OPPOSITE, Verdict
from analysis.p3.decay_map import PHASES, Result
from analysis.spectra.measures import rank_correlation

BIG = 0.5  # of an agreement: from memory to reasoning
FLAT = 0.1  # of an agreement: less is no difference
LOWER = 1.25  # times: a stable rank that is lower by less is not lower
TREND = 0.3  # a rank correlation that is surely weaker is no trend
SMALL_DECAY = 0.01  # P3's value in the panel of its sharp transition (Fig 3 A)


def read_gamma_composes(result: Result, setting: str) -> Reading:
    """At decay 0.01 the inferential agreement is higher at the largest gamma.

    holds          the interval of the difference to the smallest is above BIG
    opposite       it is below 0
    does not hold  it is between
    """
    y = _find_small_decay(result)
    last_x = len(result.column_X) - 1
    return _read_difference(
        result,
        'inferential',
        first=(y, 0),
        last=(y, last_x),
        border=BIG,
        opposite=0.0,
    )


def read_decay_composes(result: Result, setting: str) -> Reading:
    """At the smallest gamma, more decay makes the inferential agreement higher.

    The largest decay at which MIN_SEEDS members converge, against decay 0.01.

    holds, opposite  the interval of the difference is above FLAT, below -FLAT
    does not hold    it is below FLAT
    """
    small_y = _find_small_decay(result)
    large_y = _find_largest_decay(result, 0)
    return _read_difference(
        result,
        'inferential',
        first=(small_y, 0),
        last=(large_y, 0),
        border=FLAT,
        opposite=-FLAT,
    )


def read_rank_falls(result: Result, setting: str, along: str) -> Reading:
    """The stable rank is lower at the largest gamma (decay 0.01), or at more decay.

    holds          the interval of the ratio first / last is above LOWER
    opposite       it is below 1 / LOWER
    does not hold  it is below LOWER
    """
    y = _find_small_decay(result)
    first = (y, 0)
    last = (y, len(result.column_X) - 1)
    if along == 'decay':
        last = (_find_largest_decay(result, 0), 0)
    values, note, few = _pair_cells(result, 'stable rank', first, last)
    first_rank, last_rank = values
    ratio = first_rank / last_rank
    found = average_ratios(ratio)
    means = f'{first_rank.mean():.1f} against {last_rank.mean():.1f}'
    return _conclude(
        judge(found, LOWER, opposite=1 / LOWER),
        number=f'stable rank of {result.matrix} {means}; ratio {format_mean(found)}',
        null=f'ratio 1; lower: above {LOWER:g}',
        note=note,
        values=ratio,
        few=few,
    )


def read_phases(result: Result, setting: str) -> Reading:
    """Every phase of P3 occurs, and along gamma they come in its order.

    Of converged members. The trend is that of the phase (1, 2a, 2b, 3) with gamma.

    holds          each phase has MIN_SEEDS members, and the trend is surely above BIG
    opposite       the trend is surely below -BIG
    does not hold  a phase has fewer, or the trend is surely below BIG
    """
    is_counted = result.converged_YXS
    counts = []
    parts = []
    for i, phase in enumerate(PHASES):
        is_phase = result.phase_YXS[is_counted] == i
        counts.append(is_phase.sum())
        parts.append(f'{phase}: {counts[-1]}')
    number = ', '.join(parts)
    trends = _find_trends(result, result.phase_YXS, 'column', is_counted)
    found = estimate(trends)
    verdict: Verdict = judge(found, BIG, opposite=-BIG)
    is_lacking = min(counts) < MIN_SEEDS
    if verdict is not OPPOSITE and is_lacking:
        verdict = DOES_NOT_HOLD
    why = 'the interval of the trend covers a border, or it is constant'
    if np.isnan(trends).any() and is_lacking:  # one phase only: no trend, no phases
        return Reading(
            f'members by phase: {number}; no trend',
            DOES_NOT_HOLD,
            'all four occur',
            f'{is_counted.sum()} converged members',
        )
    return conclude_seeds(
        verdict,
        number=f'members by phase: {number}; trend along γ {format_mean(found)}',
        null='trend 0',
        note=f'{is_counted.sum()} of {is_counted.size} members converged',
        values=trends,
        why=why,
    )


def read_commutes(result: Result, setting: str) -> Reading:
    """Commutativity before reasoning: it is higher than chance where nothing composes.

    Of converged members with less than FLAT on the unseen pair (a sum is the same both
    ways round), at the middle gammas (neither the smallest nor the largest),
    commutativity less the chance of it. Held-out answers may be wrong: P3's phase 2b,
    in which they are right, is counted by `read_phases`.

    holds          the interval over seeds is above FLAT
    does not hold  it is below FLAT
    """
    is_chosen = result.converged_YXS.copy()
    is_chosen[:, [0, -1]] = False
    is_chosen &= result.read('inferential') < FLAT
    if not is_chosen.any((0, 1)).all():
        return undecided('a seed has no such member', null='chance of that answer')
    commutes_S = _average_cells(result.read('commutativity'), is_chosen)
    chance_S = _average_cells(result.read('chance of that'), is_chosen)
    found = estimate(commutes_S - chance_S)
    return conclude_seeds(
        judge(found, FLAT),
        number=f'{commutes_S.mean():.2f} of answers equal; above chance by '
        f'{format_mean(found)}',
        null=f'another pair gets that answer: {chance_S.mean():.2f}',
        note=f'{is_chosen.sum()} members at the middle gammas',
        values=commutes_S,
    )


def _average_cells(values_YXS: np.ndarray, is_chosen: np.ndarray) -> np.ndarray:
    """The mean over the chosen cells, by seed, [S]."""
    chosen_YXS = np.where(is_chosen, values_YXS, np.nan)
    return np.nanmean(chosen_YXS, axis=(0, 1))


def read_oracle(result: Result, setting: str) -> Reading:
    """The best record is higher than the last one: P3's reading is an oracle.

    Of all trained members, converged or not; the mean over cells, by seed.

    holds          the interval of the difference is above FLAT
    does not hold  it is below FLAT
    """
    last = result.read('inferential')
    gain = result.read('inferential, best record') - last
    gain_S = np.nanmean(gain, axis=(0, 1))
    found = estimate(gain_S)
    largest = np.nanmax(np.nanmean(gain, axis=-1))
    return conclude_seeds(
        judge(found, FLAT),
        number=f'best less last {format_mean(found)}; at most {largest:.2f} in a cell',
        null='a difference of 0',
        note=f'{np.isfinite(last).sum()} members',
        values=gain_S,
    )


def read_trend(
    result: Result, setting: str, name: str, along: str, sign: int = 1
) -> Reading:
    """A reading rises (falls, with sign -1) along the rate or the decay.

    holds, opposite  the interval of the trend over seeds is above TREND, below -TREND
    does not hold    it is below TREND
    """
    values_YXS = result.read(name)
    converged = result.converged_YXS
    is_trained = np.isfinite(values_YXS)
    trends = sign * _find_trends(result, values_YXS, along, is_trained)
    found = estimate(trends)
    verdict = judge(found, TREND, opposite=-TREND)
    of_converged = sign * _find_trends(result, values_YXS, along, converged)
    of_these = estimate(of_converged)
    lowest = np.nanmin(values_YXS)
    highest = np.nanmax(values_YXS)
    verb = 'rising' if sign > 0 else 'falling'
    is_trend = verdict in (HOLDS, OPPOSITE)
    few = ''
    if converged.sum() < is_trained.sum() / 2:
        few = 'most members have not converged'
    elif is_trend and judge(of_these, TREND, opposite=-TREND) is not verdict:
        few = 'the converged members alone do not show it'
    return _conclude(
        verdict,
        number=f'{name} {lowest:.2f} to {highest:.2f}; {verb}: {format_mean(found)}',
        null=f'correlation 0; a trend: above {TREND:g}',
        note=f'{converged.sum()} of {is_trained.sum()} members converged; of these '
        f'alone {format_mean(of_these)}',
        values=trends,
        few=few,
    )


def _find_trends(
    result: Result, values_YXS: np.ndarray, along: str, is_counted: np.ndarray
) -> np.ndarray:
    """Mean rank correlation of a reading with an axis in every seed, [S].

    NaN in a seed in which no line of the other axis has three members that count, with
    different readings.
    """
    known = np.where(is_counted, values_YXS, np.nan)
    axis_A = result.column_X
    lines_LAS = known
    if along == 'decay':
        axis_A = result.decay_Y
        lines_LAS = known.swapaxes(0, 1)
    trends = []
    for s in range(known.shape[-1]):
        correlations = []
        for line_A in lines_LAS[..., s]:
            rho = rank_correlation(axis_A, line_A)
            if np.isfinite(rho):
                correlations.append(rho)
        trends.append(np.mean(correlations) if correlations else np.nan)
    return np.array(trends)


def _find_small_decay(result: Result) -> int:
    """The row of the decay that is nearest to SMALL_DECAY."""
    return int(np.abs(result.decay_Y - SMALL_DECAY).argmin())


def _find_largest_decay(result: Result, x: int) -> int:
    """The row of the largest decay at which MIN_SEEDS members converge; else the last.

    The decays are in rising order.
    """
    converged_Y = result.converged_YXS[:, x].sum(-1)
    enough = np.flatnonzero(converged_Y >= MIN_SEEDS)
    if len(enough) == 0:
        return len(result.decay_Y) - 1
    return int(enough[-1])


Cell = tuple[int, int]


def _pair_cells(
    result: Result, name: str, first: Cell, last: Cell
) -> tuple[list[np.ndarray], str, str]:
    """(the reading of both cells by seed, what they are, why they decide nothing).

    Only seeds that converged in both count, if there are MIN_SEEDS of them.
    """
    reading_YXS = result.read(name)
    first_S = reading_YXS[first]
    last_S = reading_YXS[last]
    is_counted_S = result.converged_YXS[first] & result.converged_YXS[last]
    count = is_counted_S.sum()
    few = ''
    if count < MIN_SEEDS:
        few = f'{count} of {is_counted_S.size} seeds converged in both cells'
        is_counted_S = np.isfinite(first_S + last_S)
    notes = [
        _describe_cell(result, first),
        _describe_cell(result, last),
        f'{is_counted_S.sum()} seeds',
    ]
    values = [first_S[is_counted_S], last_S[is_counted_S]]
    return values, '; '.join(notes), few


def _describe_cell(result: Result, cell: Cell) -> str:
    """'γ 0.3, decay 0.01: train loss 0.1'."""
    y, x = cell
    gamma = result.column_X[x]
    decay = result.decay_Y[y]
    loss = np.nanmean(result.train_loss_YXS[cell])
    return f'γ {gamma:g}, decay {decay:g}: train loss {loss:.2g}'


def _read_difference(
    result: Result, name: str, first: Cell, last: Cell, border: float, opposite: float
) -> Reading:
    if first == last:
        return undecided('the same cell twice: more decay does not converge')
    values, note, few = _pair_cells(result, name, first, last)
    before, after = values
    difference = after - before
    found = estimate(difference)
    return _conclude(
        judge(found, border, opposite=opposite),
        number=f'{name} {before.mean():.2f}, then {after.mean():.2f}; '
        f'difference {format_mean(found)}',
        null=f'a difference of 0; more: above {border:g}',
        note=note,
        values=difference,
        few=few,
    )


def _conclude(
    verdict: Verdict,
    number: str,
    null: str,
    note: str,
    values: np.ndarray,
    few: str,
) -> Reading:
    if few:
        return undecided(few, number, null, note)
    return conclude_seeds(verdict, number, null, note, values)
