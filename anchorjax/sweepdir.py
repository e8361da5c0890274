"""A sweep on disk: one folder, readable at any time, each chunk written by one job at a time.

manifest.json                     the experiment, the layouts and versions its bits hang on
cohorts/<name>/chunk_0000/        members trained together, `lanes * devices` of them
    numerics.json                 from which step on under which numerics of the manifest
    resume/<step>/                full state and curves so far; gone when the chunk is done
    snapshots/<step>/             parameters only: all that analysis reads
    curves.npz                    the records of all steps; its presence means done
jobs/                             what each shard is doing, and its log
results.nc, members.csv, figures/ made from the above by `store.finalize`, again and again
"""

import dataclasses
import functools
import pathlib
from typing import Any, NamedTuple

from anchorjax import config, cost, hosts, manifest, shards
from anchorjax.chunk import Chunk
from anchorjax.grid import Cohort


class Piece(NamedTuple):
    """One chunk of the sweep's work."""

    cohort: Cohort
    index: int  # within its cohort
    chunk: Chunk
    real: int  # members; a cohort's last chunk may be padded


@dataclasses.dataclass(frozen=True)
class SweepDir:
    """The folder of one sweep; `numerics` is that of this process, None for one that reads."""

    workdir: pathlib.Path
    experiment: config.Experiment
    chunk_size: int
    known: list[dict[str, Any]]  # numerics in the manifest
    numerics: dict[str, Any] | None = None

    def chunk(self, cohort: str, index: int) -> Chunk:
        return Chunk(self.workdir, self.workdir / 'cohorts' / cohort / f'chunk_{index:04d}')

    @functools.cached_property
    def chunks(self) -> tuple[Piece, ...]:
        """All the work, in the order of the cohorts and of the members in them."""
        pieces = []
        for cohort in self.experiment.cohorts():
            for index, start in enumerate(range(0, cohort.size, self.chunk_size)):
                real = min(self.chunk_size, cohort.size - start)
                pieces.append(Piece(cohort, index, self.chunk(cohort.name, index), real))
        return tuple(pieces)

    @functools.cached_property
    def costs(self) -> tuple[float, ...]:
        """Operations of a step of each chunk."""
        static = {piece.cohort.name: piece.cohort.static for piece in self.chunks}
        of = {n: cost.operations_per_step(self.experiment.at(s)) for n, s in static.items()}
        return tuple(of[piece.cohort.name] for piece in self.chunks)

    def part(self, shard: shards.Shard) -> range:
        """The chunks of one shard."""
        return shards.part(self.costs, shard)


def create(
    workdir: pathlib.Path, experiment: config.Experiment, numerics: dict, allow: bool = False
) -> SweepDir:
    """Starts a sweep's folder, or takes up the one that lies there; see `manifest.take_up`."""
    workdir = pathlib.Path(workdir)
    hosts.by_first(lambda: manifest.take_up(workdir, experiment, numerics, allow))
    there = manifest.read(workdir)
    return SweepDir(workdir, there.experiment, there.chunk_size, there.numerics, numerics)


def read(workdir: str | pathlib.Path) -> SweepDir:
    """The sweep that lies in a folder, for reading; raises StoreError as `manifest.read`."""
    workdir = pathlib.Path(workdir)
    there = manifest.read(workdir)
    return SweepDir(workdir, there.experiment, there.chunk_size, there.numerics)
