"""Claims about weights: planted sweeps that agree, contradict, or say nothing."""

import math
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

from analysis.members.correlation import correct_for_many, correlations
from analysis.old_claims.reading import Reading
from analysis.old_claims.verdicts import DOES_NOT_HOLD, HOLDS, OPPOSITE, UNDECIDED
from analysis.report.readings import networks, weights

NAN = math.nan
GAMMAS = (0.3, 0.6, 0.9)
SEEDS = 4


def make_points(gammas=GAMMAS, seeds: int = SEEDS) -> dict[str, np.ndarray]:
    """One member for every gamma and seed, of depth 2."""
    gamma_M = np.repeat(gammas, seeds)
    return {
        'depth': np.full(len(gamma_M), 2),
        'gamma': gamma_M,
        'seed': np.tile(np.arange(seeds), len(gammas)),
    }


def plant(
    points: dict[str, np.ndarray], value: Callable[[float], float], noise: float = 0.01
) -> np.ndarray:
    """value(gamma) of every member, with a little noise from its seed."""
    values = []
    for gamma, seed in zip(points['gamma'], points['seed'], strict=True):
        values.append(value(gamma) + noise * (seed % 3 - 1))
    return np.array(values)


def falls(gamma: float) -> float:
    """0.9, 0.5 and 0.1 at GAMMAS."""
    return 0.9 - 0.8 * (gamma - 0.3) / 0.6


def rises(gamma: float) -> float:
    return 1 - falls(gamma)


def stay_high(gamma: float) -> float:
    return 0.9


def stay_low(gamma: float) -> float:
    return 0.1


def be_unknown(gamma: float) -> float:
    return NAN


def read_condensation(value, gammas=GAMMAS, seeds=SEEDS, noise=0.01) -> Reading:
    points = make_points(gammas, seeds)
    share_M = plant(points, value, noise)
    result = SimpleNamespace(
        matrix='block_0/W_Q',
        points=points,
        directions_M=30 * share_M,
        gaussian_M=np.full(len(share_M), 30.0),
    )
    return weights.read_condensation(result)


def read_embedding_order(value, gammas=GAMMAS, seeds=SEEDS, noise=0.01) -> Reading:
    """Ordered where the value is low: the correlation is one minus it."""
    points = make_points(gammas, seeds)
    rho_M = 1 - plant(points, value, noise)
    result = SimpleNamespace(
        matrix='W_embed',
        points=points,
        rho_M=rho_M,
        bound_M=np.full(len(rho_M), 0.4),
    )
    return weights.read_embedding_order(result)


def make_spectra(value, gammas=GAMMAS, seeds=SEEDS, noise=0.01) -> SimpleNamespace:
    points = make_points(gammas, seeds)
    share_M = plant(points, value, noise)
    return SimpleNamespace(
        points=points,
        rank_share_M=0.7 * share_M,
        untrained_rank_share_M=np.full(len(share_M), 0.7),
        participation_M=40 * share_M,
        untrained_M=np.full(len(share_M), 40.0),
    )


def read_singular_values(value, gammas=GAMMAS, seeds=SEEDS, noise=0.01) -> Reading:
    return weights.read_singular_values(make_spectra(value, gammas, seeds, noise))


ENDS = [read_condensation, read_embedding_order, read_singular_values]


@pytest.mark.parametrize('read', ENDS)
def test_few_at_a_small_initialization_and_many_at_a_large_one(read):
    assert read(falls).verdict is HOLDS
    assert read(rises).verdict is OPPOSITE
    for flat in (stay_high, stay_low):
        assert read(flat).verdict is DOES_NOT_HOLD
    assert read(falls, noise=0.8).verdict is UNDECIDED


@pytest.mark.parametrize('read', ENDS)
def test_without_two_ends_of_three_seeds_it_is_undecided(read):
    cases = (
        ({'gammas': ()}, 'no converged member'),
        ({'gammas': (0.3,)}, 'one gamma only'),
        ({'seeds': 2}, 'fewer than two γ with 3 converged seeds'),
    )
    for changes, why in cases:
        reading = read(falls, **changes)
        assert reading.verdict is UNDECIDED
        assert reading.note == why
    unknown = read(be_unknown)
    assert unknown.verdict is UNDECIDED
    assert unknown.note.startswith('a number is NaN')


def test_the_ends_are_shown_with_their_null():
    reading = read_condensation(falls)
    assert reading.number.startswith('directions: 26.9 [26.')
    assert ' at γ 0.3, 2.9 [2.' in reading.number
    assert reading.null == 'Gaussian weights: 30.0; few: below 7.5'
    assert reading.note == (
        '8 converged members at these γ, 4 seeds or more; block_0/W_Q'
    )


FIVE_GAMMAS = (0.3, 0.45, 0.6, 0.75, 0.9)


@pytest.mark.parametrize(
    ('value', 'changes', 'expected'),
    [
        (falls, {}, HOLDS),
        (rises, {}, OPPOSITE),
        (stay_high, {'noise': 0.0}, UNDECIDED),  # nothing varies: no correlation
        (falls, {'gammas': (0.3, 0.9), 'seeds': 3}, UNDECIDED),  # p cannot be small
        (falls, {'gammas': (0.3,)}, UNDECIDED),
        (falls, {'seeds': 2}, UNDECIDED),
        (be_unknown, {}, UNDECIDED),
    ],
)
def test_the_participation_ratio_falls_with_gamma(value, changes, expected):
    result = make_spectra(value, **({'gammas': FIVE_GAMMAS} | changes))
    reading = weights.read_large_eigenvalues(result)
    assert reading.verdict is expected, reading


def test_a_ratio_without_a_trend_does_not_hold():
    result = make_spectra(stay_high, FIVE_GAMMAS, seeds=8)
    rng = np.random.default_rng(0)
    result.participation_M = 40 * (0.9 + 0.05 * rng.normal(size=40))
    reading = weights.read_large_eigenvalues(result)
    assert reading.verdict is DOES_NOT_HOLD, reading


def test_a_ratio_above_the_untrained_one_does_not_hold():
    result = make_spectra(falls, FIVE_GAMMAS)
    result.untrained_M = np.full(len(result.untrained_M), 1.0)
    reading = weights.read_large_eigenvalues(result)
    assert reading.verdict is DOES_NOT_HOLD
    assert 'rank correlation with γ -1.00' in reading.number
    assert reading.null == 'untrained 1.0 at every γ'


def make_rises(*rows: list[float], seeds: list[int] | None = None) -> SimpleNamespace:
    """Members with these steps at which the leading eigenvalues rise."""
    if seeds is None:
        seeds = list(range(len(rows)))
    return SimpleNamespace(
        rises_KI=np.array(rows).reshape(len(rows), 3),
        rises_gamma=0.9,
        rises_seeds_K=np.array(seeds),
    )


FIRST = [1.0, 2.0, NAN]  # the last one never rises
TOGETHER = [2.0, 2.0, 3.0]
LATER = [3.0, 2.0, 1.0]
NEVER = [NAN, NAN, NAN]


@pytest.mark.parametrize(
    ('result', 'expected'),
    [
        (make_rises(*[FIRST] * 5), HOLDS),
        (make_rises(*[LATER] * 5), OPPOSITE),
        (make_rises(*[FIRST] * 2, *[LATER] * 5, *[TOGETHER] * 5), DOES_NOT_HOLD),
        (make_rises(*[TOGETHER] * 5), UNDECIDED),  # the snapshots cannot tell
        (make_rises(FIRST, FIRST, FIRST, LATER), UNDECIDED),
        (make_rises(FIRST, FIRST), UNDECIDED),
        (make_rises(*[FIRST] * 5, seeds=[0, 0, 0, 1, 1]), UNDECIDED),
        (make_rises(*[NEVER] * 5), UNDECIDED),  # also without three snapshots
        (make_rises(), UNDECIDED),
    ],
)
def test_the_largest_eigenvalue_must_rise_alone(result, expected):
    reading = weights.read_first_rise(result)
    assert reading.verdict is expected, reading


def test_a_member_without_a_rise_is_left_out():
    reading = weights.read_first_rise(make_rises(*[FIRST] * 4, NEVER))
    assert reading.number == 'the largest rises first in 4 of 4 [0.51, 1.00]'
    assert reading.null == '1 of 3 by chance'
    assert reading.note.endswith('left out, because it does not rise: 1')


def make_complexity(
    rank: Callable[[float, np.ndarray], np.ndarray],
    gammas: tuple[float, ...] = GAMMAS,
    seeds: int = 8,
) -> SimpleNamespace:
    """Stable ranks rank(agreement, noise) of members that are inferential by gamma."""
    points = make_points(gammas, seeds)
    rng = np.random.default_rng(0)
    noise_M = rng.normal(size=len(points['gamma']))
    inferential_M = plant(points, rises, noise=0.05)
    rank_M = rank(inferential_M, noise_M)
    # Two measures and three outcomes: the rest is noise.
    complexity_2M = np.stack([rank_M, noise_M])
    outcome_3M = np.stack([inferential_M, *rng.normal(size=(2, len(rank_M)))])
    tests = correlations(complexity_2M, outcome_3M, 2_000, strata_M=points['seed'])
    corrected = correct_for_many(tests.p_value_XY)
    return SimpleNamespace(
        matrix='block_0/W_Q',
        row_name='depth',
        row='2',
        gamma_M=points['gamma'],
        seed_M=points['seed'],
        complexity_2M=complexity_2M,
        outcome_3M=outcome_3M,
        correlation_23=tests.correlation_XY,
        p_value_23=corrected,
        all_complexity_2M=complexity_2M,
        all_correlation_23=tests.correlation_XY,
        all_p_value_23=corrected,
        compared=12,
        left_out=3,
    )


def rank_against(inferential, noise):
    return 10 - 8 * inferential + 0.1 * noise


def rank_with(inferential, noise):
    return 2 + 8 * inferential + 0.1 * noise


def rank_by_chance(inferential, noise):
    return 5 + noise


def rank_equally(inferential, noise):
    return 5 + 0 * noise


def rank_unknown(inferential, noise):
    return NAN * noise


@pytest.mark.parametrize(
    ('result', 'expected'),
    [
        (make_complexity(rank_against), HOLDS),
        (make_complexity(rank_with), OPPOSITE),
        (make_complexity(rank_by_chance, seeds=20), DOES_NOT_HOLD),
        (make_complexity(rank_equally), UNDECIDED),
        (make_complexity(rank_unknown), UNDECIDED),
        (make_complexity(rank_against, seeds=2), UNDECIDED),
        (make_complexity(rank_against, gammas=(0.9,)), UNDECIDED),
        (make_complexity(rank_against, gammas=()), UNDECIDED),
    ],
)
def test_a_low_stable_rank_goes_with_the_inferential_solution(result, expected):
    reading = networks.read_stable_rank(result)
    assert reading.verdict is expected, reading


def test_the_stable_rank_names_its_depth_and_its_correction():
    reading = networks.read_stable_rank(make_complexity(rank_against))
    assert reading.null == '0; p corrected for 12 correlations'
    assert reading.note == '24 converged members, depth 2; 3 left out; 8 seeds'
    one = networks.read_stable_rank(make_complexity(rank_against, gammas=(0.9,)))
    assert one.note.startswith('one gamma only')
    equal = networks.read_stable_rank(make_complexity(rank_equally))
    assert equal.note.startswith('a number is NaN')


def make_lazy(
    distances: list[float], null: float = 0.6, converged: bool = True
) -> SimpleNamespace:
    count = len(distances)
    return SimpleNamespace(
        lazy_M=np.array(distances),
        null_M=np.full(count, null),
        converged_M=np.full(count, converged),
        points={'seed': np.arange(count)},
        number=48,
    )


@pytest.mark.parametrize(
    ('result', 'expected'),
    [
        (make_lazy([0.5] * 8), HOLDS),
        (make_lazy([0.01] * 8), OPPOSITE),
        (make_lazy([0.01, *[0.5] * 7]), DOES_NOT_HOLD),
        # The same distances are lazy where two networks are further apart.
        (make_lazy([0.4] * 8, null=0.9), OPPOSITE),
        (make_lazy([0.4] * 8, null=0.1), HOLDS),
        (make_lazy([0.5] * 4), UNDECIDED),  # too few to say that none is
        (make_lazy([0.5, 0.01]), UNDECIDED),
        (make_lazy([NAN, *[0.5] * 7]), UNDECIDED),
        (make_lazy([0.5] * 8, converged=False), UNDECIDED),
    ],
)
def test_no_network_is_lazy(result, expected):
    reading = networks.read_lazy(result)
    assert reading.verdict is expected, reading


def test_an_open_reading_says_what_is_missing():
    together = weights.read_first_rise(make_rises(*[TOGETHER] * 5))
    assert together.note.startswith('the snapshots are too far apart')
    few = networks.read_lazy(make_lazy([0.5] * 4))
    assert few.note.startswith('none of 4 seeds; at least 6 needed')
    several = make_lazy([0.5] * 8)
    several.points['seed'] %= 4
    assert networks.read_lazy(several).verdict is UNDECIDED
