"""P3's claims: planted as the paper prints, the other way round, and flat."""

import numpy as np
import pandas as pd
import pytest

from analysis.estimates import Group
from analysis.p3.claims import compare_growths, trend


def plant_times(times):
    """Seeds in rows: time with no and with five wrong pairs; NaN: never."""
    rows = []
    for seed, (without, with_five) in enumerate(times):
        rows += [(seed, 0, without), (seed, 5, with_five)]
    members = pd.DataFrame(rows, columns=['seed', 'complexity', 'time'])
    return members.assign(last_epoch=40.0)


def test_growths_are_compared_seed_by_seed():
    """The seed that is missing on one side shifts nothing."""
    first = plant_times([(1, 2), (1, 4), (10, np.nan)]).assign(depth=2)
    second = plant_times([(1, 9), (1, 2), (1, 4)]).assign(depth=4)
    second['seed'] -= 1  # seeds -1, 0 and 1
    groups = [Group(f'depth {depth}', {'depth': depth}) for depth in (2, 4)]
    found = compare_growths('time', *groups)(pd.concat([first, second]))
    assert found.values.index.tolist() == [0, 1]
    np.testing.assert_allclose(np.exp(found.values), [1, 1])


@pytest.mark.parametrize('never', [0, 1])
def test_both_growths_are_of_the_seeds_of_their_ratio(never):
    """A network that never fits, with wrong pairs or without, has no growth at all."""
    times = [[(1, 2), (1, 4), (np.nan, np.nan)], [(1, 2), (1, 4), (1, np.nan)]]
    tables = [plant_times(times[never]), plant_times(times[1 - never])]
    members = pd.concat([tables[0].assign(depth=2), tables[1].assign(depth=4)])
    groups = [Group(f'depth {depth}', {'depth': depth}) for depth in (2, 4)]
    found = compare_growths('time', *groups)(members)
    assert (found.mean.mean, found.bound) == (pytest.approx(1), '')
    for side in found.sides:
        assert (side.mean.mean, side.bound) == (pytest.approx(8**0.5), '')


def test_a_trend_is_taken_within_lines_of_the_other_axis():
    """Along the rate it rises; that decay shifts all of a line changes nothing."""
    rows = []
    for seed in range(3):
        for rate in (1, 2, 3):
            for decay in (0.1, 0.2, 0.3):
                rows.append((seed, rate, decay, rate - 100 * decay))
    columns = ['seed', 'learning_rate', 'weight_decay', 'value']
    members = pd.DataFrame(rows, columns=columns)
    for along, rho in (('learning_rate', 1), ('weight_decay', -1)):
        np.testing.assert_allclose(trend('value', along)(members).values, rho)
