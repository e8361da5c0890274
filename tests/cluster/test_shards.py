"""A sweep in parts: none lost, none twice, never two jobs on a chunk, and all can be seen."""

import dataclasses
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchorjax.cluster.job_files import announce_job, hold_shard, log_path
from anchorjax.cluster.shards import Shard, parse_shard, partition
from anchorjax.cluster.status import list_statuses
from anchorjax.errors import StoreError, UserError
from anchorjax.storage import locks
from anchorjax.storage.reader import write_tables
from anchorjax.sweeps import signals
from anchorjax.sweeps.run import Progress, run_sweep
from tests.support.sweeps import ROOT, bits, opened, trained

COSTS = st.lists(st.floats(0.1, 1e3), max_size=60)


@given(COSTS, st.integers(1, 20))
def test_shards_cover_all_chunks_once_in_order(costs, count):
    parts = [partition(costs, Shard(i, count)) for i in range(count)]
    assert [item for part in parts for item in part] == list(range(len(costs)))


@given(COSTS, st.integers(1, 20))
def test_no_shard_costs_more_than_its_share_and_one_chunk(costs, count):
    for i in range(count):
        cost = sum(costs[item] for item in partition(costs, Shard(i, count)))
        assert cost <= sum(costs) / count + max(costs, default=0) + 1e-6


def test_a_deep_cohort_is_cut_finer_than_a_shallow_one():
    assert partition([1, 1, 1, 1, 4], Shard(0, 2)) == range(0, 4)
    assert partition([1, 1, 1, 1, 4], Shard(1, 2)) == range(4, 5)


@pytest.mark.parametrize(
    'text', ['', '3', '3/3', '-1/2', '1/0', 'a/b', '1/2/3', '²/3', '1.0/2']
)
def test_a_wrong_shard_is_refused(text):
    with pytest.raises(UserError, match='must be INDEX/COUNT'):
        parse_shard(text)
    assert parse_shard('3/16') == Shard(3, 16)


def test_overlapping_chunks_are_held_by_one_alone(tmp_path):
    with locks.hold_chunks(tmp_path, range(2, 6)):
        with locks.hold_chunks(tmp_path, range(6, 9)):
            assert locks.find_holder(tmp_path, range(0, 20)) == range(2, 6)
        with pytest.raises(locks.Held), locks.hold_chunks(tmp_path, range(5, 7)):
            pass
        assert locks.find_holder(tmp_path, range(0, 2)) is None
    assert locks.find_holder(tmp_path, range(0, 20)) is None


HOLDER = """
import sys, conftest
from anchorjax import jobs
from anchorjax.shards import Shard
there, _ = conftest.opened(sys.argv[1])
with jobs.working(there, Shard(0, 1)):
    print('held', flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def held(tmp_path):
    """(folder, process that works on all of its chunks)."""
    line = [sys.executable, '-c', HOLDER, str(tmp_path)]
    pipes = {'stdin': subprocess.PIPE, 'stdout': subprocess.PIPE, 'text': True}
    with subprocess.Popen(line, cwd=ROOT / 'tests', **pipes) as process:
        assert process.stdout.readline() == 'held\n'
        yield tmp_path, process
        process.kill()


@pytest.mark.slow
def test_the_second_job_is_told_who_works_there_until_that_one_dies(held):
    folder, process = held
    there, _ = opened(folder)
    told = rf'are in use by process {process.pid} on \S+ \(shard 0/1, since'
    with pytest.raises(StoreError, match=told), hold_shard(there, Shard(2, 3)):
        pass
    assert [s.state for s in list_statuses(there)] == ['running']
    process.kill()
    process.wait()
    assert [s.state for s in list_statuses(there)] == ['lost']
    with hold_shard(there, Shard(2, 3)):
        assert [s.state for s in list_statuses(there)][2] == 'running'


def one_shard(
    workdir, index: int, count: int, asked=lambda: False, report=lambda p: None
):
    """Trains one shard as launch/sweep.py does."""
    there, mesh = opened(workdir)
    shard = Shard(index, count)
    with hold_shard(there, shard) as tell:
        both = lambda progress: (tell(progress), report(progress))
        run_sweep(there, mesh, asked, both, part=there.part(shard))
    return write_tables(there)


@pytest.fixture(scope='module')
def undivided(tmp_path_factory):
    return trained(tmp_path_factory.mktemp('undivided')).sweep_dir.workdir


@pytest.mark.parametrize('order', [(0, 1, 2), (2, 0, 1)])
def test_shards_in_any_order_give_the_bits_of_the_whole(undivided, tmp_path, order):
    for place, index in enumerate(order):
        run = one_shard(tmp_path, index, 3)
        assert (
            int(run.results.trained.sum()) >= place + 1
        )  # a partial sweep can be read
    assert bits(tmp_path) == bits(undivided)
    csv = [(folder / 'members.csv').read_bytes() for folder in (tmp_path, undivided)]
    assert csv[0] == csv[1]


def test_what_is_done_is_skipped_however_it_was_cut(undivided, tmp_path):
    one_shard(tmp_path, 0, 2)
    trained_now = []
    for index in range(4):
        there, mesh = opened(tmp_path)
        part = there.part(Shard(index, 4))
        progress = run_sweep(there, mesh, lambda: False, lambda p: None, part=part)
        trained_now.append(progress.trained > 0)
    assert trained_now == [False, False, True, True]
    assert bits(tmp_path) == bits(undivided)


def test_statuses_tell_what_became_of_every_shard(tmp_path):
    there, _ = opened(tmp_path)
    one_shard(tmp_path, 0, 4)
    stop = lambda progress: progress.done >= 10
    with signals.catch_stop() as asked, pytest.raises(signals.Preempted):
        one_shard(tmp_path, 1, 4, asked, lambda p: stop(p) and os.kill(os.getpid(), 15))
    with pytest.raises(ZeroDivisionError), hold_shard(there, Shard(2, 4)):
        _ = 1 / 0
    announce_job(tmp_path, Shard(3, 4), engine='17_3')
    log_path(tmp_path, Shard(2, 4)).write_text(
        'first\n' + 'long ago\n' * 9000 + 'last\n'
    )
    found = list_statuses(there)
    assert [s.state for s in found] == ['done', 'preempted', 'failed', 'waiting']
    assert [s.share for s in found] == [1.0, 0.0, 0.0, 0.0]
    assert found[2].log[-1] == 'last' and len(found[2].log) == 5
    assert 'ZeroDivisionError' in found[2].job.message and found[3].job.engine == '17_3'


def test_a_job_file_that_cannot_be_read_is_no_obstacle(tmp_path):
    there, _ = opened(tmp_path)
    announce_job(tmp_path, Shard(0, 2), engine='')
    (tmp_path / 'jobs' / 'shard_00001_of_00002.json').write_text('{"shard": [1, 2]')
    assert [s.state for s in list_statuses(there)] == ['waiting', 'not started']


def test_the_numbers_of_a_running_job_are_written_now_and_then(tmp_path):
    there, _ = opened(tmp_path)
    progress = Progress(
        total=160, done=40, trained=40, seconds=2.0, label='all chunk 1'
    )
    with hold_shard(there, Shard(0, 1)) as tell:
        tell(progress)
        tell(dataclasses.replace(progress, done=80))  # too soon
        (status,) = list_statuses(there)
        assert (status.state, status.job.rate, status.job.label) == (
            'running',
            20.0,
            'all chunk 1',
        )
        assert status.share == 0.25
