"""Intervals and p-values against numbers worked out by hand or by closed forms."""

import math

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from analysis import stats

T_2, T_3 = 4.302653, 3.182446  # quantiles .975 of Student's t, from a printed table


def test_a_mean_has_the_interval_of_students_t():
    # Standard deviation √(5/3), so the standard error is √(5/12).
    reach = T_3 * math.sqrt(5 / 12)
    found = stats.mean_interval([1, 2, 3, 4])
    np.testing.assert_allclose(found, (2.5, 2.5 - reach, 2.5 + reach), rtol=1e-6)


def test_a_mean_needs_three_seeds_for_an_interval():
    np.testing.assert_equal(stats.mean_interval([1, 3]), (2, np.nan, np.nan))
    np.testing.assert_equal(stats.mean_interval([]), (np.nan,) * 3)
    assert stats.mean_interval([0.5, 0.5, 0.5]) == (0.5, 0.5, 0.5)
    assert stats.format_mean(stats.mean_interval([1, 3])) == '2.00'


def test_the_interval_of_a_ratio_is_that_of_its_logarithm():
    reach = T_2 / math.sqrt(3)  # in powers of 2: the logarithms are 0, 1, 2
    expected = (2, 2 ** (1 - reach), 2 ** (1 + reach))
    np.testing.assert_allclose(stats.ratio_interval([1, 2, 4]), expected, rtol=1e-6)


@pytest.mark.parametrize(
    'possible', [stats.ANY, stats.SHARE, stats.POSITIVE, stats.CHANGE]
)
def test_an_interval_is_cut_where_the_mean_cannot_be(possible):
    uncut = stats.mean_interval([0.1, 0.7, 1.0])
    assert uncut.low < 0 and uncut.high > 1
    found = stats.mean_interval([0.1, 0.7, 1.0], possible)
    low, high, _ = possible
    assert found == (uncut.mean, max(uncut.low, low), min(uncut.high, high))


def test_a_p_value_is_that_of_students_t():
    # t = (2.5 - border) / √(5/12) meets its quantile where the interval ends.
    border = 2.5 - T_3 * math.sqrt(5 / 12)
    assert stats.p_value([1, 2, 3, 4], border) == pytest.approx(0.05, rel=1e-5)
    assert stats.p_value([1, 2, 3, 4], 2.5) == pytest.approx(1)
    assert np.isnan(stats.p_value([1, 2], 0))


def test_equal_values_have_no_spread_to_test_against():
    assert stats.p_value([0.5] * 6, 0.5) == 1
    assert stats.p_value([0.5] * 6, 0.4) == 0


def test_holm_multiplies_the_smallest_by_their_number_and_keeps_the_order():
    found = stats.holm([0.01, 0.04, np.nan, 0.03])
    np.testing.assert_allclose(found, [0.03, 0.06, np.nan, 0.06])
    assert np.isnan(stats.holm([np.nan])).all()
    p_values = np.random.default_rng(0).uniform(0, 0.3, 40)
    expected = multipletests(p_values, method='holm')[1]
    np.testing.assert_array_equal(stats.holm(p_values), expected)
