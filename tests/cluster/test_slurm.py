"""The Slurm backend on a real Slurm: an array, a preemption, a program on two nodes."""

import os
import pathlib
import re
import time

import pytest

from tests.support import in_process
from tests.support.shards import slurm_cluster
from tests.support.shards.waiting import read_text, wait_until
from tests.support.sweeps import bits

pytest.importorskip('submitit')
ABSENCE = slurm_cluster.explain_absence()
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(ABSENCE), reason=ABSENCE)]


@pytest.fixture(scope='module')
def cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp('slurm')
    with slurm_cluster.run_cluster(folder) as environment:
        yield environment


@pytest.fixture
def submit(cluster, monkeypatch, capsys):
    """Runs launch/submit.py; returns the number of the job array."""
    for name, value in cluster.items():
        monkeypatch.setenv(name, value)

    def run(workdir: pathlib.Path, *flags: str) -> str:
        line = [*flags, '--', '--config', 'tests/support/tiny.py']
        line += ['--workdir', str(workdir)]
        said = in_process.run('submit.py', line, monkeypatch, capsys)
        assert said.code == 0, said.errors
        return re.search(r'job (\d+) is in the queue', said.out)[1]

    return run


def wait_for_end(cluster: dict[str, str], array: str) -> None:
    """Waits until the queue has no job of the array."""

    def has_ended() -> bool:
        return not slurm_cluster.run_command(cluster, 'squeue', '-h', '-j', array)

    wait_until(has_ended, seconds=240)


def test_a_preempted_shard_goes_back_into_the_queue_and_completes(
    cluster, submit, launched, tmp_path
):
    log = tmp_path / 'jobs' / 'shard_00001_of_00002.log'
    array = submit(tmp_path, '--shards=2')
    # The plan is printed once the sweep handles signals.
    wait_until(lambda: 'tiny: 4 members' in read_text(log), seconds=150)
    task = f'{array}_1'
    slurm_cluster.run_command(cluster, 'scancel', '--signal=USR2', task)
    pending = ('squeue', '-h', '-t', 'PENDING', '-j', task)
    wait_until(lambda: slurm_cluster.run_command(cluster, *pending), seconds=150)
    # In the second of its requeue a job would be refused: 'credential revoked'.
    time.sleep(2)
    # By itself Slurm starts a requeued job only after two minutes.
    update = ('scontrol', 'update', f'jobid={task}', 'StartTime=now')
    slurm_cluster.run_command(cluster, *update)
    wait_for_end(cluster, array)
    assert read_text(log).count('tiny: 4 members') == 2
    assert bits(tmp_path) == bits(launched)


def test_two_nodes_are_one_program(cluster, submit, launched, tmp_path, monkeypatch):
    flags = os.environ.get('XLA_FLAGS', '')
    one_device = '--xla_force_host_platform_device_count=1'
    monkeypatch.setenv('XLA_FLAGS', f'{flags} {one_device}')
    wait_for_end(cluster, submit(tmp_path, '--shards=1', '--nodes=2'))
    assert (tmp_path / 'jobs' / 'shard_00000_of_00001_host_001.log').exists()
    assert bits(tmp_path) == bits(launched)
