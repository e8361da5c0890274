"""Killed at random for a minute, damaged, starved: the sweep ends as if undisturbed."""

import dataclasses
import os
import pathlib
import subprocess
import time
from typing import NamedTuple

import pytest

from anchorjax.cli import EXIT_FAILED
from anchorjax.storage.reader import Run, open_run
from anchorjax.storage.sweep_folder import SweepFolder
from anchorjax.sweeps.shards import Shard, chunks_of_shard
from tests.support.faults import flip, mounted, truncate
from tests.support.shards.chaos import Crew
from tests.support.shards.chaos_work import SHARDS, list_strays
from tests.support.sweeps import bits, launch

pytestmark = pytest.mark.slow
SECONDS = 60  # of killing
AT_MOST = 400  # seconds in all, on a machine that has more to do
# Two chunks a shard on any machine.
DEVICES = '--xla_force_host_platform_device_count=2'
WORDS = [
    '--config.grid.seed=0,1,2,3,4,5',
    '--config.train.num_steps=100',
    '--config.train.eval_every=5',
    '--config.train.snapshot_steps=0,50',
]


class Disk(NamedTuple):
    folder: pathlib.Path
    is_small: bool  # a disk of its own, of 16 MiB


@pytest.fixture
def disk(tmp_path):
    disk = Disk(tmp_path, is_small=mounted(tmp_path, '16m'))
    yield disk
    if disk.is_small:
        subprocess.run(['umount', '-l', str(tmp_path)], check=True)


@pytest.fixture
def undisturbed_run(monkeypatch, tmp_path_factory) -> Run:
    monkeypatch.setenv('XLA_FLAGS', f'{os.environ["XLA_FLAGS"]} {DEVICES}')
    folder = tmp_path_factory.mktemp('undisturbed_run')
    done = launch('--workdir', folder, *WORDS, '--config.train.resume_every=1e9')
    assert done.returncode == 0, done.stderr
    return open_run(folder)


def disturb(crew: Crew, disk: Disk) -> float:
    """Does everything to a sweep; returns how many seconds the killing took."""
    with crew.work():
        crew.wait_until(lambda: bool(crew.counts.kills))
        start = time.monotonic()
        crew.wait_until(lambda: time.monotonic() > start + SECONDS / 3)
        if disk.is_small:
            with crew.fill_disk(disk.folder):
                crew.wait_until(lambda: crew.counts.exits[EXIT_FAILED] > 0)
        crew.wait_until(
            lambda: time.monotonic() > start + SECONDS and not crew.has_plans()
        )
        return time.monotonic() - start


def test_a_minute_of_kills_loses_no_member_and_changes_no_bit(
    undisturbed_run, disk, record_property
):
    whole = undisturbed_run.folder
    for index in range(SHARDS):
        assert len(chunks_of_shard(whole, Shard(index, SHARDS))) == 2

    def make_sweep(number: int) -> SweepFolder:
        return dataclasses.replace(whole, workdir=disk.folder / str(number))

    crew = Crew(make_sweep, WORDS, [flip, truncate], seed=0, seconds=AT_MOST)
    start = time.monotonic()
    killing = disturb(crew, disk)
    total = time.monotonic() - start
    seconds = f'{killing:.0f} s of killing, {total:.0f} s in all'
    record_property('chaos', f'{seconds}; {len(crew.sweeps)} sweep(s); {crew.counts}')
    if not disk.is_small:
        record_property('chaos', 'no full disk: a small one could not be mounted')
    for sweep in crew.sweeps:
        check_same(sweep.workdir, undisturbed_run)


def check_same(workdir: pathlib.Path, undisturbed_run: Run) -> None:
    """All members are there once, with the bits and the table of the other sweep."""
    run = open_run(workdir)
    expected = undisturbed_run.folder.workdir
    assert run.results.trained.all()
    assert run.results.trained.size == 12
    assert bits(workdir) == bits(expected)
    table = (workdir / 'members.csv').read_text()
    assert len(set(table.splitlines())) == 13
    assert table == (expected / 'members.csv').read_text()
    assert not list_strays(workdir)
