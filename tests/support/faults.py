"""What is done to a sweep: stopped, a bit flipped, its disk made small."""

import os
import pathlib
import signal
import subprocess

import pytest

from anchorjax.storage import checkpoint
from anchorjax.sweeps import signals
from anchorjax.sweeps.run import run_sweep
from tests.support.sweeps import opened

ONE = {'grid__gamma': (0.5,), 'grid__seed': (3,)}  # one member, one chunk


def stopped(workdir, segments: int):
    """A one-member sweep that was asked to stop after some segments; its only chunk."""
    there, mesh = opened(workdir, **ONE)
    steps = segments * there.experiment.train.eval_every
    begun = max(
        checkpoint.list_steps(there.chunks[0].chunk.folder / 'resume'), default=0
    )

    def report(progress):
        if progress.done >= begun + steps:
            os.kill(os.getpid(), signal.SIGTERM)

    with signals.catch_stop() as asked, pytest.raises(signals.Preempted):
        run_sweep(there, mesh, asked, report)
    return there.chunks[0].chunk


def flip(path: pathlib.Path) -> None:
    """Flips one bit in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def largest(folder: pathlib.Path) -> pathlib.Path:
    return max(
        (p for p in folder.rglob('*') if p.is_file()), key=lambda p: p.stat().st_size
    )


def mounted(folder: pathlib.Path, size: str, remount: bool = False) -> bool:
    options = f'{"remount," if remount else ""}size={size}'
    line = ['mount', '-t', 'tmpfs', '-o', options, 'tmpfs', str(folder)]
    return subprocess.run(line, capture_output=True, check=False).returncode == 0
