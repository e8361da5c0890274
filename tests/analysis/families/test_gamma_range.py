"""Planted transitions are found, with their width; without one there is none."""

import itertools

import numpy as np
import pytest

from analysis.families.readings import ranges
from analysis.members.table import list_converged
from analysis.p1 import gamma_range
from analysis.p1.gamma_range import BASELINE, Result, find_change, find_transition
from tests.support.drawing import draw_pixels

GAMMAS = np.array([0.2, 0.4, 0.6, 0.8, 1.0])


def test_a_transition_by_hand():
    # From 0 to 0.8: 10 % is 0.08 and 90 % is 0.72, on straight lines.
    values = np.array([0.0, 0.0, 0.4, 0.8, 0.8])
    np.testing.assert_allclose(find_transition(GAMMAS, values), (0.44, 0.76))
    np.testing.assert_allclose(find_transition(GAMMAS, 1 - values), (0.44, 0.76))


def test_what_comes_after_the_farthest_value_does_not_count():
    values = np.array([0.0, 0.0, 0.4, 0.8, 0.1])
    np.testing.assert_allclose(find_transition(GAMMAS, values), (0.44, 0.76))
    assert find_change(values) == 0.8 and find_change(1 - values) == -0.8


@pytest.mark.parametrize('values', [np.zeros(5), [0, 0.1, 0.2, 0.3, 0.4], [np.nan] * 5])
def test_a_small_change_is_no_transition(values):
    assert np.isnan(find_transition(GAMMAS, np.array(values, float))).all()


def make_result(width: float, baseline: float, seeds: int = 4) -> Result:
    """Straight rises from 0 to 1 around gamma 0.6, of these widths in all."""
    rows, values, ends = [], [], []
    for setting, full in (('norm=pre', width), (BASELINE, baseline)):
        for seed in range(seeds):
            start = 0.6 - full / 2 + 0.01 * seed
            curve = np.clip((GAMMAS - start) / full, 0, 1)
            for gamma, value in zip(GAMMAS, curve, strict=True):
                rows.append((gamma, seed, setting))
                values.append((value, 0.0, 1.0))
            inferential = find_transition(GAMMAS, curve)
            ends.append((setting, seed, [inferential, (np.nan, np.nan)], curve))
    gamma_M, seed_M, setting_M = map(np.array, zip(*rows, strict=True))
    return Result(
        members={
            'gamma': gamma_M,
            'seed': seed_M,
            'setting': setting_M,
            'train_loss': np.full(len(rows), 0.01),
            'converged': np.full(len(rows), True),
        },
        outcome_3M=np.array(values).T,
        setting_T=np.array([setting for setting, *_ in ends]),
        seed_T=np.array([seed for _, seed, *_ in ends]),
        gamma_22T=np.moveaxis(np.array([found for *_, found, _ in ends]), 0, -1),
        change_2T=np.array([[find_change(curve), 0.0] for *_, curve in ends]).T,
    )


def read_words(result: Result, read) -> str:
    return read(result, 'norm=pre').verdict.words


def test_a_narrower_transition_holds_a_wider_one_is_the_opposite():
    assert read_words(make_result(0.3, 0.7), ranges.read_narrower) == 'holds'
    assert read_words(make_result(0.7, 0.3), ranges.read_narrower) == 'opposite'
    assert read_words(make_result(0.5, 0.5), ranges.read_narrower) == 'does not hold'
    assert read_words(make_result(0.3, 0.7), ranges.read_trend) == 'holds'


def test_without_transitions_or_seeds_nothing_is_decided():
    result = make_result(0.3, 0.7)
    result.gamma_22T[0, :, result.setting_T == BASELINE] = np.nan
    reading = ranges.read_narrower(result, 'norm=pre')
    assert reading.verdict.words == 'undecided'
    assert reading.note.startswith('4 of 4 seeds change by 0.5 or more, 0 with one')
    few = make_result(0.3, 0.7, seeds=2)
    assert read_words(few, ranges.read_narrower) == 'undecided'


def test_a_flat_agreement_does_not_rise():
    result = make_result(0.3, 0.7)
    result.change_2T[:] = np.linspace(0.01, 0.02, result.change_2T.shape[1])
    assert read_words(result, ranges.read_trend) == 'does not hold'
    result.change_2T[:] *= -30
    assert read_words(result, ranges.read_trend) == 'opposite'


def test_of_sweeps_members_of_a_baseline_have_a_setting_of_their_own(finished):
    result = gamma_range.compute(finished, baseline=finished)
    settings = ['depth=1', 'depth=2', BASELINE]
    assert list(dict.fromkeys(result.members['setting'].tolist())) == settings
    assert len(result.members['seed']) == 16
    alone = gamma_range.compute(finished)
    np.testing.assert_array_equal(alone.outcome_3M, result.outcome_3M[:, :8])
    agreement = finished.results.agreement.sel(probe='unseen', mapping='inferential')
    of_member = agreement.sel(depth=2, gamma=0.8, seed=1).item()
    is_here = result.members['setting'] == 'depth=2'
    is_here &= (result.members['gamma'] == 0.8) & (result.members['seed'] == 1)
    assert result.outcome_3M[0, is_here].tolist() == [of_member]
    first = draw_pixels(alone, gamma_range)
    assert np.ptp(first) > 0
    np.testing.assert_array_equal(first, draw_pixels(alone, gamma_range))


def test_a_gamma_at_which_a_seed_has_not_converged_does_not_count(finished):
    members = make_result(0.3, 0.7).members
    is_setting = members['setting'] == 'norm=pre'
    gamma_M = members['gamma']
    assert list_converged(members, is_setting, gamma_M).tolist() == GAMMAS.tolist()
    is_open = is_setting & (members['gamma'] == 0.8) & (members['seed'] == 2)
    members['converged'][is_open] = False
    found = list_converged(members, is_setting, gamma_M)
    assert found.tolist() == [0.2, 0.4, 0.6, 1.0]
    # One gamma is no range, and none of this sweep's networks has converged.
    assert np.isnan(find_change(np.array([0.3])))
    assert not finished.results.converged.values.any()
    assert np.isnan(gamma_range.compute(finished).change_2T).all()


def test_every_pair_of_settings_is_told_apart():
    result = make_result(0.3, 0.7)
    pairs = set(zip(result.setting_T.tolist(), result.seed_T.tolist(), strict=True))
    assert pairs == set(itertools.product(('norm=pre', BASELINE), range(4)))
