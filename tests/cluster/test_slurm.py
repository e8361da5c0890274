"""The Slurm backend on a real Slurm: job arrays, preemption, and two nodes as one program."""

import contextlib
import os
import re
import subprocess
import sys
import time

import pytest

from tests.support import slurm_cluster
from tests.support.sweeps import ROOT, bits

pytest.importorskip('submitit')
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(slurm_cluster.missing()), reason=slurm_cluster.missing()),
]


@pytest.fixture(scope='module')
def cluster(tmp_path_factory):
    with slurm_cluster.running(tmp_path_factory.mktemp('slurm')) as environment:
        yield environment


@pytest.fixture
def submit(cluster):
    """Starts launch/submit.py; what still runs in the end is killed."""
    with contextlib.ExitStack() as stack:
        yield lambda *words: stack.enter_context(_submitted(cluster, *words))


@contextlib.contextmanager
def _submitted(cluster, workdir, *flags: str):
    line = [
        sys.executable,
        'launch/submit.py',
        '--backend=slurm',
        '--wait',
        '--pause=0',
        *flags,
    ]
    line += ['--', '--config', 'tests/support/tiny.py', '--workdir', str(workdir)]
    pipes = {'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT, 'text': True}
    with subprocess.Popen(
        line, cwd=ROOT, env={**os.environ, **cluster}, **pipes
    ) as process:
        yield process
        process.kill()


def until(found, process: subprocess.Popen, seconds: float = 150):
    """What `found` returns once it is true."""
    limit = time.monotonic() + seconds
    while not (value := found()):
        assert process.poll() is None and time.monotonic() < limit, (
            process.communicate()[0]
        )
        time.sleep(0.05)
    return value


def text(path) -> str:
    return path.read_text() if path.exists() else ''


def array_of(workdir) -> str | None:
    scripts = list((workdir / 'jobs' / 'submitit').glob('*/*_submission.sh'))
    return re.match(r'\d+', scripts[0].name)[0] if scripts else None


def test_a_preempted_shard_goes_back_into_the_queue_and_completes(
    cluster, submit, launched, tmp_path
):
    log = tmp_path / 'jobs' / 'shard_00001_of_00002.log'
    process = submit(tmp_path, '--shards=2')
    until(
        lambda: 'tiny: 4 members' in text(log), process
    )  # it listens to signals from here on
    task = f'{array_of(tmp_path)}_1'
    slurm_cluster.ask(cluster, 'scancel', '--signal=USR2', task)
    until(lambda: 'put back in the queue' in text(log), process)
    until(
        lambda: slurm_cluster.ask(cluster, 'squeue', '-h', '-t', 'PENDING', '-j', task),
        process,
    )
    time.sleep(
        2
    )  # in the second of its requeue a job would be refused: 'credential revoked'
    # Slurm lets a requeued job start after two minutes.
    slurm_cluster.ask(cluster, 'scontrol', 'update', f'jobid={task}', 'StartTime=now')
    said, _ = process.communicate(timeout=240)
    assert process.returncode == 0, said
    assert text(log).count('starts on') == 2
    assert bits(tmp_path) == bits(launched)


def test_two_nodes_are_one_program(submit, launched, tmp_path, monkeypatch):
    one_device = '--xla_force_host_platform_device_count=1'
    monkeypatch.setenv('XLA_FLAGS', f'{os.environ.get("XLA_FLAGS", "")} {one_device}')
    process = submit(tmp_path, '--shards=1', '--nodes=2')
    said, _ = process.communicate(timeout=240)
    assert process.returncode == 0, said
    assert (tmp_path / 'jobs' / 'shard_00000_of_00001_host_001.log').exists()
    assert bits(tmp_path) == bits(launched)
