"""Killed at random for a minute, damaged, starved: the sweep ends as if nothing had happened."""

import dataclasses
import os
import subprocess
import time

import pytest

from anchorjax.cluster.shards import Shard
from anchorjax.storage.reader import Run, open_run
from tests.support.chaos import SHARDS, Crew, strays
from tests.support.faults import flip, mounted
from tests.support.sweeps import bits, launch

pytestmark = pytest.mark.slow
SECONDS = 60  # of killing
AT_MOST = 400  # seconds in all, on a machine that has more to do
DEVICES = (
    '--xla_force_host_platform_device_count=2'  # two chunks a shard on any machine
)
WORDS = [
    '--config.grid.seed=0,1,2,3,4,5',
    '--config.train.num_steps=100',
    '--config.train.eval_every=5',
    '--config.train.snapshot_steps=0,50',
]


@pytest.fixture
def disk(tmp_path):
    """(folder, whether it is a disk of its own, of 16 MiB)."""
    small = mounted(tmp_path, '16m')
    yield tmp_path, small
    if small:
        subprocess.run(['umount', '-l', str(tmp_path)], check=True)


@pytest.fixture
def undisturbed(monkeypatch, tmp_path_factory) -> Run:
    monkeypatch.setenv('XLA_FLAGS', f'{os.environ["XLA_FLAGS"]} {DEVICES}')
    folder = tmp_path_factory.mktemp('undisturbed')
    done = launch('--workdir', folder, *WORDS, '--config.train.resume_every=1e9')
    assert done.returncode == 0, done.stderr
    return open_run(folder)


def disturbed(crew: Crew, disk) -> float:
    """Everything that can be done to a sweep; returns the seconds from the first kill."""
    folder, small = disk
    with crew.working():
        crew.until(lambda: crew.counts.kills)
        begun = time.monotonic()
        crew.until(lambda: time.monotonic() > begun + SECONDS / 3)
        if small:
            with crew.full_disk(folder):
                crew.until(lambda: crew.counts.exits[2])
        crew.until(lambda: time.monotonic() > begun + SECONDS and not crew.planned)
        killed = time.monotonic() - begun
    return killed


def test_a_minute_of_kills_loses_no_member_and_changes_no_bit(
    undisturbed, disk, record_property
):
    whole, (folder, small) = undisturbed.sweep_dir, disk
    assert [len(whole.part(Shard(i, SHARDS))) for i in range(SHARDS)] == [2] * SHARDS
    sweep_at = lambda number: dataclasses.replace(whole, workdir=folder / str(number))
    damages = [flip, lambda path: os.truncate(path, 10)]
    crew = Crew(sweep_at, WORDS, damages, seed=0, seconds=AT_MOST)
    begun, killing = time.monotonic(), disturbed(crew, disk)
    seconds = f'{killing:.0f} s of killing, {time.monotonic() - begun:.0f} s in all'
    record_property('chaos', f'{seconds}; {len(crew.sweeps)} sweep(s); {crew.counts}')
    if not small:
        record_property(
            'chaos', 'no full disk: mounting a small one is not permitted here'
        )
    for sweep in crew.sweeps:
        same(sweep.workdir, undisturbed)


def same(workdir, undisturbed: Run) -> None:
    """All members are there once, with the bits and the table of the undisturbed sweep."""
    run, whole = open_run(workdir), undisturbed.sweep_dir.workdir
    assert run.results.trained.all() and run.results.trained.size == 12
    assert bits(workdir) == bits(whole)
    table = (workdir / 'members.csv').read_text()
    assert (
        len(set(table.splitlines())) == 13
        and table == (whole / 'members.csv').read_text()
    )
    assert not strays(workdir)
