"""Opening a member of a sweep: the right one with its own data, or one clear line."""

import shutil

import numpy as np
import pytest
import xarray as xr

from analysis.changes.distances import choose_sequences
from analysis.circuits import sequences
from analysis.members.point import format_point, select_varying
from analysis.p1 import eigenvalues
from analysis.p1.official import measure_agreement
from anchorjax.errors import StoreError, UserError
from anchorjax.storage.reader import open_run
from tests.support.networks.planted import make_untrained_member
from tests.support.sweeps import opened

POINT = {'depth': 2, 'gamma': 0.8, 'seed': 1}


@pytest.fixture(scope='module')
def member(finished):
    return finished.network(**POINT)


@pytest.mark.parametrize(
    'measure',
    [
        lambda member: sequences.select_eval_sets(member, 64),
        lambda member: choose_sequences(member, 128),
        lambda member: list(measure_agreement(member).values()),
    ],
)
def test_training_examples_that_are_asked_again_do_not_count(measure, monkeypatch):
    """Fifteen there are, and the eval sets have 64: the rest may be anything."""
    member = make_untrained_member(task__num_examples=32)
    num_train = member.task.num_train
    assert member.is_asked_PB.sum(1).tolist() == [num_train, 64, 64]
    found = measure(member)
    tokens_PBT, labels_PRB = member.eval_sets
    tokens_PBT, labels_PRB = tokens_PBT.copy(), labels_PRB.copy()
    tokens_PBT[0, num_train:] = tokens_PBT[1, num_train:]
    labels_PRB[0, :, num_train:] = member.answer(tokens_PBT[0, num_train:])
    others = tokens_PBT, labels_PRB
    monkeypatch.setattr(type(member), 'eval_sets', property(lambda _: others))
    for one, other in zip(found, measure(member), strict=True):
        np.testing.assert_array_equal(one, other)


def test_matrices_are_named_by_their_path(member):
    assert {'W_embed', 'W_pos', 'W_U', 'block_1/W_V'} < set(member.matrices)
    assert all(W.ndim == 2 for W in member.matrices.values())
    with pytest.raises(UserError, match=r"no matrix 'W_X'; the model has \['W_U'"):
        member.matrix('W_X')


@pytest.mark.parametrize('tokens', [[20, 3, 4], [[20.0, 3.0]], [[20, 201]], [[-1, 3]]])
def test_what_is_no_token_is_refused_and_not_taken_for_another(member, tokens):
    with pytest.raises(UserError, match=r'must be integers \[B, T\] from 0 to 200'):
        member.activations(tokens)


def test_a_row_of_the_table_names_its_member(tmp_path):
    """As in the tour: an axis of tuples is there as texts."""
    windows = ((), (0, 20))
    opened(tmp_path, grid__decay_window=windows)
    run = open_run(tmp_path)
    row = run.members.iloc[-1]
    point = {axis: row[axis] for axis in run.experiment.axes}
    assert run.complete_point(point)['decay_window'] == (0, 20)


def test_a_point_is_completed_and_told_apart(finished):
    point = finished.complete_point(POINT)
    assert list(point) == ['depth', 'gamma', 'learning_rate', 'weight_decay', 'seed']
    assert format_point(select_varying(finished, point)) == 'depth=2,gamma=0.8,seed=1'
    with pytest.raises(UserError, match='gamma is missing'):
        finished.network(depth=2, seed=1)


def test_a_missing_step_and_a_diverged_member_are_one_line(finished):
    # That a step was never planned is no reason to delete the members.
    line = r'no snapshot .*/3; steps here: \[0, 1, 4, 15, 40\]$'
    with pytest.raises(StoreError, match=line):
        finished.network(3, **POINT)
    run = open_run(finished.folder.workdir)
    at = {axis: [value] for axis, value in POINT.items()}
    diverged = xr.full_like(run.results.diverged.sel(at), 5)
    run.__dict__['results'] = run.results.assign(
        diverged=diverged.combine_first(run.results.diverged)
    )
    with pytest.raises(
        UserError, match=r'depth=2,gamma=0\.8,seed=1 diverged at step 5'
    ):
        run.network(**POINT)


def test_an_older_snapshot_does_not_pass_for_a_lost_last_one(finished, tmp_path):
    shutil.copytree(finished.folder.workdir, tmp_path / 'run')
    run = open_run(tmp_path / 'run')
    folders = list((tmp_path / 'run' / 'cohorts' / 'depth=2').glob('*/snapshots'))
    for snapshots in folders:
        shutil.rmtree(snapshots / '40')
    with pytest.raises(StoreError, match=r'no snapshot .*/40; steps here: \[0, 1, 4'):
        run.network(**POINT)
    for snapshots in folders:
        shutil.rmtree(snapshots)
    with pytest.raises(StoreError, match=r'no snapshot .*/40; steps here: \[\]'):
        eigenvalues.compute(run, depth=2)
