"""What is shown of every job: where it runs, how far it is, and what became of it."""

import dataclasses
import os

import pytest

from anchorjax import api
from anchorjax.errors import StoreUnavailable
from anchorjax.sweeps.jobs import hold_shard, list_statuses, log_path, read_jobs
from anchorjax.sweeps.progress import Progress
from anchorjax.sweeps.shards import WHOLE, Shard
from anchorjax.sweeps.signals import Preempted
from anchorjax.training.devices import make_mesh
from tests.support import in_process
from tests.support.sweeps import experiment, opened


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


def test_a_job_file_that_cannot_be_read_is_no_obstacle(tmp_path):
    folder, _ = opened(tmp_path)
    with hold_shard(folder, Shard(0, 2)):
        path = tmp_path / 'jobs' / 'shard_00001_of_00002.json'
        for damaged in ('{"shard": [1, 2]', '[]', '{"shard": [1, 2]}'):
            path.write_text(damaged)
            assert len(read_jobs(tmp_path)) == 1
            assert list_states(folder) == ['running', 'not started']


def test_the_numbers_of_a_running_job_are_written_now_and_then(tmp_path):
    folder, _ = opened(tmp_path)
    progress = Progress(total=160, total_operations=160.0, label='all chunk 1')
    progress.add_piece(40, 1.0, seconds=2.0)
    with hold_shard(folder, Shard(0, 1)) as report:
        report(progress)
        report(dataclasses.replace(progress, done=80))  # too soon
        (status,) = list_statuses(folder)
        assert (status.state, status.share) == ('running', 0.25)
        assert (status.job.rate, status.job.label) == (20.0, 'all chunk 1')
