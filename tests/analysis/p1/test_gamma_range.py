"""Planted transitions are found, with their width; without one there is none."""

import numpy as np
import pandas as pd
import pytest

from analysis.p1 import gamma_range
from analysis.p1.gamma_range import BASELINE, find_transition, find_transitions

GAMMAS = np.array([0.2, 0.4, 0.6, 0.8, 1.0])


def test_a_transition_by_hand():
    # From 0 to 0.8: 10 % is 0.08 and 90 % is 0.72, on straight lines.
    values = np.array([0.0, 0.0, 0.4, 0.8, 0.8])
    np.testing.assert_allclose(find_transition(GAMMAS, values), (0.44, 0.76))
    np.testing.assert_allclose(find_transition(GAMMAS, 1 - values), (0.44, 0.76))


def test_what_comes_after_the_farthest_value_does_not_count():
    values = np.array([0.0, 0.0, 0.4, 0.8, 0.1])
    np.testing.assert_allclose(find_transition(GAMMAS, values), (0.44, 0.76))


@pytest.mark.parametrize('values', [np.zeros(5), [0, 0.1, 0.2, 0.3, 0.4], [np.nan] * 5])
def test_a_small_change_is_no_transition(values):
    assert np.isnan(find_transition(GAMMAS, np.array(values, float))).all()


def plant(width: float, seeds: int = 4) -> pd.DataFrame:
    """Straight rises from 0 to 1 around gamma 0.6, of this width in all."""
    rows = []
    for seed in range(seeds):
        start = 0.6 - width / 2 + 0.01 * seed
        for gamma in GAMMAS:
            rows.append((gamma, seed, np.clip((gamma - start) / width, 0, 1)))
    members = pd.DataFrame(rows, columns=['gamma', 'seed', 'unseen_composed'])
    return members.assign(setting='', converged=True)


def test_a_gamma_at_which_a_seed_has_not_converged_does_not_count():
    members = plant(0.8)
    ends = find_transitions(members)
    assert ends.seed.tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(ends.start[0], 0.28, atol=1e-6)
    members.loc[(members.gamma == 0.8) & (members.seed == 2), 'converged'] = False
    without = members[members.gamma != 0.8]
    pd.testing.assert_frame_equal(find_transitions(members), find_transitions(without))


def test_the_baseline_has_a_setting_of_its_own(finished):
    both = gamma_range.compute(finished, baseline=str(finished.folder.workdir))
    depths = ['depth=1', 'depth=2']
    of_baseline = [f'{BASELINE}, {depth}' for depth in depths]
    assert both.setting.unique().tolist() == [*depths, *of_baseline]
    assert len(both) == 16
    agreement = finished.results.agreement.sel(eval_set='unseen', mapping='composed')
    is_here = (both.setting == 'depth=2') & (both.gamma == 0.8) & (both.seed == 1)
    of_member = agreement.sel(depth=2, gamma=0.8, seed=1).item()
    assert both.unseen_composed[is_here].tolist() == [of_member]
    # None of this sweep's networks has converged: no gamma counts.
    assert both.start.isna().all()
