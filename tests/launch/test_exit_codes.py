"""How a command ends, also where its output cannot go: 0, 1, 2 (bad input), 75."""

import errno
import io
import os
import subprocess
import sys

import jax
import pytest

from anchorjax import cli
from anchorjax.errors import (
    EXIT_USER_ERROR,
    ConfigError,
    StoreError,
    StoreUnavailable,
    TemporaryError,
)
from anchorjax.sweeps.signals import Preempted
from tests.support import in_process
from tests.support.sweeps import ROOT, THREE, TINY_FILE, bits, fake_devices

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), '/data/run')


@pytest.mark.parametrize(
    ('error', 'code', 'line'),
    [
        (ConfigError('gamma = x: must be a number'), 2, 'error: gamma = x: must be a'),
        (StoreError('run is damaged'), 2, 'error: run is damaged'),
        (StoreUnavailable('run is in use'), 1, 'error: run is in use'),
        (TemporaryError('no answer'), 1, 'error: no answer'),
        (FULL, 1, 'error: No space left on device: /data/run'),
        (
            RuntimeError("Unable to initialize backend 'cuda'"),
            2,
            'error: JAX_PLATFORMS',
        ),
        (RuntimeError('Disallowed host-to-device transfer'), 2, 'error: JAX_TRANSFER'),
        (Preempted(), 75, 'stopped by a signal and saved; the same command continues'),
        (KeyboardInterrupt(), 1, 'interrupted; the same command continues'),
    ],
)
def test_an_error_is_one_line_and_an_exit_code(capsys, error, code, line):
    def fail() -> None:
        raise error

    with pytest.raises(SystemExit) as caught:
        cli.run_command(fail)
    assert caught.value.code == code
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith(line)


def test_a_file_that_uses_jax_before_the_sweep_is_bad_input(monkeypatch, capsys):
    """As a task with an array at its top does: this process has used JAX, too."""
    jax.devices()
    monkeypatch.delenv('XLA_FLAGS')
    words = ['--config', TINY_FILE, '--dry_run']
    said = in_process.run('sweep.py', words, monkeypatch, capsys)
    assert said.code == 2
    assert said.errors.startswith('error: JAX was used before the sweep began')


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


class Notebook(io.TextIOBase):
    """As the standard output of a notebook: neither a number nor an encoding."""

    def __init__(self, is_gone: bool):
        self.is_gone, self.text = is_gone, ''

    def write(self, text: str) -> int:
        if self.is_gone:
            raise OSError(errno.EPIPE, 'gone')
        self.text += text
        return len(text)


@pytest.mark.parametrize(('is_gone', 'text'), [(False, 'γ\n'), (True, '')])
def test_a_command_runs_in_a_notebook(monkeypatch, capsys, is_gone, text):
    """It prints there, and what cannot be printed stops nothing."""
    monkeypatch.setattr(sys, 'stdout', Notebook(is_gone))
    ended = []

    def command() -> None:
        with cli.lose_output():
            print('γ', flush=True)
        ended.append(True)

    cli.run_command(command)
    assert (sys.stdout.text, ended) == (text, [True])
    assert capsys.readouterr().err == ''


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
    assert caught.value.code == EXIT_USER_ERROR


@pytest.mark.slow
def test_a_sweep_whose_output_goes_nowhere_is_trained(launched, tmp_path):
    words = [sys.executable, 'launch/sweep.py', '--config', TINY_FILE, *THREE]
    line = f'set -o pipefail; {" ".join(words)} --workdir {tmp_path} 2>&- <&- | true'
    env = os.environ | fake_devices(2)
    done = subprocess.run(['bash', '-c', line], cwd=ROOT, env=env, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b''
    assert bits(tmp_path) == bits(launched)
