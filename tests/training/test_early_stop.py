"""`train.stop_loss`: a member stops by its own curve, and resumes with equal bits."""

import jax
import numpy as np
import pytest

from anchorjax.storage.reader import Run, open_run
from tests.support.faults import train_and_stop
from tests.support.sweeps import bits, trained

pytestmark = pytest.mark.slow

ROWS, EVERY = 12, 10
# Chosen so that of four members some stop and some never do; asserted below.
STOP = {'train__stop_loss': 4.262, 'train__stop_rows': 2}
LONG = {'train__num_steps': ROWS * EVERY, 'train__snapshot_steps': ()}
SIDE_BY_SIDE = {'train__lanes': 4, 'train__resume_every': 1e9}
EVERY_ROW = {'train__snapshot_steps': tuple(range(0, ROWS * EVERY, EVERY))}


@pytest.fixture(scope='module')
def fixed(tmp_path_factory) -> Run:
    """Four members that take all steps, with their parameters at every row."""
    changes = LONG | SIDE_BY_SIDE | EVERY_ROW
    return trained(tmp_path_factory.mktemp('fixed'), **changes)


def find_stop(losses: np.ndarray, limit: float, rows: int) -> int:
    """The row, counted from 1, after which a member stops; all rows: it never does."""
    for row in range(rows, len(losses) + 1):
        if (losses[row - rows : row] < limit).all():
            return min(row + rows, len(losses))
    return len(losses)


def test_a_member_stops_where_its_own_curve_says(fixed, tmp_path):
    """Side by side with others, which may go on."""
    run = trained(tmp_path, **LONG | SIDE_BY_SIDE | STOP)
    stops = set()
    for row in run.members.itertuples():
        point = {'gamma': row.gamma, 'seed': row.seed}
        losses = fixed.curves.train_loss.sel(point).squeeze().to_numpy()
        stop = find_stop(losses, STOP['train__stop_loss'], STOP['train__stop_rows'])
        stops.add(stop)
        assert row.steps_taken == stop * EVERY
        expected = fixed.params(step=stop * EVERY, **point)
        jax.tree.map(
            lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5),
            run.params(**point),
            expected,
        )
        curve = run.curves.train_loss.sel(point).squeeze().to_numpy()
        np.testing.assert_allclose(curve[:stop], losses[:stop], rtol=1e-4)
        assert (curve[stop:] == curve[stop - 1]).all()
    assert len(stops) > 2 and ROWS in stops  # the settings above test something


def test_a_stopped_member_resumes_with_the_same_bits(tmp_path):
    changes = LONG | STOP | {'grid__gamma': (0.3,), 'grid__seed': (0,)}
    for segments in (3, 2, 3):
        train_and_stop(tmp_path / 'stopped', segments, **changes)
    trained(tmp_path / 'stopped', **changes)
    trained(tmp_path / 'whole', **changes)
    assert bits(tmp_path / 'stopped') == bits(tmp_path / 'whole')
    assert open_run(tmp_path / 'whole').members.steps_taken.item() < ROWS * EVERY
