"""The folder of a sweep: readable at any time, each chunk written by one job at a time.

manifest.json                     the experiment, and the environments its members
trained in cohorts/<name>/chunk_0000/        members that train together, `lanes *
devices` of them
    environments.json             from which step on in which environment of the
    manifest resume/<step>/                full state and curves so far; gone when the
    chunk is done snapshots/<step>/             parameters only: all that analysis reads
    curves.npz                    the records of all steps; its presence means done
jobs/                             what each shard is doing, and its log
results.nc, members.csv, figures/ built from the above, again and again
"""

import dataclasses
import functools
import pathlib
from typing import NamedTuple

from anchorjax import config
from anchorjax.config.grid import Cohort
from anchorjax.storage.chunk import ChunkFolder
from anchorjax.storage.environment import Environment
from anchorjax.storage.manifest import read_manifest, take_up_sweep
from anchorjax.training import hosts


class Chunk(NamedTuple):
    """Members of one cohort that train at one time, and where they live on disk."""

    cohort: Cohort
    index: int  # within its cohort
    folder: ChunkFolder
    num_members: int  # without padding; the last chunk of a cohort may have fewer


@dataclasses.dataclass(frozen=True)
class SweepFolder:
    """One sweep on disk."""

    workdir: pathlib.Path
    experiment: config.Experiment
    chunk_size: int
    environments: tuple[Environment, ...]  # in which members were trained, oldest first
    environment: Environment | None = (
        None  # of this process; None for one that only reads
    )

    @functools.cached_property
    def chunks(self) -> tuple[Chunk, ...]:
        """All the work, in the order of the cohorts and of the members in them."""
        chunks = []
        for cohort in self.experiment.cohorts():
            for index, start in enumerate(range(0, cohort.size, self.chunk_size)):
                folder = self.chunk_folder(cohort.name, index)
                num_members = min(self.chunk_size, cohort.size - start)
                chunks.append(Chunk(cohort, index, folder, num_members))
        return tuple(chunks)

    def chunk_folder(self, cohort: str, index: int) -> ChunkFolder:
        """Where the chunk with this number of a cohort lives."""
        folder = self.workdir / 'cohorts' / cohort / f'chunk_{index:04d}'
        return ChunkFolder(self.workdir, folder)


def create_folder(
    workdir: pathlib.Path,
    experiment: config.Experiment,
    environment: Environment,
    allow_change: bool = False,
) -> SweepFolder:
    """Starts a sweep's folder, or takes up the sweep that is there.

    Args:
      allow_change: go on although this environment is new to the sweep; it is recorded.

    Raises:
      StoreError: the folder holds another experiment, is damaged, or the environment is
        new and not allowed.
    """
    workdir = pathlib.Path(workdir)
    hosts.run_on_first(
        lambda: take_up_sweep(workdir, experiment, environment, allow_change)
    )
    return dataclasses.replace(read_folder(workdir), environment=environment)


def read_folder(workdir: str | pathlib.Path) -> SweepFolder:
    """The sweep in a folder, for reading.

    Raises:
      StoreError: there is none, or its manifest is damaged.
    """
    workdir = pathlib.Path(workdir)
    manifest = read_manifest(workdir)
    environments = tuple(entry.environment for entry in manifest.environments)
    return SweepFolder(workdir, manifest.experiment, manifest.chunk_size, environments)
