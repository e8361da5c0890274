"""When a curve reaches a threshold, by hand; and ratios of what may never come."""

import numpy as np
import pandas as pd
import pytest

from analysis.changes.crossings import compare_crossings, divide_lags, find_crossings

NEVER = np.inf


def test_a_crossing_is_interpolated_between_records():
    steps = np.array([10, 20, 40])
    losses = np.array([[4, 1, 4, 9], [2, 1, 4, 9], [1, 9, 4, 2.5]], float)
    found = find_crossings(steps, losses, threshold=3)
    # 4 to 2 crosses 3 half way; below from the start; never; 9 to 2.5: 6 of 6.5 down.
    expected = [15, 10, np.nan, 20 + 20 * 6 / 6.5]
    np.testing.assert_allclose(found, expected)
    assert np.isnan(find_crossings(steps, np.full((3, 1), np.nan), 3)).all()


@pytest.mark.parametrize(
    ('slow', 'fast', 'ratios', 'bound'),
    [
        ([60, 60, 60], [20, 20, 30], [3, 3, 2], ''),
        ([60, 60, NEVER], [20, 20, 20], [3, 3, 5], 'at least'),
        ([50, 50], [NEVER, 100], [0.5, 0.5], 'at most'),
        ([NEVER, 50], [50, NEVER], [2, 0.5], 'about'),
        ([60, NEVER, np.nan], [20, NEVER, 20], [3], ''),
        ([60, NEVER], [20, np.nan], [3], ''),
    ],
)
def test_a_moment_that_never_comes_makes_a_bound(slow, fast, ratios, bound):
    """The last step stands for it; without both crossings there is no ratio."""
    found = compare_crossings(pd.Series(slow, dtype=float), pd.Series(fast), 100)
    np.testing.assert_allclose(found.ratios, ratios)
    assert found.bound == bound


def test_steps_and_what_never_comes_are_of_the_pairs():
    """Not of seeds that have one of the two crossings alone, which have no ratio."""
    slow = pd.Series([60.0, 90.0, NEVER, NEVER], [0, 1, 2, 3])
    fast = pd.Series([20.0, 30.0, NEVER], [0, 1, 2])
    found = compare_crossings(slow, fast, 100)
    np.testing.assert_allclose(found.ratios, [3, 3])
    assert (found.slow.mean(), found.fast.mean()) == (75, 25)
    assert found.never == '1 and 1'


@pytest.mark.parametrize(
    ('first', 'second', 'bound'),
    [
        ((60, 20), (60, 30), ''),
        ((NEVER, 20), (60, 30), 'at least'),
        ((60, 20), (NEVER, 30), 'at most'),
        ((NEVER, 20), (60, NEVER), 'at least'),
        ((NEVER, 20), (NEVER, 30), 'about'),
    ],
)
def test_the_quotient_of_bounds_is_one_or_none(first, second, bound):
    lags = []
    for slow, fast in (first, second):
        crossings = pd.Series([float(slow)] * 3), pd.Series([float(fast)] * 3)
        lags.append(compare_crossings(*crossings, 100))
    quotients, found = divide_lags(*lags)
    np.testing.assert_allclose(quotients, lags[0].ratios / lags[1].ratios)
    assert found == bound
