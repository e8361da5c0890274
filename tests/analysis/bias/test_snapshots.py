"""The early snapshot is the last before reasoning is learned, in planted curves."""

import numpy as np
import pytest

from analysis.bias.snapshots import find_early, find_late, find_reasoning_moment
from analysis.bias.tokens import TASK
from analysis.members.table import list_points
from anchorjax.errors import UserError
from anchorjax.storage.reader import open_run

STEPS = np.array([0, 1, 5, 10, 20])


@pytest.fixture
def plant_losses(open_sweep):
    """A function: a run with these losses of reasoning at the records 1, 5, 10, 20."""

    def plant(losses_of_gamma):
        run = open_run(open_sweep('transformer').folder.workdir)
        curves = run.curves.copy(deep=True)
        for gamma, losses in losses_of_gamma.items():
            place = {'gamma': gamma, 'probe': 'reasoning_train'}
            of_gamma = curves.probe_loss.loc[place]
            curves.probe_loss.loc[place] = np.broadcast_to(losses, of_gamma.shape)
        vars(run)['curves'] = curves  # where functools.cached_property keeps it
        return run

    return plant


def test_early_is_the_last_snapshot_before_reasoning_is_learned(plant_losses):
    """Half of ln 64 is 2.08: crossed at step 10 + 10 * 0.92 / 2 of the larger gamma."""
    run = plant_losses({0.3: [1, 1, 1, 1], 0.8: [4, 4, 3, 1]})
    points = list_points(run, TASK)
    assert find_reasoning_moment(run, points) == pytest.approx(14.6, abs=0.01)
    assert find_early(run, points, STEPS) == 10
    assert find_early(run, points, np.array([0, 20])) == 20  # none before
    assert find_early(run, points, STEPS, 5) == 5
    assert find_late(run, STEPS) == 20


def test_early_is_the_last_of_all_where_reasoning_is_never_learned(plant_losses):
    run = plant_losses({0.3: [1, 1, 1, 1], 0.8: [4, 4, 4, 4]})
    points = list_points(run, TASK)
    assert np.isnan(find_reasoning_moment(run, points))
    assert find_early(run, points, STEPS) == 20


def test_an_unknown_snapshot_is_one_clear_line(open_sweep):
    run = open_sweep('transformer')
    with pytest.raises(UserError, match=r'late = 7: must be a snapshot step, \[0, 1'):
        find_late(run, STEPS, 7)
