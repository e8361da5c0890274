"""The labelled results of a sweep are the curves and parameters on disk."""

import itertools
import os
import shutil
import time

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from anchorjax.errors import StoreError
from anchorjax.storage.reader import Run, open_run
from anchorjax.sweeps.publish import publish
from anchorjax.sweeps.run import run_sweep
from tests.support.sweeps import opened

DEPTHS, GAMMAS, SEEDS = (1, 2), (0.3, 0.8), (0, 1)
MEMBERS = list(itertools.product(DEPTHS, GAMMAS, SEEDS))
# Indices in curves.npz.
LAST, UNSEEN, SYMMETRIC = -1, 2, 1


def read_curves_file(run: Run, depth: int, gamma: float) -> dict:
    """The arrays of a chunk, found by counting: it holds the seeds of a γ in order."""
    cohort = run.folder.workdir / 'cohorts' / f'depth={depth}'
    return np.load(cohort / f'chunk_{GAMMAS.index(gamma):04d}' / 'curves.npz')


@pytest.mark.parametrize(('depth', 'gamma', 'seed'), MEMBERS[::3])
def test_cube_and_table_hold_the_curves_on_disk_under_the_right_labels(
    finished, depth, gamma, seed
):
    on_disk = read_curves_file(finished, depth, gamma)
    workdir = finished.folder.workdir
    with xr.open_dataset(workdir / 'results.nc') as cube:
        member = cube.sel(depth=depth, gamma=gamma, seed=seed).squeeze()
        np.testing.assert_array_equal(member.step, on_disk['steps'])
        np.testing.assert_array_equal(member.agreement, on_disk['agreement'][:, seed])
        np.testing.assert_array_equal(member.train_loss, on_disk['train_loss'][:, seed])

    table = pd.read_csv(workdir / 'members.csv')
    is_member = (table.depth == depth) & (table.gamma == gamma) & (table.seed == seed)
    row = table[is_member]
    assert len(row) == 1
    agreement = on_disk['agreement'][LAST, seed, UNSEEN, SYMMETRIC]
    assert row.unseen_symmetric.item() == pytest.approx(agreement)
    assert row.train_loss.item() == pytest.approx(on_disk['train_loss'][LAST, seed])


def test_unfinished_figures_are_removed_once_they_are_old(tmp_path):
    """The scripts of analysis/ write there without the lock."""
    folder, _ = opened(tmp_path)
    figures = tmp_path / 'figures'
    figures.mkdir()
    young, old = (figures / f'.{digit * 32}.phase.png' for digit in 'ab')
    for path in (young, old):
        path.write_bytes(b'half')
    two_hours_ago = time.time() - 7200
    os.utime(old, (two_hours_ago, two_hours_ago))
    publish(folder)
    assert list(figures.iterdir()) == [young]


def test_a_partly_trained_sweep_is_readable(tmp_path):
    folder, mesh = opened(tmp_path)
    run_sweep(folder, mesh, chunks=range(1))
    run = publish(folder)
    assert run.results.trained.values.ravel().tolist() == [True, False, False, False]
    loss = run.results.train_loss.values.ravel()
    assert np.isfinite(loss[0])
    assert np.isnan(loss[1:]).all()
    with pytest.raises(StoreError, match='no snapshot yet'):
        run.params(gamma=0.8, seed=1)


def test_a_run_that_was_moved_is_refused_and_not_taken_for_untrained(
    one_member, tmp_path
):
    folder = tmp_path / 'run'
    shutil.copytree(one_member, folder)
    run = open_run(folder)
    params = run.params()
    folder.rename(tmp_path / 'moved')
    for read in (lambda: run.members, run.params, run.steps):
        with pytest.raises(StoreError, match='run holds the sweep no longer: it was m'):
            read()
    (tmp_path / 'moved').rename(folder)
    assert run.members.trained.all()
    np.testing.assert_array_equal(run.params()['W_U'], params['W_U'])
