"""The folder of a sweep: readable at any time, each chunk written by one job at a time.

manifest.json                      the experiment, and the environments of its members
cohorts/<name>/chunk_0000/         members that train together, `chunk_size` of them;
                                   <name> is `Cohort.folder_name`
    environments.json              which environment was used from which step on
    resume/<step>/                 full state and curves so far, until the chunk is done
    snapshots/<step>/              parameters alone, for analysis
    curves.npz                     the records of all steps; marks the chunk done
metrics.jsonl                      a line for every row of a member's curves
jobs/                              what each shard is doing, and its log; see jobs.py
results.nc, members.csv, figures/  made from the above, whenever a shard ends
.lock                              held by who writes the manifest or the tables
"""

import dataclasses
import functools
import json
import math
import pathlib
from typing import Any, NamedTuple

from anchorjax import config, files
from anchorjax.errors import StoreError, UserError
from anchorjax.grid import Cohort, find_point
from anchorjax.storage.chunk import ChunkFolder
from anchorjax.storage.manifest import (
    MANIFEST_FILE,
    Environment,
    Manifest,
    begin_or_resume,
    read_manifest,
)
from anchorjax.training import hosts

METRICS_FILE = 'metrics.jsonl'


class Chunk(NamedTuple):
    """Members of one cohort that train at the same time, and their folder."""

    cohort: Cohort
    index: int  # within its cohort
    folder: ChunkFolder
    num_members: int  # at most the chunk size; the last chunk may have fewer


@dataclasses.dataclass(frozen=True)
class SweepFolder:
    """One sweep on disk."""

    workdir: pathlib.Path
    experiment: config.Experiment
    chunk_size: int  # members of a chunk, as the manifest says
    environments: tuple[Environment, ...]  # of the manifest, oldest first
    environment: Environment | None = None  # of this process; None to read only

    @functools.cached_property
    def chunks(self) -> tuple[Chunk, ...]:
        """All chunks, in the order of the cohorts and of the members in them."""
        chunks = []
        for cohort in self.experiment.cohorts():
            for index, start in enumerate(range(0, cohort.size, self.chunk_size)):
                folder = self.chunk_folder(cohort, index)
                num_members = min(self.chunk_size, cohort.size - start)
                chunks.append(Chunk(cohort, index, folder, num_members))
        return tuple(chunks)

    def log_rows(self, chunk: Chunk, step: int, columns: dict[str, Any]) -> None:
        """Adds a line to metrics.jsonl for each member of a chunk, null for NaN.

        It holds the member's point on the axes, the step, and its number of every
        column. A row that is trained again, after a kill, has a second line.

        Args:
          columns: of the members of the chunk, [M] or, with padding, more.

        Raises:
          StoreError: it cannot be written.
        """
        first = (
            list(self.experiment.of_cohorts).index(chunk.cohort.name)
            * chunk.cohort.size
        )
        first += chunk.index * self.chunk_size
        lines = []
        for i in range(chunk.num_members):
            line = find_point(self.experiment.axes, first + i) | {'step': step}
            for name, numbers in columns.items():
                number = float(numbers[i])
                line[name] = number if math.isfinite(number) else None
            lines.append(json.dumps(line))
        files.append_line(self.workdir / METRICS_FILE, '\n'.join(lines))

    def count_members(self) -> tuple[int, int]:
        """(how many are trained, how many there are)."""
        trained = total = 0
        for chunk in self.chunks:
            total += chunk.num_members
            if chunk.folder.done:
                trained += chunk.num_members
        return trained, total

    def require_there(self) -> None:
        """Raises StoreError if the folder is not where it was opened.

        Without it, all members would look as if they were not trained yet.
        """
        if not (self.workdir / MANIFEST_FILE).exists():
            raise StoreError(f'{self.workdir} holds the sweep no longer: it was moved')

    def chunk_folder(self, cohort: Cohort, index: int) -> ChunkFolder:
        """The folder of the chunk with this index in a cohort."""
        of_cohort = self.workdir / 'cohorts' / cohort.folder_name
        return ChunkFolder(of_cohort / f'chunk_{index:04d}')


def as_folder(workdir: str | pathlib.Path) -> pathlib.Path:
    """The absolute path of a folder; errors as `files.absolute_path`."""
    try:
        return files.absolute_path(workdir, 'folder')
    except UserError as e:
        raise UserError(f'workdir = {e}') from None


def create_folder(
    workdir: pathlib.Path,
    experiment: config.Experiment,
    environment: Environment,
    allow_change: bool = False,
) -> SweepFolder:
    """Creates the folder of a sweep, or takes up the sweep that is in it.

    Arguments and errors as of `manifest.begin_or_resume`.
    """
    workdir = as_folder(workdir)
    hosts.run_on_first(
        lambda: begin_or_resume(workdir, experiment, environment, allow_change)
    )
    folder = read_folder(workdir)
    # Equal to the one that was read, but its task and model are the caller's objects.
    return dataclasses.replace(folder, experiment=experiment, environment=environment)


def read_folder(workdir: str | pathlib.Path) -> SweepFolder:
    """The sweep in a folder, to read; StoreError if there is none, or it is damaged."""
    workdir = as_folder(workdir)
    return open_folder(workdir, read_manifest(workdir))


def open_folder(workdir: pathlib.Path, manifest: Manifest) -> SweepFolder:
    """The sweep in a folder whose manifest was read."""
    environments = tuple(entry.environment for entry in manifest.environments)
    return SweepFolder(workdir, manifest.experiment, manifest.chunk_size, environments)
