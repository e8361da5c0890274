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
from tests.support import cases
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


def test_roles_partition_every_sequence(member):
    asked = sequences.sample(member, 300)
    roles_BT, names = member.roles(asked.tokens_BT), member.task.role_names
    at = np.arange(300)
    for offset, role in enumerate(('key', 'anchor_1', 'anchor_2')):
        assert (roles_BT[at, asked.position_B + offset] == names.index(role)).all()
    assert (roles_BT[:, -1] == names.index('last')).all()  # noise stands last
    tokens = asked.tokens_BT[at, asked.position_B]
    np.testing.assert_array_equal(tokens, asked.x_B)


def test_its_eval_sets_give_the_agreement_that_training_recorded(finished, member):
    """By the key's position, too: data, split and parameters are the member's own."""
    tokens_PBT, labels_PRB = member.eval_sets
    answers_PB = np.stack([member.answer(tokens_BT) for tokens_BT in tokens_PBT])
    is_right_PRB = answers_PB[:, None] == labels_PRB
    recorded = finished.results.sel(**POINT).squeeze()
    # One answer may differ: last bits depend on how a batch is cut.
    one = 1.01 / tokens_PBT.shape[1]
    np.testing.assert_allclose(is_right_PRB.mean(-1), recorded.agreement, atol=one)
    unseen = member.task.eval_set_names.index('unseen')
    position_B, _, _ = cases.decode(tokens_PBT[unseen])
    by_position = recorded.agreement_by_group.sel(eval_set='unseen')
    assert by_position.group.values.tolist() == ['at_0', 'at_1']  # seq_len 4
    for position in (0, 1):
        is_here_B = position_B == position
        share_R = is_right_PRB[unseen][:, is_here_B].mean(-1)
        found_R = by_position.sel(group=f'at_{position}')
        np.testing.assert_allclose(found_R, share_R, atol=1.01 / is_here_B.sum())
