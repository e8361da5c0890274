"""Who works on which chunks: a lock file, with one byte for each chunk.

It is a range of bytes because two jobs may cut the same sweep differently
(`--shard=1/4`, `--shard=2/8`) and must still see each other. The kernel releases the
lock when a process dies, however it dies, so there are no stale locks. These are
open-file-description locks (Linux; local disks and NFS 4); a file system without locks,
such as a bucket mounted as a folder, is refused in one line. No library on PyPI offers
byte ranges.
"""

import contextlib
import fcntl
import os
import pathlib
import struct
from collections.abc import Iterator

from anchorjax.errors import StoreError
from anchorjax.storage.atomic import report_in_one_line

LOCK_FILE = '.lock'
_FLOCK = 'hhqqi4x'  # struct flock: type, whence, start, length, process
# A byte that is no chunk: held while the manifest or the results are written.
_RESULTS_BYTE = 2**40


class Held(StoreError):
    """Another job works on some of these chunks."""

    def __init__(self, taken: range):
        super().__init__(f'chunks {taken.start} to {taken.stop - 1} are in use')
        self.taken = taken


@contextlib.contextmanager
def hold_chunks(workdir: pathlib.Path, chunks: range) -> Iterator[None]:
    """Holds some chunks of a sweep for this process.

    Raises:
      Held: another process holds at least one of them.
    """
    if not chunks:
        yield
        return
    with _open_lock_file(workdir) as handle:
        try:
            _lock(handle, fcntl.F_OFD_SETLK, chunks.start, len(chunks))
        except BlockingIOError:
            raise Held(find_holder(workdir, chunks) or chunks) from None
        yield


@contextlib.contextmanager
def hold_results(workdir: pathlib.Path) -> Iterator[None]:
    """Waits for the right to write the manifest and the results."""
    with _open_lock_file(workdir) as handle:
        _lock(handle, fcntl.F_OFD_SETLKW, _RESULTS_BYTE, 1)
        yield


def find_holder(workdir: pathlib.Path, chunks: range) -> range | None:
    """The chunks of the first process that holds any of these; None: they are free."""
    if not chunks or not (workdir / LOCK_FILE).exists():
        return None
    with _open_lock_file(workdir) as handle:
        kind, start, length = _lock(
            handle, fcntl.F_OFD_GETLK, chunks.start, len(chunks)
        )
    if kind == fcntl.F_UNLCK:
        return None
    return range(start, start + length)


@contextlib.contextmanager
def _open_lock_file(workdir: pathlib.Path) -> Iterator[int]:
    with report_in_one_line('use', workdir):
        workdir.mkdir(parents=True, exist_ok=True)
        # Not through a link, which may lead anywhere.
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        handle = os.open(workdir / LOCK_FILE, flags, 0o666)
    try:
        yield handle
    finally:
        os.close(handle)


def _lock(handle: int, command: int, start: int, length: int) -> tuple[int, int, int]:
    """(type, start, length) that the kernel answers to a request for a write lock."""
    request = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)
    try:
        answer = fcntl.fcntl(handle, command, request)
    except BlockingIOError:
        raise
    except OSError as e:
        raise StoreError(f'this file system has no locks: {e.strerror}') from e
    kind, _, start, length, _ = struct.unpack(_FLOCK, answer)
    return kind, start, length
