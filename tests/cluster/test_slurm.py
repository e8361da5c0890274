"""The Slurm backend on a real Slurm: an array, a preemption, a program on two nodes."""

import contextlib
import os
import pathlib
import re
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.shards import slurm_cluster
from tests.support.shards.waiting import read_text
from tests.support.sweeps import ROOT, bits

pytest.importorskip('submitit')
ABSENCE = slurm_cluster.explain_absence()
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(ABSENCE), reason=ABSENCE)]


@pytest.fixture(scope='module')
def cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp('slurm')
    with slurm_cluster.run_cluster(folder) as environment:
        yield environment


@pytest.fixture
def submit(cluster):
    """Starts launch/submit.py; what still runs in the end is killed."""
    with contextlib.ExitStack() as stack:

        def start(workdir: pathlib.Path, *flags: str) -> subprocess.Popen:
            line = [sys.executable, 'launch/submit.py', '--wait', *flags]
            line += ['--', '--config', 'tests/support/tiny.py']
            line += ['--workdir', str(workdir)]
            process = subprocess.Popen(
                line,
                cwd=ROOT,
                env=os.environ | cluster,
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield start


def wait_until(
    look: Callable[[], Any], process: subprocess.Popen, seconds: float = 150
) -> Any:
    """Calls `look` until it returns something true, while the process runs."""
    limit = time.monotonic() + seconds
    while True:
        value = look()
        if value:
            return value
        is_in_time = process.poll() is None and time.monotonic() < limit
        assert is_in_time, process.communicate()[0]
        time.sleep(0.05)


def find_array(workdir: pathlib.Path) -> str:
    """The number of the job array."""
    folder = workdir / 'jobs' / 'submitit'
    (script,) = folder.glob('*/*_submission.sh')
    return re.match(r'\d+', script.name)[0]


def test_a_preempted_shard_goes_back_into_the_queue_and_completes(
    cluster, submit, launched, tmp_path
):
    log = tmp_path / 'jobs' / 'shard_00001_of_00002.log'
    process = submit(tmp_path, '--shards=2')
    # The plan is printed once the sweep handles signals.
    wait_until(lambda: 'tiny: 4 members' in read_text(log), process)
    task = f'{find_array(tmp_path)}_1'
    slurm_cluster.run_command(cluster, 'scancel', '--signal=USR2', task)
    pending = ('squeue', '-h', '-t', 'PENDING', '-j', task)
    wait_until(lambda: slurm_cluster.run_command(cluster, *pending), process)
    # In the second of its requeue a job would be refused: 'credential revoked'.
    time.sleep(2)
    # By itself Slurm starts a requeued job only after two minutes.
    update = ('scontrol', 'update', f'jobid={task}', 'StartTime=now')
    slurm_cluster.run_command(cluster, *update)
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 0, output
    assert read_text(log).count('tiny: 4 members') == 2
    assert bits(tmp_path) == bits(launched)


def test_two_nodes_are_one_program(submit, launched, tmp_path, monkeypatch):
    flags = os.environ.get('XLA_FLAGS', '')
    one_device = '--xla_force_host_platform_device_count=1'
    monkeypatch.setenv('XLA_FLAGS', f'{flags} {one_device}')
    process = submit(tmp_path, '--shards=1', '--nodes=2')
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 0, output
    assert (tmp_path / 'jobs' / 'shard_00000_of_00001_host_001.log').exists()
    assert bits(tmp_path) == bits(launched)
