"""Whatever interrupts a sweep, the same command ends with the bits of an uninterrupted one."""

import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

from anchorjax.errors import StoreError
from anchorjax.storage.reader import open_run
from tests.support.faults import ONE, flip, largest, mounted, stopped
from tests.support.sweeps import bits, command, launch, trained

pytestmark = pytest.mark.slow


@pytest.fixture(scope='module')
def uninterrupted(tmp_path_factory) -> pathlib.Path:
    return trained(tmp_path_factory.mktemp('whole'), **ONE).sweep_dir.workdir


def begun(workdir: pathlib.Path) -> subprocess.Popen:
    """A sweep process that has just saved a state (or snapshot) that was not there before."""
    saved = lambda: {p for p in workdir.glob('cohorts/*/*/*/*') if p.name.isdigit()}
    before = saved()
    process = subprocess.Popen(**command('--workdir', workdir))
    while process.poll() is None and not saved() - before:
        time.sleep(0.01)
    return process


def test_five_kills_at_random_moments_change_no_bit(launched, tmp_path):
    rng, kills, folders = random.Random(0), 0, [tmp_path / '0']
    while kills < 5:
        process = begun(folders[-1])
        time.sleep(rng.uniform(0, 0.15))
        process.kill()
        process.communicate()
        kills += process.returncode == -signal.SIGKILL
        if process.returncode == 0:  # it was done before the kill came: a new sweep
            folders.append(tmp_path / str(len(folders)))
    for folder in folders:
        assert launch('--workdir', folder).returncode == 0
        assert bits(folder) == bits(launched)


def test_sigterm_saves_and_exits_75(launched, tmp_path):
    process = begun(tmp_path)
    process.terminate()
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 75 and 'The same command continues.' in errors
    assert launch('--workdir', tmp_path).returncode == 0
    assert bits(tmp_path) == bits(launched)


@pytest.mark.parametrize('split', [(1,), (2,), (3,), (1, 1), (1, 1, 1)])
def test_resume_at_any_segment_is_bit_identical(uninterrupted, tmp_path, split):
    for segments in split:
        stopped(tmp_path, segments)
    trained(tmp_path, **ONE)
    assert bits(tmp_path) == bits(uninterrupted)


@pytest.mark.parametrize('damage', [flip, lambda path: os.truncate(path, 10)])
def test_a_damaged_state_falls_back_to_the_one_before(uninterrupted, tmp_path, damage):
    chunk = stopped(tmp_path, 3)
    assert sorted(p.name for p in (chunk.folder / 'resume').iterdir()) == ['20', '30']
    damage(largest(chunk.folder / 'resume' / '30' / 'tree'))
    lines = []
    trained(tmp_path, warn=lines.append, **ONE)
    assert len(lines) == 1 and 'resume/30' in lines[0] and 'falling back' in lines[0]
    assert bits(tmp_path) == bits(uninterrupted)


def test_an_altered_snapshot_is_named(uninterrupted, tmp_path):
    shutil.copytree(uninterrupted, tmp_path / 'run')
    flip(
        largest(
            tmp_path
            / 'run'
            / 'cohorts'
            / 'all'
            / 'chunk_0000'
            / 'snapshots'
            / '40'
            / 'tree'
        )
    )
    with pytest.raises(
        StoreError, match=r'snapshots/40 is (altered: digest of|damaged)'
    ) as caught:
        open_run(tmp_path / 'run').params()
    assert '\n' not in str(caught.value)


def test_truncated_curves_are_named(uninterrupted, tmp_path):
    shutil.copytree(uninterrupted, tmp_path / 'run')
    os.truncate(tmp_path / 'run' / 'cohorts' / 'all' / 'chunk_0000' / 'curves.npz', 100)
    with pytest.raises(
        StoreError, match=r'curves.npz is damaged .* delete it to make it anew'
    ):
        _ = open_run(tmp_path / 'run').curves


def test_deleted_curves_are_made_anew(uninterrupted, tmp_path):
    shutil.copytree(uninterrupted, tmp_path / 'run')
    (tmp_path / 'run' / 'cohorts' / 'all' / 'chunk_0000' / 'curves.npz').unlink()
    trained(tmp_path / 'run', **ONE)
    assert bits(tmp_path / 'run') == bits(uninterrupted)


@pytest.fixture
def small_disk(tmp_path):
    if not mounted(tmp_path, '100k'):
        pytest.skip('mounting a small disk is not permitted here')
    yield tmp_path
    subprocess.run(['umount', '-l', str(tmp_path)], check=True)


def test_a_full_disk_is_one_line_and_the_same_command_continues(launched, small_disk):
    done = launch('--workdir', small_disk)
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1 and 'cannot write' in done.stderr
    assert mounted(small_disk, '40m', remount=True)
    assert (done := launch('--workdir', small_disk)).returncode == 0, done.stderr
    assert bits(small_disk) == bits(launched)


def test_bits_see_one_flipped_bit(uninterrupted):
    digests = next(iter(bits(uninterrupted).values()))
    assert len({row for d in digests.values() for row in d['rows']}) > 10
    assert np.isfinite(open_run(uninterrupted).results.train_loss).all()
