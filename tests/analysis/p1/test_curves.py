"""Finds moments put at known steps; curves of a finished and of a running member."""

import numpy as np
import pytest

from analysis.p1 import curves
from analysis.p1.curves import find_events, order_events

STEPS = np.array([10, 20, 30, 40, 50])
POINT = {'depth': 2, 'gamma': 0.8, 'seed': 1}


@pytest.mark.parametrize(
    'agreement, first, for_good',
    [
        ([0.1, 0.2, 0.9, 1.0, 1.0], 30, 30),
        ([0.1, 0.95, 0.86, 0.9, 1.0], 20, 20),  # a dip within the tolerance
        ([0.1, 0.95, 0.84, 0.9, 1.0], 20, 40),  # one beyond
        ([0.95, 0.2, 0.86, 0.92, 0.86], 10, 40),
        ([0.0, 0.95, 0.5, 0.89, 0.89], 20, np.nan),  # close at the end, not there
        ([1.0, 1.0, 1.0, 1.0, 0.0], 10, np.nan),
        ([0.0, 0.0, 0.0, 0.0, 0.9], 50, 50),
        ([0.0, 0.89, 0.89, 0.89, 0.89], np.nan, np.nan),
        ([1.0, 1.0, np.nan, np.nan, np.nan], 10, np.nan),
    ],
)
def test_the_moments_are_where_they_were_put(agreement, first, for_good):
    found = find_events(STEPS, np.array(agreement)[:, None], 0.9, 0.05)
    np.testing.assert_array_equal([*found.values()], [[first], [for_good]])


def test_the_order_asks_each_eval_set_its_own_question():
    eval_sets = ('seen_train', 'seen_heldout', 'unseen')
    mappings = ('composed', 'assigned')
    first = np.array([[1, 20], [1, 40], [30, 1]])
    found = order_events(first, eval_sets, mappings)
    names = ('seen_train assigned', 'unseen composed', 'seen_heldout assigned')
    assert tuple(found.items()) == tuple(zip(names, (20, 30, 40), strict=True))
    assert order_events(np.full((3, 2), np.nan), eval_sets, mappings) == {}
    assert order_events(np.array([[5]]), ('words',), ('assigned',)) == {
        'words assigned': 5
    }


def test_a_finished_member(finished):
    result = curves.compute(finished, threshold=0.0, **POINT)
    curve = finished.curves.sel(POINT).squeeze()
    np.testing.assert_array_equal(result.agreement, curve.agreement)
    np.testing.assert_array_equal(result.eval_set_loss, curve.eval_set_loss)
    assert (result['first'] == result.step[0]).all()
    assert (result.for_good == 1).all()
    # 270 examples in batches of 16: the last, partial one is dropped.
    assert result.steps_per_epoch == 16
    never = curves.compute(finished, threshold=1.0, **POINT)
    assert np.isnan(never['first']).all()
