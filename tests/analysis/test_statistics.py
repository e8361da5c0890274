"""Intervals and p-values, against published values and what they must cover."""

import math

import numpy as np
import pytest
from scipy import stats

from analysis.members.statistics import (
    bootstrap_interval,
    mean_interval,
    newcombe_interval,
    permutation_p,
    wilson_interval,
)


@pytest.mark.parametrize(('successes', 'total'), [(0, 5), (3, 10), (7, 7), (81, 263)])
def test_wilsons_interval_is_that_of_scipy(successes, total):
    expected = stats.binomtest(successes, total).proportion_ci(method='wilson')
    assert wilson_interval(successes, total) == pytest.approx(expected, abs=1e-12)


def test_newcombes_interval_is_the_published_one():
    """Newcombe 1998, Statistics in Medicine 17, table II, method 10."""
    interval = newcombe_interval(56, 70, 48, 80)
    assert interval == pytest.approx((0.0524, 0.3339), abs=1e-4)
    interval = newcombe_interval(10, 10, 0, 20)
    assert interval == pytest.approx((0.6791, 1.0), abs=1e-4)
    swapped = newcombe_interval(48, 80, 56, 70)
    assert swapped == pytest.approx((-0.3339, -0.0524), abs=1e-4)


def test_without_members_every_proportion_is_possible():
    assert wilson_interval(0, 0) == (0, 1)
    assert newcombe_interval(3, 3, 0, 0) == (-1, 1)


def test_the_interval_of_a_mean_needs_three_values():
    known = mean_interval([1.0, 2.0, 3.0, np.nan])
    assert known == pytest.approx((2, 2 - 4.3027 / 3**0.5, 2 + 4.3027 / 3**0.5), 1e-4)
    mean, low, high = mean_interval([1.0, 2.0])
    assert mean == 1.5
    assert math.isnan(low) and math.isnan(high)
    assert math.isnan(mean_interval([np.nan]).mean)


def subtract_means(values: np.ndarray):
    """A statistic: the mean of the values of label 1 minus that of label 0."""

    def measure(labels: np.ndarray) -> float:
        return values[labels == 1].mean() - values[labels == 0].mean()

    return measure


def test_labels_are_permuted_within_their_strata_only():
    strata = np.repeat(np.arange(6), 4)
    labels = np.tile([0, 0, 1, 1], 6)
    follows = labels + 0.01 * np.arange(24)
    assert permutation_p(subtract_means(follows), labels, strata) < 0.01
    assert permutation_p(subtract_means(-follows), labels, strata) < 0.01
    flat = np.tile([0.0, 1.0, 0.0, 1.0], 6)
    assert permutation_p(subtract_means(flat), labels, strata) == 1
    # A label that is the stratum itself can never move.
    assert permutation_p(subtract_means(strata / 1), strata % 2, strata) == 1
    # One stratum has most of label 0 and the low values: chance is far above 0.
    uneven = np.array([1, 0, 0, 0, 0, 0, 1, 1])
    places = np.array([0, 0, 0, 0, 0, 0, 1, 1])
    values = np.array([5.0, 0, 1, 2, 3, 4, 9, 9])
    p = permutation_p(subtract_means(values), uneven, places)
    assert p == pytest.approx(1 / 3, abs=0.03)  # 5 is the highest of six, twice
    missing = subtract_means(np.full(24, np.nan))
    assert math.isnan(permutation_p(missing, labels, strata))


def test_the_bootstrap_resamples_whole_seeds():
    values = np.repeat([0.0, 1.0, 2.0, 3.0], 50)
    seeds = np.repeat(np.arange(4), 50)

    def average(members: np.ndarray) -> float:
        return values[members].mean()

    low, high = bootstrap_interval(average, seeds)
    assert low < 0.75  # members as independent draws would give about 1.5 ± 0.16
    assert high > 2.25
    assert math.isnan(bootstrap_interval(average, seeds // 2)[0])
