"""What a sweep will take is said before it begins, and what cannot end is refused."""

import collections
import functools
import re
import shutil

import pytest

from anchorjax import api
from anchorjax.errors import UserError
from anchorjax.sweeps import cost
from anchorjax.sweeps.plan import describe_sweep
from anchorjax.sweeps.prepare import Sweep, prepare
from anchorjax.sweeps.shards import Shard
from anchorjax.training import devices
from tests.support.faults import ONE, train_and_stop
from tests.support.sweeps import TINY_FILE, experiment, opened, tree_hash

Usage = collections.namedtuple('Usage', 'total used free')


@pytest.fixture
def sweep(monkeypatch, say):
    """Runs launch/sweep.py in this process for the tiny sweep."""
    monkeypatch.setattr(devices, 'use_every_core', lambda: None)
    return functools.partial(say, 'sweep.py', '--config', TINY_FILE)


@pytest.fixture
def set_free_disk(monkeypatch):
    """A function after which every file system has so many free bytes."""

    def change(free: float) -> None:
        usage = Usage(2 * free, free, free)
        monkeypatch.setattr(shutil, 'disk_usage', lambda _: usage)

    return change


def test_the_api_refuses_a_full_disk_and_keeps_a_finished_sweep(
    set_free_disk, one_member, tmp_path
):
    set_free_disk(1000)
    with pytest.raises(UserError, match='only 1 KiB are free'):
        api.train(experiment(), tmp_path / 'run')
    assert not list(tmp_path.iterdir())
    api.train(experiment(**ONE), one_member)  # nothing is left to write


def read_work(sweep: Sweep) -> tuple[float, float]:
    """(member-steps, operations in units of 10^9) that the plan says."""
    found = re.search(
        r'to train: ([\d,]+) .*, ([\d.e+-]+) Gflop', describe_sweep(sweep)
    )
    return float(found[1].replace(',', '')), float(found[2])


def test_the_work_is_the_steps_of_the_shard(tmp_path):
    whole = prepare(experiment(), tmp_path)
    half = prepare(experiment(), tmp_path, Shard(1, 2))
    member_steps, operations = read_work(whole)
    assert member_steps == 4 * experiment().train.num_steps
    by_hand = member_steps * cost.count_step(experiment()).operations / 1e9
    assert operations == pytest.approx(by_hand, rel=0.01)
    assert read_work(half)[0] == member_steps / 2
    assert half.disk_bytes == whole.disk_bytes  # other shards write there, too


@pytest.mark.parametrize(('lanes', 'rows'), [(1, 4), (3, 6)])
def test_a_snapshot_more_is_the_parameters_of_every_row_more(tmp_path, lanes, rows):
    """Of every member, and of the copies that fill the last chunk."""
    sizes = []
    for number, steps in enumerate([(), (0,)]):  # 0 adds no row to the curves
        changes = {'train__snapshot_steps': steps, 'train__lanes': lanes}
        new = prepare(experiment(**changes), tmp_path / 'new').disk_bytes
        opened(tmp_path / str(number), **changes)
        begun = prepare(experiment(**changes), tmp_path / str(number)).disk_bytes
        assert begun == new
        sizes.append(new)
    parameters = 4 * rows * cost.num_parameters(experiment())  # 4 bytes
    assert sizes[1] - sizes[0] == parameters


def test_only_what_is_left_of_a_sweep_counts(one_member, tmp_path):
    new, _ = read_work(prepare(experiment(**ONE), tmp_path))
    train_and_stop(tmp_path, segments=3)
    begun, _ = read_work(prepare(experiment(**ONE), tmp_path))
    assert begun == new / 4
    finished = prepare(experiment(**ONE), one_member)
    assert finished.is_finished and not finished.disk_bytes


def test_a_dry_run_refuses_the_folder_of_another_sweep(sweep, tmp_path):
    opened(tmp_path / 'ours')
    opened(tmp_path / 'other', optimizer__b2=0.9)
    before = tree_hash(tmp_path)
    assert sweep('--dry_run', '--workdir', tmp_path / 'ours').code == 0
    said = sweep('--dry_run', '--workdir', tmp_path / 'other')
    said.require_refused('a sweep with optimizer.b2 = 0.9, the config has 0.999; use')
    assert said.errors.endswith('_b2=0.999\n')
    assert tree_hash(tmp_path) == before


def test_a_dry_run_shows_overrides_and_memory_and_writes_nothing(sweep, tmp_path):
    gammas = '--config.grid.gamma=0.3,0.5,0.8'
    said = sweep('--workdir', tmp_path / 'run', '--dry_run', gammas)
    assert said.code == 0, said.errors
    assert 'tiny: 6 members in 1 cohort -> ' in said.out
    assert '0.3, 0.5, 0.8' in said.out
    assert re.search(r'about \d+ KiB of memory each', said.out)
    assert re.search(r'disk: \d+ KiB to write', said.out)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ('words', 'line'),
    [
        (['--dryrun'], "unknown argument '--dryrun'"),
        (['--dry'], "unknown argument '--dry', did you mean '--dry_run'?"),
        (['--config.grid.gamma', '0.3', '0.5'], "unknown argument '0.5', several"),
    ],
)
def test_an_unknown_argument_is_one_line(sweep, tmp_path, words, line):
    said = sweep('--workdir', tmp_path / 'run', *words)
    said.require_refused(f'error: {line}')
    assert not list(tmp_path.iterdir())
