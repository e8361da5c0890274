"""Who works on which chunks: a lock file for every range of chunks in use.

Two jobs may divide a sweep differently (`--shard=1/4`, `--shard=2/8`) and must still
see each other, so the name of a lock file tells its range. (A file for each chunk would
need more open files than a process may have.) However a process dies, the kernel
releases its lock: what it leaves is a file that anyone can lock.
"""

import contextlib
import fcntl
import pathlib
from collections.abc import Iterator
from typing import IO

from anchorjax.errors import StoreError, StoreUnavailable
from anchorjax.files import report_in_one_line

_LOCK_FILE = '.lock'
_CHUNK_LOCKS = '.locks'  # the folder of '2-5', which locks chunks 2 to 5


class LockHeld(StoreUnavailable):
    """Another job works on some of these chunks."""

    def __init__(self, taken: range):
        super().__init__(f'chunks {taken.start} to {taken.stop - 1} are in use')
        self.taken = taken


@contextlib.contextmanager
def hold_chunks(workdir: pathlib.Path, chunks: range) -> Iterator[None]:
    """Locks some chunks of a sweep for this job.

    Raises:
      LockHeld: another job holds at least one of them.
      StoreError: the folder cannot be written, or has no locks.
    """
    if not chunks:
        yield
        return
    path = workdir / _CHUNK_LOCKS / f'{chunks.start}-{chunks.stop - 1}'
    with contextlib.ExitStack() as stack:
        with hold_folder(workdir, wait=True):  # one job at a time looks who is there
            taken = find_holder(workdir, chunks)
            if taken is not None:
                raise LockHeld(taken)
            _lock(stack.enter_context(_make_file(path)), fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def hold_folder(folder: pathlib.Path, wait: bool = False) -> Iterator[None]:
    """Locks a folder (of a sweep: its manifest and results) for this process.

    Args:
      wait: for another process that holds it.

    Raises:
      StoreUnavailable: another process holds it.
      StoreError: the folder cannot be written, or has no locks.
    """
    kind = fcntl.LOCK_EX
    if not wait:
        kind |= fcntl.LOCK_NB
    with _make_file(folder / _LOCK_FILE) as file:
        if not _lock(file, kind):
            raise StoreUnavailable(f'{folder}: another process writes there')
        yield


def find_holder(workdir: pathlib.Path, chunks: range) -> range | None:
    """The chunks of a job that holds any of these; None if they are free.

    It only reads, so that anyone who may read a sweep can ask for its status.

    Raises:
      StoreError: a lock file cannot be read, or the folder has no locks.
    """
    for path in sorted((workdir / _CHUNK_LOCKS).glob('*-*')):
        first, last = map(int, path.name.split('-'))
        overlaps = first < chunks.stop and chunks.start <= last
        if not overlaps:
            continue
        with report_in_one_line('read', path):
            file = path.open()
        with file:
            if not _lock(file, fcntl.LOCK_SH | fcntl.LOCK_NB):
                return range(first, last + 1)
    return None


@contextlib.contextmanager
def _make_file(path: pathlib.Path) -> Iterator[IO]:
    """The open file, made with its folder if missing; closing it releases its lock."""
    with report_in_one_line('use', path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open('a')
    with file:
        yield file


def _lock(file: IO, kind: int) -> bool:
    """Locks a file; False if another process holds it, StoreError if locks fail."""
    try:
        fcntl.flock(file, kind)
    except BlockingIOError:
        return False
    except OSError as e:
        raise StoreError(f'cannot lock {file.name}: {e.strerror}') from e
    return True
