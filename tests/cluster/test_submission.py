"""Slurm's jobs without Slurm: submitit's local executor requeues them instead."""

import os
import signal
import stat
import types

import pytest

from anchorjax.errors import UserError
from tests.support.shards.stub_shards import (
    count_starts,
    find_keeper,
    list_first_steps,
    make_supervisors,
    read_state,
)
from tests.support.shards.waiting import read_text, wait_until

submitit = pytest.importorskip('submitit')
submission = pytest.importorskip('anchorjax.cluster.submission')


@pytest.fixture
def submit(tmp_path):
    """A function that starts supervisors as submitit's jobs; returns the jobs."""

    def start(*supervisors) -> list[submitit.Job]:
        folder = submission.make_private_folder(tmp_path)
        executor = submitit.LocalExecutor(folder)
        executor.update_parameters(timeout_min=60, stderr_to_stdout=True)
        jobs = []
        for supervisor in supervisors:
            jobs.append(executor.submit(submission.SlurmJob(supervisor)))
        return jobs

    return start


def send(supervisor, number: int) -> None:
    """Signals the process of a job, as Slurm does."""
    os.kill(wait_until(lambda: find_keeper(supervisor)), number)


@pytest.mark.parametrize(
    'after_sigterm', [False, pytest.param(True, marks=pytest.mark.slow)]
)
def test_a_preempted_job_is_requeued_and_completes(submit, tmp_path, after_sigterm):
    (supervisor,) = make_supervisors(tmp_path, 1, '--steps=20')
    (job,) = submit(supervisor)
    if after_sigterm:
        send(supervisor, signal.SIGTERM)
        wait_until(lambda: 'has stopped; waits' in read_text(supervisor.log))
        assert not job.done()
    send(supervisor, signal.SIGUSR2)
    assert job.result() == 'shard 0/1'
    assert count_starts(tmp_path, 0) == 2
    assert 'put back in the queue' in read_text(supervisor.log)
    first, second = list_first_steps(supervisor)
    assert first == 0 < second
    assert read_state(tmp_path, 0) == 20


def test_a_job_that_does_not_save_in_time_is_killed_and_requeued(submit, tmp_path):
    (supervisor,) = make_supervisors(tmp_path, 1, '--mode=0=hang', grace=0.1)
    (job,) = submit(supervisor)
    send(supervisor, signal.SIGUSR2)
    assert job.result() == 'shard 0/1'
    assert list_first_steps(supervisor) == [0, 0]
    assert read_state(tmp_path, 0) == 2


def test_what_is_requeued_forgets_that_it_was_told_to_stop(tmp_path, monkeypatch):
    monkeypatch.setenv('SUBMITIT_EXECUTOR', 'local')
    (supervisor,) = make_supervisors(tmp_path, 1)
    supervisor.stop()
    handler = signal.getsignal(signal.SIGTERM)
    assert submission.SlurmJob(supervisor).checkpoint().function() == 'shard 0/1'
    assert count_starts(tmp_path, 0) == 1
    assert signal.getsignal(signal.SIGTERM) == handler


def test_other_hosts_have_logs_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setenv('SUBMITIT_EXECUTOR', 'local')
    monkeypatch.setenv('SUBMITIT_LOCAL_GLOBALID', '2')
    (supervisor,) = make_supervisors(tmp_path, 1)
    submission.SlurmJob(supervisor)()
    assert 'starts on' in read_text(tmp_path / 'shard_00000_of_00001_host_002.log')


def test_failures_are_reported_and_others_go_on(submit, tmp_path, monkeypatch):
    words = ['--mode=0=crash', '--mode=1=refuse']
    supervisors = make_supervisors(tmp_path, 4, *words, retries=1)
    jobs = submit(*supervisors)
    for job in jobs:
        job.wait()
    jobs[3].paths.result_pickle.unlink()  # as if it was cancelled
    (tmp_path / 'squeue').write_text('#!/bin/sh\n')  # nothing is in the queue
    (tmp_path / 'squeue').chmod(0o755)
    monkeypatch.setenv('PATH', f'{tmp_path}:{os.environ["PATH"]}')
    lines = submission.wait_slurm(jobs, supervisors)
    assert len(lines) == 3
    assert lines[0].startswith('shard 0/4 crashed 2 times, ')
    assert lines[1].startswith('shard 1/4 was refused (')
    assert lines[2].startswith('shard 3/4 was stopped; ')
    for line in lines:
        assert '\n' not in line and '.log' in line
    assert [count_starts(tmp_path, i) for i in range(4)] == [2, 1, 1, 1]
    assert read_state(tmp_path, 2) == 2


@pytest.mark.parametrize(
    'last',
    ['exit 0', 'echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1'],
)
def test_jobs_have_ended_only_if_squeue_says_so(tmp_path, monkeypatch, last):
    """First it fails, then it lists a job, then it does not answer in time."""
    calls = tmp_path / 'calls'
    script = f"""#!/bin/sh
echo >> {calls}
case $(wc -l < {calls}) in
1) echo 'slurm_load_jobs error: Socket timed out on send/recv operation' >&2; exit 1 ;;
2) echo '12 gpu anchorjax me R 1:00 1 node' ;;
3) exit 1 ;;
*) {last} ;;
esac
"""
    (tmp_path / 'squeue').write_text(script)
    (tmp_path / 'squeue').chmod(0o755)
    monkeypatch.setenv('PATH', f'{tmp_path}:{os.environ["PATH"]}')
    monkeypatch.setattr(submission, '_QUEUE_POLL', 0.0)
    paths = types.SimpleNamespace(result_pickle=tmp_path / 'absent')
    job = types.SimpleNamespace(job_id='12_0', paths=paths)
    (line,) = submission.wait_slurm([job], make_supervisors(tmp_path, 1))
    assert line.startswith('shard 0/1 was stopped; ')
    assert len(calls.read_text().splitlines()) == 4


def test_pickles_lie_where_nobody_else_can_have_put_one(tmp_path):
    first = submission.make_private_folder(tmp_path)
    second = submission.make_private_folder(tmp_path)
    assert first != second and not list(second.iterdir())
    assert stat.S_IMODE(first.stat().st_mode) == 0o700
    with pytest.raises(UserError, match='must not contain %'):
        submission.make_private_folder(tmp_path / 'a%j')
