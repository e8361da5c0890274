"""Several processes as one program: one process's bits, stops and refusals.

Real processes that talk over gloo, each with one device.
"""

import pathlib
import signal
import socket
import subprocess

import pytest

from anchorjax.sweeps.signals import handle_signals
from tests.support.shards.waiting import wait_until
from tests.support.sweeps import THREE, bits, command, fake_devices

pytestmark = pytest.mark.slow

# The command of the line, then one of another experiment by processes that have joined.
AND_ANOTHER = """
import sys
from anchorjax import cli
from launch import sweep
cli.run_command(sweep.command)
sys.argv[-3:] = ['--config.optimizer.b2=0.9']
cli.run_command(sweep.command)
"""


def start_pair(workdir: pathlib.Path, *program: str) -> list[subprocess.Popen]:
    """Two processes of one program: words of Python's, instead of launch/sweep.py."""
    with socket.socket() as listener:
        listener.bind(('localhost', 0))
        port = listener.getsockname()[1]
    cluster = (f'--coordinator=localhost:{port}', '--processes=2')
    processes = []
    for i in range(2):
        words = ('--workdir', workdir, *THREE, *cluster, f'--process={i}')
        arguments = command(*words, env=fake_devices(1))
        arguments['args'][1:2] = program or arguments['args'][1:2]
        # Ctrl-C is not ignored, as it may be where these tests run.
        with handle_signals([signal.SIGINT], signal.default_int_handler):
            processes.append(subprocess.Popen(**arguments))
    return processes


def finish(processes: list[subprocess.Popen]) -> list[tuple[int, str, str]]:
    """(exit code, standard output, errors) of each."""
    outputs = [process.communicate(timeout=300) for process in processes]
    ends = []
    for process, (out, errors) in zip(processes, outputs, strict=True):
        ends.append((process.returncode, out, errors))
    return ends


def test_two_processes_of_one_device_give_the_bits_of_one_of_two(launched, tmp_path):
    """Also when Ctrl-C stops only the second: both stop at the same step."""
    processes = start_pair(tmp_path)
    resume = tmp_path / 'cohorts' / 'all' / 'chunk_0000' / 'resume'

    def has_saved_or_ended() -> bool:
        has_ended = any(process.poll() is not None for process in processes)
        return has_ended or any(resume.glob('*/files.json'))

    wait_until(has_saved_or_ended, seconds=300)
    processes[1].send_signal(signal.SIGINT)
    stopped = finish(processes)
    assert [code for code, _, _ in stopped] == [75, 75], stopped
    for _, _, errors in stopped:
        assert 'saved; the same command continues.' in errors

    ends = finish(start_pair(tmp_path, '-c', AND_ANOTHER))
    for code, _, errors in ends:
        assert code == 2 and 'optimizer.b2 = 0.999' in errors, errors
    (_, out, _), (_, other_out, _) = ends
    assert 'answers.png' in out
    assert 'members.csv' not in other_out and 'answers.png' not in other_out
    assert bits(tmp_path) == bits(launched)
    table = (tmp_path / 'members.csv').read_bytes()
    assert table == (launched / 'members.csv').read_bytes()
