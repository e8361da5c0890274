"""The shards of a sweep as work for many processes, and what processes leave behind."""

import collections
import contextlib
import dataclasses
import functools
import math
import pathlib
import re
import threading
import time
from collections.abc import Iterator

from anchorjax.storage.chunk import ChunkFolder
from anchorjax.storage.sweep_folder import SweepFolder
from anchorjax.sweeps.shards import Shard, chunks_of_shard
from tests.support.sweeps import tree_hash

SHARDS = 3
# Names of what is being written: Orbax's folders, and the files of atomic.write_atomic.
_UNFINISHED = re.compile(r'.*\.orbax-checkpoint-tmp.*|\.[0-9a-f]{32}\..*')


@dataclasses.dataclass(eq=False)
class Work:
    """One shard of one sweep."""

    sweep: SweepFolder
    shard: Shard
    starts: int = 0

    @functools.cached_property
    def chunks(self) -> list[ChunkFolder]:
        indices = chunks_of_shard(self.sweep, self.shard)
        return [self.sweep.chunks[index].folder for index in indices]

    def is_done(self) -> bool:
        return all(chunk.done for chunk in self.chunks)

    def list_saved(self) -> set[pathlib.Path]:
        """States and snapshots that are complete."""
        return {path for path in self._list_files() if path.name.isdecimal()}

    def list_unfinished(self) -> set[tuple[str, int]]:
        """(path, inode) of what is being written, or was when a process died."""
        unfinished = set()
        for path in self._list_files():
            with contextlib.suppress(FileNotFoundError):
                if _UNFINISHED.fullmatch(path.name):
                    unfinished.add((str(path), path.stat().st_ino))
        return unfinished

    def hash_files(self) -> dict:
        """Digests of all files of this shard."""
        job_file = self.sweep.workdir / 'jobs' / f'{self.shard.name}.json'
        hashes: dict = {'job': job_file.read_bytes()}
        for chunk in self.chunks:
            hashes[chunk.path] = tree_hash(chunk.path)
        return hashes

    def _list_files(self) -> Iterator[pathlib.Path]:
        for chunk in self.chunks:
            for folder in (chunk.path, chunk.path / 'resume', chunk.path / 'snapshots'):
                with contextlib.suppress(FileNotFoundError):
                    yield from list(folder.iterdir())


@dataclasses.dataclass
class Counts:
    """What happened so far, by kind."""

    kills: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    inside: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    exits: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    refused: int = 0  # intruders
    damaged: int = 0  # states

    def __str__(self) -> str:
        kills = f'{self.kills.total()} kills ({_list_counts(self.kills)})'
        inside = f'{self.inside.total()} inside a save ({_list_counts(self.inside)})'
        exits = f'{self.exits.total()} starts, by exit code: {_list_counts(self.exits)}'
        others = f'{self.damaged} damaged states, {self.refused} intruder refused'
        return f'{kills}, {inside}; {exits}; {others}'


def _list_counts(counter: collections.Counter) -> str:
    return ', '.join(f'{key} {count}' for key, count in sorted(counter.items()))


@dataclasses.dataclass
class Situation:
    """What all workers share."""

    end: float  # when the test fails, by time.monotonic()
    counts: Counts = dataclasses.field(default_factory=Counts)
    killing: bool = True
    full_from: float = math.inf  # when the disk was full
    full_to: float = math.inf
    start_up: float = 5.0  # seconds from start to first save; measured as we go
    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)
    intruding: threading.Lock = dataclasses.field(default_factory=threading.Lock)

    def is_disk_full(self) -> bool:
        return self.full_from <= time.monotonic() < self.full_to


def leave_litter(work: Work) -> None:
    """Leaves what a worker may leave that dies while it writes.

    Random kills would leave only some of it.
    """
    temporary = '.' + '0' * 32
    workdir, folder = work.sweep.workdir, work.chunks[0].path
    litter = [
        folder / f'{temporary}.curves.npz',
        folder / 'resume' / '3.orbax-checkpoint-tmp' / 'tree',
        workdir / f'{temporary}.results.nc',
        workdir / 'jobs' / f'{temporary}.{work.shard.name}.json',
    ]
    for chunk in work.chunks:
        if chunk.done:
            litter.append(chunk.path / 'resume' / '3' / 'tree')
    for path in litter:
        with contextlib.suppress(OSError):  # the disk may be full
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b'killed')


def list_strays(workdir: pathlib.Path) -> list[str]:
    """What should not be there: unfinished files, and states of finished chunks."""
    strays = []
    for path in workdir.rglob('*'):
        if _UNFINISHED.fullmatch(path.name) or path.name == 'resume':
            strays.append(str(path.relative_to(workdir)))
    return sorted(strays)
