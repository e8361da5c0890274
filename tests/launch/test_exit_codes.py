"""How a command ends: 2 for bad input, which is final, 1 for what may be gone later."""

import contextlib
import errno
import os
import pathlib
import signal
from collections.abc import Iterator

import pytest

from anchorjax import cli
from anchorjax.errors import StoreError, StoreUnavailable, TemporaryError, UserError
from anchorjax.storage.atomic import report_in_one_line, write_atomic, write_text


def make_error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


@pytest.mark.parametrize(
    ('error', 'code'),
    [
        (UserError('x'), 2),
        (TemporaryError('x'), 1),
        (StoreUnavailable('x'), 1),
        (ValueError("Failed to write to file 14 [os_error_code='28']"), 1),
        (make_error(errno.EACCES), 2),
        (make_error(errno.ENOENT), 2),
        (make_error(errno.ENOSPC), 1),
        (make_error(errno.EDQUOT), 1),
        (make_error(errno.ESTALE), 1),
        (make_error(errno.EIO), 1),
        (make_error(errno.ETIMEDOUT), 1),
    ],
)
def test_what_may_be_gone_later_is_exit_code_1(capsys, error, code):
    """A supervisor takes exit code 2 for bad input, which it never runs again."""

    def fail() -> None:
        if isinstance(error, ValueError) and not isinstance(error, UserError):
            raise StoreError('x') from error  # as of tensorstore's errors
        raise error

    with pytest.raises(SystemExit) as caught:
        cli.run_command(fail)
    assert caught.value.code == code
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith('error: ')
    assert line.endswith('; the same command may work later.') == (code == 1)


@pytest.mark.parametrize(('number', 'code'), [(errno.ENOSPC, 1), (errno.EACCES, 2)])
def test_an_error_of_a_file_counts_by_what_it_was_raised_for(
    capsys, tmp_path, number, code
):
    def write() -> None:
        with report_in_one_line('write', tmp_path):
            raise make_error(number)

    def read() -> None:
        try:
            raise make_error(number)
        except OSError as e:
            raise UserError(f'{tmp_path}: {e.strerror}') from None

    for command in (write, read):
        with pytest.raises(SystemExit) as caught:
            cli.run_command(command)
        assert caught.value.code == code
        assert os.strerror(number) in capsys.readouterr().err


def test_a_full_disk_is_told_though_netcdf_does_not_know_it(capsys, tmp_path):
    def fill(temporary: pathlib.Path) -> None:
        temporary.symlink_to('/dev/full')
        raise RuntimeError('NetCDF: HDF error')

    with pytest.raises(SystemExit) as caught:
        cli.run_command(lambda: write_atomic(tmp_path / 'results.nc', fill))
    assert caught.value.code == 1
    assert os.strerror(errno.ENOSPC) in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_is_named_not_its_temporary_one(capsys, tmp_path):
    (tmp_path / 'file').touch()
    path = tmp_path / 'file' / 'stages.md'
    with pytest.raises(SystemExit) as caught:
        cli.run_command(lambda: write_text(path, 'text'))
    assert caught.value.code == 2
    assert capsys.readouterr().err == f'error: cannot write {path}: File exists\n'


@contextlib.contextmanager
def print_to_nobody() -> Iterator[None]:
    """Standard output is a pipe that nobody reads any more, as of `| head`."""
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, 'w') as stream, contextlib.redirect_stdout(stream):
        yield
        stream.flush()  # as Python does when it exits


@pytest.mark.parametrize('size', [1, 10**6])
def test_a_closed_pipe_ends_a_command_without_a_word(capsys, size):
    """Few characters are written at the end, many at once."""
    with print_to_nobody(), pytest.raises(SystemExit) as caught:
        cli.run_command(lambda: print('x' * size))
    assert caught.value.code == 128 + signal.SIGPIPE
    assert capsys.readouterr().err == ''


def test_an_error_is_told_though_a_pipe_is_closed(capsys):
    def fail() -> None:
        print('x')
        raise UserError('bad')

    with print_to_nobody(), pytest.raises(SystemExit) as caught:
        cli.run_command(fail)
    assert caught.value.code == 2
    assert capsys.readouterr().err == 'error: bad\n'
