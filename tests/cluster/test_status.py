"""What is shown of every job: where it runs, how far it is, and what became of it."""

import dataclasses
import subprocess
import sys

import pytest

from anchorjax.cluster.job_files import announce_job, hold_shard, read_jobs
from anchorjax.cluster.status import list_statuses
from anchorjax.errors import StoreUnavailable
from anchorjax.sweeps.progress import Progress
from anchorjax.sweeps.shards import Shard
from tests.support.sweeps import ROOT, opened

HOLDER = """
import sys
from anchorjax.cluster.job_files import hold_shard
from anchorjax.sweeps.shards import WHOLE
from tests.support.sweeps import opened
folder, _ = opened(sys.argv[1])
with hold_shard(folder, WHOLE):
    print('held', flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """(folder, process that works on all of its chunks)."""
    line = [sys.executable, '-c', HOLDER, str(tmp_path)]
    pipes = {'stdin': subprocess.PIPE, 'stdout': subprocess.PIPE, 'text': True}
    with subprocess.Popen(line, cwd=ROOT, **pipes) as process:
        assert process.stdout.readline() == 'held\n'
        yield tmp_path, process
        process.kill()


def list_states(folder) -> list[str]:
    return [status.state for status in list_statuses(folder)]


@pytest.mark.slow
def test_the_second_job_is_told_who_works_there_until_that_one_dies(holder):
    workdir, process = holder
    folder, _ = opened(workdir)
    shard = Shard(2, 3)
    message = rf'are in use by process {process.pid} on \S+ \(shard 0/1, since'
    with pytest.raises(StoreUnavailable, match=message), hold_shard(folder, shard):
        pass
    assert list_states(folder) == ['running']
    process.kill()
    process.wait()
    assert list_states(folder) == ['lost']
    with hold_shard(folder, shard):
        assert list_states(folder)[2] == 'running'


def test_a_job_of_another_division_is_shown_while_it_runs(tmp_path):
    folder, _ = opened(tmp_path)
    with hold_shard(folder, Shard(0, 4)):
        announce_job(tmp_path, Shard(0, 2), engine='17_0')
        statuses = list_statuses(folder)
    shown = [(str(status.shard), status.state) for status in statuses]
    assert shown == [('0/2', 'waiting'), ('1/2', 'not started'), ('0/4', 'running')]


@pytest.mark.parametrize('engine, state', [('17_1', 'failed'), ('18_1', 'waiting')])
def test_what_a_fast_job_wrote_is_not_announced_over(
    tmp_path, monkeypatch, engine, state
):
    """The file of an earlier submission is."""
    folder, _ = opened(tmp_path)
    monkeypatch.setenv('SLURM_JOB_ID', '19')
    monkeypatch.setenv('SLURM_ARRAY_JOB_ID', '17')
    monkeypatch.setenv('SLURM_ARRAY_TASK_ID', '1')
    with pytest.raises(ZeroDivisionError), hold_shard(folder, Shard(1, 2)):
        _ = 1 / 0
    announce_job(tmp_path, Shard(1, 2), engine)
    (job,) = read_jobs(tmp_path)
    assert (job.state, job.engine) == (state, engine)
    assert ('ZeroDivisionError' in job.message) == (state == 'failed')


def test_a_job_file_that_cannot_be_read_is_no_obstacle(tmp_path):
    folder, _ = opened(tmp_path)
    announce_job(tmp_path, Shard(0, 2), engine='')
    path = tmp_path / 'jobs' / 'shard_00001_of_00002.json'
    path.write_text('{"shard": [1, 2]')
    assert list_states(folder) == ['waiting', 'not started']


def test_the_numbers_of_a_running_job_are_written_now_and_then(tmp_path):
    folder, _ = opened(tmp_path)
    progress = Progress(total=160, total_operations=160.0, label='all chunk 1')
    progress.add_piece(40, 1.0, seconds=2.0)
    with hold_shard(folder, Shard(0, 1)) as report:
        report(progress)
        report(dataclasses.replace(progress, done=80))  # too soon
        (status,) = list_statuses(folder)
        assert status.state == 'running'
        assert status.job.rate == 20.0
        assert status.job.label == 'all chunk 1'
        assert status.share == 0.25
