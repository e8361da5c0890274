"""Several processes as one program: one process's bits, stops and refusals.

Real processes that talk over gloo, each with two fake devices.
"""

import os
import pathlib
import socket
import subprocess

import pytest

from tests.support.shards.waiting import wait_until
from tests.support.sweeps import bits, command, fake_devices, launch

pytestmark = pytest.mark.slow
# 6 members on 4 devices: the second chunk is padded.
SEEDS = '--config.grid.seed=0,1,2'


def start_pair(workdir: pathlib.Path, *words: str) -> list[subprocess.Popen]:
    """Two processes of one program."""
    with socket.socket() as listener:
        listener.bind(('localhost', 0))
        port = listener.getsockname()[1]
    cluster = (f'--coordinator=localhost:{port}', '--processes=2')
    processes = []
    for i in range(2):
        all_words = ('--workdir', workdir, SEEDS, *cluster, *words, f'--process={i}')
        arguments = command(*all_words, env=fake_devices(2))
        processes.append(subprocess.Popen(**arguments))
    return processes


def finish(processes: list[subprocess.Popen]) -> list[tuple[int, str, str]]:
    """(exit code, standard output, errors) of each."""
    outputs = [process.communicate(timeout=180) for process in processes]
    ends = []
    for process, (out, errors) in zip(processes, outputs, strict=True):
        ends.append((process.returncode, out, errors))
    return ends


def test_two_processes_of_two_devices_give_the_bits_of_one_of_four(
    tmp_path_factory, tmp_path
):
    """Also when only the second is told to stop: both stop at the same step."""
    one_process = tmp_path_factory.mktemp('one')
    done = launch('--workdir', one_process, SEEDS, env=fake_devices(4))
    assert done.returncode == 0, done.stderr
    processes = start_pair(tmp_path)
    resume = tmp_path / 'cohorts' / 'all' / 'chunk_0000' / 'resume'

    def has_saved_or_ended() -> bool:
        has_ended = any(process.poll() is not None for process in processes)
        return has_ended or any(resume.glob('*/files.json'))

    wait_until(has_saved_or_ended, seconds=120)
    processes[1].terminate()
    stopped = finish(processes)
    assert [code for code, _, _ in stopped] == [75, 75], stopped
    for _, _, errors in stopped:
        assert 'saved; the same command continues.' in errors

    (code, out, errors), (other_code, other_out, _) = finish(start_pair(tmp_path))
    assert (code, other_code) == (0, 0), errors
    assert 'answers.png' in out
    assert 'members.csv' not in other_out and 'answers.png' not in other_out
    assert bits(tmp_path) == bits(one_process)
    table = (tmp_path / 'members.csv').read_bytes()
    assert table == (one_process / 'members.csv').read_bytes()

    refused = finish(start_pair(tmp_path, '--config.optimizer.b2=0.9'))
    assert [code for code, _, _ in refused] == [2, 2]
    assert all('optimizer.b2 = 0.999' in errors for _, _, errors in refused)


def test_hosts_that_cannot_be_found_are_one_line(tmp_path):
    env = {}
    for name, value in os.environ.items():
        if not name.startswith(('SLURM', 'OMPI')):
            env[name] = value
    arguments = command('--workdir', tmp_path, '--distributed') | {'env': env}
    done = subprocess.run(**arguments, timeout=120, check=False)
    assert done.returncode == 2 and done.stderr.startswith('error: --'), done.stderr
    assert len(done.stderr.splitlines()) == 1
