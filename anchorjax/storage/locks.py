"""Who works on which chunks: a lock file with one byte for each chunk.

A job locks a range of bytes, because two jobs may divide the same sweep differently
(`--shard=1/4`, `--shard=2/8`) and must still see each other. However a process dies,
the kernel releases its locks, so none is ever stale. These are open-file-description
locks (Linux; local disks and NFS 4). A file system without locks, such as a bucket
mounted as a folder, is refused. We found no library that locks byte ranges.
"""

import contextlib
import fcntl
import os
import pathlib
import struct
from collections.abc import Iterator

from anchorjax.errors import StoreError, StoreUnavailable
from anchorjax.files import report_in_one_line

LOCK_FILE = '.lock'
_FLOCK = 'hhqqi4x'  # struct flock: type, whence, start, length, process
# The byte of no chunk; it is locked to write the manifest or the results.
_RESULTS_BYTE = 2**40


class Held(StoreUnavailable):
    """Another job works on some of these chunks."""

    def __init__(self, taken: range):
        super().__init__(f'chunks {taken.start} to {taken.stop - 1} are in use')
        self.taken = taken


@contextlib.contextmanager
def hold_chunks(workdir: pathlib.Path, chunks: range) -> Iterator[None]:
    """Locks some chunks of a sweep for this process.

    Raises:
      Held: another process holds at least one of them.
      StoreError: the folder cannot be written, or has no locks.
    """
    if not chunks:
        yield
        return
    with _make_lock_file(workdir) as handle:
        try:
            _lock(handle, fcntl.F_OFD_SETLK, chunks.start, len(chunks))
        except BlockingIOError:
            raise Held(find_holder(workdir, chunks) or chunks) from None
        yield


@contextlib.contextmanager
def hold_folder(folder: pathlib.Path) -> Iterator[None]:
    """Locks a folder that is no sweep, such as one of data, for this process.

    Raises:
      StoreUnavailable: another process holds it.
      StoreError: the folder cannot be written, or has no locks.
    """
    with _make_lock_file(folder) as handle:
        try:
            _lock(handle, fcntl.F_OFD_SETLK, 0, 1)
        except BlockingIOError:
            line = f'{folder}: another process writes there'
            raise StoreUnavailable(line) from None
        yield


@contextlib.contextmanager
def hold_results(workdir: pathlib.Path) -> Iterator[None]:
    """Waits for the lock on the manifest and the results, and holds it."""
    with _make_lock_file(workdir) as handle:
        _lock(handle, fcntl.F_OFD_SETLKW, _RESULTS_BYTE, 1)
        yield


def find_holder(workdir: pathlib.Path, chunks: range) -> range | None:
    """The chunks of a process that holds any of these; None if they are free.

    It only reads, so that anyone who may read a sweep can ask for its status.

    Raises:
      StoreError: the lock file cannot be read, or the folder has no locks.
    """
    if not chunks or not (workdir / LOCK_FILE).exists():
        return None
    # The kernel asks for a writable file to set a lock, not to test for one. A pipe in
    # its place would block the open.
    with _open_lock_file(workdir, os.O_RDONLY | os.O_NONBLOCK) as handle:
        kind, start, length = _lock(
            handle, fcntl.F_OFD_GETLK, chunks.start, len(chunks)
        )
    if kind == fcntl.F_UNLCK:
        return None
    return range(start, start + length)


@contextlib.contextmanager
def _make_lock_file(workdir: pathlib.Path) -> Iterator[int]:
    """The lock file open for reading and writing; made with its folder if missing."""
    with report_in_one_line('use', workdir):
        workdir.mkdir(parents=True, exist_ok=True)
    with _open_lock_file(workdir, os.O_RDWR | os.O_CREAT) as handle:
        yield handle


@contextlib.contextmanager
def _open_lock_file(workdir: pathlib.Path, flags: int) -> Iterator[int]:
    with report_in_one_line('use', workdir):
        # Never through a symbolic link, which may lead anywhere.
        flags |= os.O_CLOEXEC | os.O_NOFOLLOW
        handle = os.open(workdir / LOCK_FILE, flags, 0o666)
    try:
        yield handle
    finally:
        os.close(handle)


def _lock(handle: int, command: int, start: int, length: int) -> tuple[int, int, int]:
    """The (type, start, length) with which the kernel answers a request for a lock."""
    request = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)
    try:
        answer = fcntl.fcntl(handle, command, request)
    except BlockingIOError:
        raise
    except OSError as e:
        raise StoreError(f'this file system has no locks: {e.strerror}') from e
    kind, _, start, length, _ = struct.unpack(_FLOCK, answer)
    return kind, start, length
