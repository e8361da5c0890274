"""What is done to a sweep: it is stopped, a bit is flipped, its disk is too small."""

import os
import pathlib
import signal
import subprocess
from typing import Any

import pytest

from anchorjax.storage import checkpoint
from anchorjax.storage.chunk import ChunkFolder
from anchorjax.sweeps.progress import Progress
from anchorjax.sweeps.run import run_sweep
from anchorjax.sweeps.signals import Preempted, catch_stop
from tests.support.sweeps import list_files, opened

ONE = {'grid__gamma': (0.5,), 'grid__seed': (3,)}  # one member, one chunk
_ZSTD = bytes.fromhex('28b52ffd')  # how compressed arrays begin


def train_and_stop(workdir: pathlib.Path, segments: int, **changes: Any) -> ChunkFolder:
    """Trains one member for some segments, then sends SIGTERM; returns its chunk.

    Args:
      changes: of the tiny experiment, beside those of ONE.
    """
    folder, mesh = opened(workdir, **ONE | changes)
    chunk = folder.chunks[0].folder
    begun_at = max(checkpoint.list_steps(chunk.path / 'resume'), default=0)
    stop_at = begun_at + segments * folder.experiment.train.eval_every

    def stop_in_time(progress: Progress) -> None:
        if progress.done >= stop_at:
            os.kill(os.getpid(), signal.SIGTERM)

    with catch_stop() as should_stop, pytest.raises(Preempted):
        run_sweep(folder, mesh, should_stop=should_stop, report=stop_in_time)
    return chunk


def flip(path: pathlib.Path) -> None:
    """Flips one bit in the first half of a file, where checkpoints have arrays."""
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)


def truncate(path: pathlib.Path) -> None:
    """Leaves the first ten bytes of a file."""
    os.truncate(path, 10)


def find_arrays(folder: pathlib.Path) -> pathlib.Path:
    """The file below a folder that has most of the arrays of a checkpoint.

    Orbax splits them over a number of files that changes from one save to the next, so
    the largest file of all may be one that is not needed to read the arrays.
    """
    files = []
    for path in list_files(folder):
        if path.read_bytes().startswith(_ZSTD):
            files.append(path)
    return max(files, key=lambda path: path.stat().st_size)


def mounted(folder: pathlib.Path, size: str, remount: bool = False) -> bool:
    """Mounts a small disk on a folder, or resizes it; False where that is forbidden."""
    options = f'size={size}'
    if remount:
        options = f'remount,{options}'
    line = ['mount', '-t', 'tmpfs', '-o', options, 'tmpfs', str(folder)]
    return subprocess.run(line, capture_output=True, check=False).returncode == 0
