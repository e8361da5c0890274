"""Locks of files and folders. However a process dies, the kernel releases its locks."""

import contextlib
import fcntl
import pathlib
from collections.abc import Iterator
from typing import IO

from anchorjax.errors import StoreError, StoreUnavailable
from anchorjax.files import report_in_one_line

_LOCK_FILE = '.lock'


@contextlib.contextmanager
def hold_folder(folder: pathlib.Path, wait: bool = False) -> Iterator[None]:
    """Locks a folder (of a sweep: its manifest and results) for this process.

    Args:
      wait: for another process that holds it.

    Raises:
      StoreUnavailable: another process holds it.
      StoreError: the folder cannot be written, or has no locks.
    """
    with hold_file(folder / _LOCK_FILE, wait):
        yield


@contextlib.contextmanager
def hold_file(path: pathlib.Path, wait: bool = False) -> Iterator[IO]:
    """Locks a file, made with its folder if missing, and yields it: binary, unbuffered.

    Errors as `hold_folder`.
    """
    with report_in_one_line('use', path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        file = path.open('r+b', buffering=0)
    with file:  # closing it releases its lock
        if not _lock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB)):
            raise StoreUnavailable(f'{path.parent}: another process writes there')
        yield file


def is_held(path: pathlib.Path) -> bool:
    """Whether a process holds a file that is there.

    It only reads, so that anyone who may read a sweep can ask for its status.

    Raises:
      StoreError: the file cannot be read, or the folder has no locks.
    """
    with report_in_one_line('read', path):
        file = path.open()
    with file:
        return not _lock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)


def _lock(file: IO, kind: int) -> bool:
    """Locks a file; False if another process holds it, StoreError if locks fail."""
    try:
        fcntl.flock(file, kind)
    except BlockingIOError:
        return False
    except OSError as e:
        raise StoreError(f'cannot lock {file.name}: {e.strerror}') from e
    return True
