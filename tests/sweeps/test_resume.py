"""Whatever interrupts a sweep, it ends with the bits of an uninterrupted one."""

import multiprocessing
import pathlib
import random
import signal
import subprocess
import time

import numpy as np
import pytest

from anchorjax.storage.reader import open_run
from anchorjax.training import devices
from tests.support import in_process
from tests.support.faults import ONE, mounted, train_and_stop
from tests.support.sweeps import TINY_FILE, bits, copy_folder, trained

# Each of # ? % means something in a URL, each of [ ] * ? in a pattern.
ODD_NAME = 'r#1 ?%41 [*]'


@pytest.mark.parametrize(
    ('given', 'stops'), [(f'../{ODD_NAME}/r', (2,)), (f'link/../{ODD_NAME}', (1, 1, 1))]
)
def test_a_sweep_stopped_after_any_segments_keeps_its_bits(
    one_member, tmp_path, monkeypatch, given, stops
):
    """By whatever path it is given."""
    for folder in ('A', 'far/away'):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / 'A' / 'link').symlink_to(tmp_path / 'far' / 'away')
    monkeypatch.chdir(tmp_path / 'A')
    warnings = []
    for segments in stops:
        train_and_stop(given, segments)
    run = trained(given, warn=warnings.append, **ONE)
    assert not warnings
    assert bits(given) == bits(one_member)
    W_U, expected = (read.params()['W_U'] for read in (run, open_run(one_member)))
    np.testing.assert_array_equal(W_U, expected)


def test_deleted_curves_are_regenerated(one_member, tmp_path):
    workdir = copy_folder(one_member, tmp_path / 'run')
    (workdir / 'cohorts/all/chunk_0000/curves.npz').unlink()
    trained(workdir, **ONE)
    assert bits(workdir) == bits(one_member)


def test_bits_would_show_a_difference(one_member):
    """The comparison of all these tests has many digests, of finite numbers."""
    assert len(set(bits(one_member)['all', 0])) > 10
    assert np.isfinite(open_run(one_member).results.train_loss).all()


def list_saved(workdir: pathlib.Path) -> set[pathlib.Path]:
    """The states and snapshots of a sweep."""
    paths = workdir.glob('cohorts/*/*/*/*')
    return {path for path in paths if path.name.isdigit()}


def start_training(workdir: pathlib.Path) -> multiprocessing.Process:
    """A process that trains ONE, forked from one that has imported all it needs."""
    context = multiprocessing.get_context('forkserver')
    context.set_forkserver_preload(['tests.support.sweeps'])
    process = context.Process(target=trained, args=(workdir,), kwargs=ONE)
    process.start()
    return process


@pytest.mark.slow
def test_kills_at_random_moments_change_no_bit(one_member, tmp_path):
    rng = random.Random(0)
    num_kills = 0
    folders = [tmp_path / ODD_NAME]
    while num_kills < 4:
        before = list_saved(folders[-1])
        process = start_training(folders[-1])
        while process.is_alive() and not list_saved(folders[-1]) - before:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.15))
        process.kill()
        process.join()
        if process.exitcode == -signal.SIGKILL:
            num_kills += 1
        else:  # it was done before: kill a new sweep
            assert process.exitcode == 0
            folders.append(tmp_path / str(len(folders)))
    for folder in folders:
        trained(folder, **ONE)
        assert bits(folder) == bits(one_member)


@pytest.fixture
def small_disk(tmp_path):
    if not mounted(tmp_path, '400k'):  # what the plan counts, and no block more
        pytest.skip('mounting a small disk is not permitted here')
    yield tmp_path
    subprocess.run(['umount', '-l', str(tmp_path)], check=True)


@pytest.mark.slow
def test_a_full_disk_is_one_line_and_the_same_command_continues(
    small_disk, tmp_path_factory, monkeypatch, capsys
):
    monkeypatch.setattr(devices, 'use_every_core', lambda: None)
    words = ['--config', TINY_FILE, '--workdir', str(small_disk)]
    words.append('--config.train.lanes=2')
    full = in_process.run('sweep.py', words, monkeypatch, capsys)
    assert full.code == 1, full.errors
    lines = full.errors.splitlines()
    # This process has used JAX before; a command has not.
    (line,) = [line for line in lines if not line.startswith('warning: this process')]
    assert 'cannot write' in line
    assert mounted(small_disk, '40m', remount=True)
    done = in_process.run('sweep.py', words, monkeypatch, capsys)
    assert done.code == 0, done.errors
    whole = trained(tmp_path_factory.mktemp('whole'), train__lanes=2)
    assert bits(small_disk) == bits(whole.folder.workdir)
