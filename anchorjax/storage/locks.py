"""Who works on which chunks: one lock file, of which a process holds the bytes of its chunks.

A range of bytes, because two jobs may cut the same sweep differently (`--shard=1/4`, `--shard=2/8`)
and must still see each other. The kernel lets go when a process dies, however it dies, so there
are no stale locks. Open-file-description locks: Linux, local disks and NFS 4; a file system
without locks (a bucket mounted as a folder) is refused in one line.
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
_BEYOND = (
    2**40
)  # bytes that are no chunk: one for whoever writes the manifest and the results


class Held(StoreError):
    """Someone else works on some of these chunks."""

    def __init__(self, taken: range):
        super().__init__(f'chunks {taken.start} to {taken.stop - 1} are in use')
        self.taken = taken


@contextlib.contextmanager
def hold_chunks(workdir: pathlib.Path, wanted: range) -> Iterator[None]:
    """Holds some chunks of a sweep for this process, from start to end.

    Raises:
      Held: another process has at least one of them.
    """
    if not wanted:
        yield
        return
    with _opened(workdir) as handle:
        try:
            _lock(handle, fcntl.F_OFD_SETLK, fcntl.F_WRLCK, wanted.start, len(wanted))
        except BlockingIOError:
            raise Held(find_holder(workdir, wanted) or wanted) from None
        yield


@contextlib.contextmanager
def hold_results(workdir: pathlib.Path) -> Iterator[None]:
    """Waits for the right to write what belongs to the whole sweep: manifest, results."""
    with _opened(workdir) as handle:
        _lock(handle, fcntl.F_OFD_SETLKW, fcntl.F_WRLCK, _BEYOND, 1)
        yield


def find_holder(workdir: pathlib.Path, wanted: range) -> range | None:
    """The chunks of the first process that holds any of these; None: they are free."""
    if not wanted or not (workdir / LOCK_FILE).exists():
        return None
    with _opened(workdir) as handle:
        length = len(wanted)
        kind, _, start, size = _lock(
            handle, fcntl.F_OFD_GETLK, fcntl.F_WRLCK, wanted.start, length
        )
    return None if kind == fcntl.F_UNLCK else range(start, start + size)


@contextlib.contextmanager
def _opened(workdir: pathlib.Path) -> Iterator[int]:
    with report_in_one_line('use', workdir):
        workdir.mkdir(parents=True, exist_ok=True)
        flags = (
            os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        )  # a link may lead anywhere
        handle = os.open(workdir / LOCK_FILE, flags, 0o666)
    try:
        yield handle
    finally:
        os.close(handle)


def _lock(handle: int, command: int, kind: int, start: int, length: int) -> tuple:
    asked = struct.pack(_FLOCK, kind, os.SEEK_SET, start, length, 0)
    try:
        return struct.unpack(_FLOCK, fcntl.fcntl(handle, command, asked))[:4]
    except BlockingIOError:
        raise
    except OSError as e:
        raise StoreError(f'this file system has no locks: {e.strerror}') from e
