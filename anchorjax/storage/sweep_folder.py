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

from anchorjax import config
from anchorjax.cluster.shards import Shard, partition
from anchorjax.config.grid import Cohort
from anchorjax.storage.chunk import ChunkFolder
from anchorjax.storage.manifest import read_manifest, take_up_sweep
from anchorjax.sweeps import cost
from anchorjax.training import hosts


class Chunk(NamedTuple):
    """One chunk of the sweep's work."""

    cohort: Cohort
    index: int  # within its cohort
    chunk: ChunkFolder
    real: int  # members; a cohort's last chunk may be padded


@dataclasses.dataclass(frozen=True)
class SweepFolder:
    """The folder of one sweep; `numerics` is that of this process, None for one that reads."""

    workdir: pathlib.Path
    experiment: config.Experiment
    chunk_size: int
    known: list[dict[str, Any]]  # numerics in the manifest
    numerics: dict[str, Any] | None = None

    def chunk(self, cohort: str, index: int) -> ChunkFolder:
        return ChunkFolder(
            self.workdir, self.workdir / 'cohorts' / cohort / f'chunk_{index:04d}'
        )

    @functools.cached_property
    def chunks(self) -> tuple[Chunk, ...]:
        """All the work, in the order of the cohorts and of the members in them."""
        pieces = []
        for cohort in self.experiment.cohorts():
            for index, start in enumerate(range(0, cohort.size, self.chunk_size)):
                real = min(self.chunk_size, cohort.size - start)
                pieces.append(
                    Chunk(cohort, index, self.chunk(cohort.name, index), real)
                )
        return tuple(pieces)

    @functools.cached_property
    def costs(self) -> tuple[float, ...]:
        """Operations of a step of each chunk."""
        static = {piece.cohort.name: piece.cohort.static for piece in self.chunks}
        of = {
            n: cost.operations_per_step(self.experiment.at(s))
            for n, s in static.items()
        }
        return tuple(of[piece.cohort.name] for piece in self.chunks)

    def part(self, shard: Shard) -> range:
        """The chunks of one shard."""
        return partition(self.costs, shard)


def create_folder(
    workdir: pathlib.Path,
    experiment: config.Experiment,
    numerics: dict,
    allow: bool = False,
) -> SweepFolder:
    """Starts a sweep's folder, or takes up the one that lies there; see `manifest.take_up`."""
    workdir = pathlib.Path(workdir)
    hosts.run_on_first(lambda: take_up_sweep(workdir, experiment, numerics, allow))
    there = read_manifest(workdir)
    return SweepFolder(
        workdir, there.experiment, there.chunk_size, there.numerics, numerics
    )


def read_folder(workdir: str | pathlib.Path) -> SweepFolder:
    """The sweep that lies in a folder, for reading; raises StoreError as `manifest.read`."""
    workdir = pathlib.Path(workdir)
    there = read_manifest(workdir)
    return SweepFolder(workdir, there.experiment, there.chunk_size, there.numerics)
