"""The Slurm backend on a real Slurm: a program on two nodes, which is preempted."""

import os
import re
import time

import pytest

from tests.support import in_process
from tests.support.shards import slurm_cluster
from tests.support.shards.waiting import read_text, wait_until
from tests.support.sweeps import THREE, bits

pytest.importorskip('submitit')
ABSENCE = slurm_cluster.explain_absence()
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(ABSENCE), reason=ABSENCE)]


@pytest.fixture
def run(tmp_path_factory, monkeypatch):
    """A function that runs a command of Slurm and returns what it prints."""
    with slurm_cluster.run_cluster(tmp_path_factory.mktemp('slurm')) as environment:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        yield lambda *line: slurm_cluster.run_command(environment, *line)


def test_a_preempted_program_on_two_nodes_goes_back_into_the_queue_and_completes(
    run, launched, tmp_path, monkeypatch, capsys
):
    flags = os.environ.get('XLA_FLAGS', '')
    one_device = '--xla_force_host_platform_device_count=1'
    monkeypatch.setenv('XLA_FLAGS', f'{flags} {one_device}')
    words = ['--shards=1', '--nodes=2', '--', '--config', 'tests/support/tiny.py']
    words += ['--workdir', str(tmp_path), *THREE]
    said = in_process.run('submit.py', words, monkeypatch, capsys)
    assert said.code == 0, said.errors
    job = re.search(r'job (\d+) is in the queue', said.out)[1]
    log = tmp_path / 'jobs' / 'shard_00000_of_00001.log'
    # The plan is printed once the sweep handles signals.
    wait_until(lambda: 'tiny: 3 members' in read_text(log), seconds=150)
    run('scancel', '--signal=USR2', job)
    wait_until(lambda: run('squeue', '-h', '-t', 'PENDING', '-j', job), seconds=150)
    # In the second of its requeue a job would be refused: 'credential revoked'.
    time.sleep(2)
    # By itself Slurm starts a requeued job only after two minutes.
    run('scontrol', 'update', f'jobid={job}', 'StartTime=now')
    wait_until(lambda: not run('squeue', '-h', '-j', job), seconds=240)
    assert read_text(log).count('tiny: 3 members') == 2
    assert log.with_stem(f'{log.stem}_host_001').exists()
    assert bits(tmp_path) == bits(launched)
