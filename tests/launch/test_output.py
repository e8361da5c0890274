"""Where the output of a command cannot go: training goes on, and no file gets it."""

import io
import os
import subprocess
import sys

import pytest

from anchorjax import cli
from tests.support.sweeps import ROOT, TINY_FILE, bits


def break_pipe() -> int:
    """The number of a pipe whose reader has ended."""
    reader, writer = os.pipe()
    os.close(reader)
    return writer


def open_full() -> int:
    return os.open('/dev/full', os.O_WRONLY)


@pytest.mark.parametrize('open_broken', [break_pipe, open_full])
@pytest.mark.parametrize('buffering', [1, -1])
def test_what_cannot_be_written_is_lost_and_nothing_else(open_broken, buffering):
    with open(open_broken(), 'w', buffering) as file:
        stream = cli.LossyStream(file)
        for _ in range(3):
            print('x' * 10_000, file=stream, flush=True)
        assert stream.fileno() == file.fileno() and not stream.isatty()
    # Closing flushed once more, as the end of Python does.


def test_a_stream_that_can_be_written_gets_all():
    file = io.StringIO()
    stream = cli.LossyStream(file)
    print('a', 'b', file=stream, flush=True)
    assert file.getvalue() == 'a b\n'


@pytest.mark.parametrize('name', ['stdout', 'stderr'])
def test_a_command_without_a_standard_stream_runs(monkeypatch, name):
    monkeypatch.setattr(sys, name, None)
    said = []

    def command() -> None:
        print('x', file=getattr(sys, name))
        said.append(getattr(sys, name).isatty())

    cli.run_command(command)
    assert said == [False]


def test_an_error_that_nobody_can_read_has_its_exit_code(monkeypatch):
    def fail() -> None:
        raise cli.UserError('bad')

    with open(open_full(), 'w', buffering=1) as full:
        monkeypatch.setattr(sys, 'stderr', full)
        with pytest.raises(SystemExit) as caught:
            cli.run_command(fail)
    assert caught.value.code == cli.EXIT_USER_ERROR


@pytest.mark.slow
@pytest.mark.parametrize(
    'redirection', ['>&- 2>&- <&-', '>/dev/full 2>/dev/full', '| true']
)
def test_a_sweep_whose_output_goes_nowhere_is_trained(launched, tmp_path, redirection):
    line = f'{sys.executable} launch/sweep.py --config {TINY_FILE} --workdir {tmp_path}'
    line = f'set -o pipefail; {line} {redirection}'
    done = subprocess.run(['bash', '-c', line], cwd=ROOT, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b''
    assert bits(tmp_path) == bits(launched)
