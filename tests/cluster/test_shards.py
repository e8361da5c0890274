"""A sweep in parts: no chunk is lost or trained twice, and all jobs can be seen."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchorjax import api
from anchorjax.errors import StoreUnavailable, UserError
from anchorjax.storage.reader import Run
from anchorjax.sweeps import cost
from anchorjax.sweeps.jobs import hold_shard, list_statuses, log_path
from anchorjax.sweeps.run import run_sweep
from anchorjax.sweeps.shards import (
    WHOLE,
    Shard,
    chunks_of_shard,
    list_costs,
    parse_shard,
    partition,
)
from anchorjax.sweeps.signals import Preempted
from anchorjax.training.devices import make_mesh
from tests.support import in_process
from tests.support.sweeps import bits, experiment, opened, trained

COSTS = st.lists(st.floats(0.1, 1e3), max_size=60)


@given(COSTS, st.integers(1, 20))
def test_shards_cover_all_chunks_once_in_order(costs, count):
    items = []
    for index in range(count):
        items.extend(partition(costs, Shard(index, count)))
    assert items == list(range(len(costs)))


@given(COSTS, st.integers(1, 20))
def test_no_shard_costs_more_than_its_share_and_one_chunk(costs, count):
    limit = sum(costs) / count + max(costs, default=0) + 1e-6
    for index in range(count):
        part = partition(costs, Shard(index, count))
        assert sum(costs[item] for item in part) <= limit


def test_a_deep_cohort_is_cut_finer_than_a_shallow_one():
    assert partition([1, 1, 1, 1, 4], Shard(0, 2)) == range(0, 4)
    assert partition([1, 1, 1, 1, 4], Shard(1, 2)) == range(4, 5)


def test_a_chunk_costs_the_operations_of_its_cohort(tmp_path):
    folder, _ = opened(tmp_path, static_axes=(('model.depth', (1, 3)),))
    costs = list_costs(folder)
    for chunk, operations in zip(folder.chunks, costs, strict=True):
        of_cohort = folder.experiment.for_cohort(chunk.cohort)
        assert operations == cost.count_step(of_cohort).operations
    assert len(set(costs)) == 2
    for index in range(3):
        shard = Shard(index, 3)
        assert chunks_of_shard(folder, shard) == partition(costs, shard)


@pytest.mark.parametrize(
    'text', ['', '3', '3/3', '-1/2', '1/0', 'a/b', '1/2/3', '²/3', '1.0/2', '0/100000']
)
def test_a_wrong_shard_is_refused(text):
    with pytest.raises(UserError, match='must be INDEX/COUNT'):
        parse_shard(text)
    assert parse_shard('3/16') == Shard(3, 16)


def test_overlapping_chunks_are_held_by_one_alone(tmp_path):
    folder, _ = opened(tmp_path)  # of four chunks
    line = 'chunks 2 to 3 are in use by process'
    with hold_shard(folder, Shard(1, 2)):
        for free in (Shard(0, 2), Shard(1, 4)):
            with hold_shard(folder, free):
                pass
        for taken in (WHOLE, Shard(1, 2), Shard(2, 4), Shard(2, 3)):
            with pytest.raises(StoreUnavailable, match=line), hold_shard(folder, taken):
                pass
    with hold_shard(folder, WHOLE):
        pass


AT_THE_END = {'train__resume_every': 1e9}  # nothing is saved before


def train_shard(workdir, shard: Shard) -> Run:
    return api.train(experiment(**AT_THE_END), workdir, mesh=make_mesh(1), shard=shard)


@pytest.fixture(scope='module')
def whole_sweep(tmp_path_factory):
    run = trained(tmp_path_factory.mktemp('whole_sweep'), **AT_THE_END)
    return run.folder.workdir


@pytest.mark.slow
def test_shards_in_any_order_give_the_bits_of_the_whole(whole_sweep, tmp_path):
    for place, index in enumerate((2, 0, 1)):
        run = train_shard(tmp_path, Shard(index, 3))
        num_trained = int(run.results.trained.sum())  # a partial sweep can be read
        assert num_trained >= place + 1
    assert bits(tmp_path) == bits(whole_sweep)
    table = (tmp_path / 'members.csv').read_bytes()
    assert table == (whole_sweep / 'members.csv').read_bytes()


@pytest.mark.slow
def test_what_is_done_is_skipped_however_it_was_cut(whole_sweep, tmp_path):
    train_shard(tmp_path, Shard(0, 2))
    trained_now = []
    for index in range(4):
        folder, mesh = opened(tmp_path, **AT_THE_END)
        chunks = chunks_of_shard(folder, Shard(index, 4))
        progress = run_sweep(folder, mesh, chunks=chunks)
        trained_now.append(bool(progress.recent))
    assert trained_now == [False, False, True, True]
    assert bits(tmp_path) == bits(whole_sweep)


def list_states(folder) -> list[str]:
    return [status.state for status in list_statuses(folder)]


def test_the_second_job_is_told_who_works_there_until_that_one_dies(tmp_path):
    folder, _ = opened(tmp_path)
    shard = Shard(2, 3)
    with hold_shard(folder, WHOLE):
        (path,) = (tmp_path / 'jobs').glob('*.json')
        written_while_running = path.read_bytes()
        message = rf'are in use by process {os.getpid()} on \S+ \(shard 0/1, since'
        with pytest.raises(StoreUnavailable, match=message), hold_shard(folder, shard):
            pass
        assert list_states(folder) == ['running']
    path.write_bytes(written_while_running)  # all that a killed job leaves
    assert list_states(folder) == ['lost']
    with hold_shard(folder, shard):
        assert list_states(folder) == ['not started', 'not started', 'running']


def test_statuses_tell_what_became_of_every_shard(tmp_path, monkeypatch, capsys):
    folder, _ = opened(tmp_path)
    api.train(experiment(), tmp_path, mesh=make_mesh(1), shard=Shard(0, 4))
    with pytest.raises(Preempted), hold_shard(folder, Shard(1, 4)):
        raise Preempted
    monkeypatch.setenv('SLURM_ARRAY_JOB_ID', '17')
    monkeypatch.setenv('SLURM_ARRAY_TASK_ID', '2')
    with pytest.raises(ZeroDivisionError), hold_shard(folder, Shard(2, 4)):
        _ = 1 / 0
    log_path(tmp_path, Shard(2, 4)).write_text('long ago\n' * 9 + 'last\n')
    assert list_states(folder) == ['done', 'preempted', 'failed', 'not started']
    said = in_process.run('status.py', ['--run', str(tmp_path)], monkeypatch, capsys)
    title, done, preempted, failed, message, *log, untouched = said.out.splitlines()
    assert title == 'tiny: 1 of 4 members are trained'
    assert done.split() == ['0/4', 'done', '100.0%']
    assert preempted.split()[:3] == ['1/4', 'preempted', '0.0%']
    assert failed.split()[:3] == ['2/4', 'failed', '0.0%']
    assert failed.endswith('(job 17_2)') and 'ZeroDivisionError' in message
    assert len(log) == 5 and log[-1].strip() == 'last'
    assert untouched.split() == ['3/4', 'not', 'started', '0.0%']
