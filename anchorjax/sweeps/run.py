"""Trains a whole sweep, or a part of it: every chunk that is not done yet."""

import itertools
import math
from collections.abc import Callable, Iterable

import jax
import numpy as np
from jax.sharding import Mesh

from anchorjax.experiment import Experiment
from anchorjax.grid import Cohort, HParams
from anchorjax.storage.environment import Environment
from anchorjax.storage.manifest import refuse_environment
from anchorjax.storage.sweep_folder import Chunk, SweepFolder
from anchorjax.sweeps import memory
from anchorjax.sweeps.cost import find_largest, operations_per_step
from anchorjax.sweeps.progress import Progress
from anchorjax.sweeps.signals import Preempted
from anchorjax.sweeps.trainer import Tick, get_trainer
from anchorjax.training import hosts
from anchorjax.training.members import padded_size

ShouldStop = Callable[[], bool]
Report = Callable[[Progress], None]
Warn = Callable[[str], None]


def never_stop() -> bool:
    """The ShouldStop of a sweep that nobody stops."""
    return False


def report_nothing(_: Progress) -> None:
    """The Report of a silent sweep."""


def run_sweep(
    folder: SweepFolder,
    mesh: Mesh,
    *,
    chunks: range | None = None,
    should_stop: ShouldStop = never_stop,
    report: Report = report_nothing,
    warn: Warn = print,
    allow_environment_change: bool = False,
    device_bytes: float | None = None,
) -> Progress:
    """Trains what is not trained yet; may be interrupted anywhere and called again.

    Args:
      folder: from `create_folder`, with the environment of this process.
      chunks: indices into `folder.chunks`; by default all.
      should_stop: called before every chunk and after every piece of work, a few
        seconds long; returns True to stop.
      report: called with the progress after every piece of work.
      warn: called with a line for every damaged state that is skipped.
      allow_environment_change: continue chunks that began in another environment.
      device_bytes: bytes that a device may use; by default `memory.device_bytes`.

    Raises:
      ConfigError: the largest program does not fit; nothing was trained.
      Preempted: should_stop returned True; everything is saved.
      StoreError: the folder is damaged or cannot be written, or a chunk began in
        another environment; earlier saves are intact.
    """
    if chunks is None:
        chunks = range(len(folder.chunks))
    work = select_chunks(folder, chunks)
    hosts.run_on_first(lambda: remove_leftovers(work))
    is_done = hosts.broadcast([chunk.folder.done for chunk in work])
    waiting = []
    for chunk, done in zip(work, is_done, strict=True):
        if not done:
            waiting.append(chunk)

    if not allow_environment_change:
        _require_same_environment(folder, waiting)
    if waiting:
        cohorts = {chunk.cohort.name: chunk.cohort for chunk in waiting}
        require_fit(
            folder.experiment,
            mesh,
            folder.environment,
            cohorts.values(),
            folder.chunk_size,
            device_bytes,
        )
    progress = _count_progress(folder.experiment, work, waiting)
    for _, group in itertools.groupby(waiting, key=lambda chunk: chunk.cohort.name):
        _train_cohort(folder, list(group), mesh, progress, should_stop, report, warn)
    return progress


def require_fit(
    experiment: Experiment,
    mesh: Mesh,
    environment: Environment,
    cohorts: Iterable[Cohort] | None = None,
    chunk_size: int = 1,
    device_bytes: float | None = None,
) -> None:
    """Compiles the largest cohort, to refuse at once what does not fit.

    Args:
      cohorts: those that will be trained; by default all.
      chunk_size: members of a chunk, before padding.
      device_bytes: as in `run_sweep`.

    Raises:
      ConfigError: it does not fit; the line says what to change.
    """
    if cohorts is None:
        cohorts = experiment.cohorts()
    largest = find_largest(experiment, cohorts)
    lanes = environment.lanes
    compiled = get_trainer(largest, mesh, lanes).compile(
        padded_size(chunk_size, mesh, lanes)
    )
    available = device_bytes or memory.device_bytes(mesh)
    memory.require_fit(compiled, lanes, available, experiment.name)


def select_chunks(folder: SweepFolder, indices: range) -> list[Chunk]:
    """The chunks of the folder with these indices."""
    return [folder.chunks[i] for i in indices]


def remove_leftovers(chunks: list[Chunk]) -> None:
    """Removes what killed jobs left behind; only for the job that holds the chunks."""
    for chunk in chunks:
        chunk.folder.remove_leftovers()


def chunk_hparams(cohort: Cohort, index: int, size: int) -> HParams:
    """HParams [size] of a chunk, padded with copies of the cohort's last member."""
    rows = np.arange(index * size, (index + 1) * size)
    rows = np.minimum(rows, cohort.size - 1)
    return jax.tree.map(lambda x: x[rows], cohort.hparams)


def _train_cohort(
    folder: SweepFolder,
    chunks: list[Chunk],
    mesh: Mesh,
    progress: Progress,
    should_stop: ShouldStop,
    report: Report,
    warn: Warn,
) -> None:
    """Trains the waiting chunks of one cohort with one compiled program."""
    environment_index = folder.environments.index(folder.environment)
    experiment = folder.experiment.for_cohort(chunks[0].cohort)
    trainer = get_trainer(experiment, mesh, folder.environment.lanes)
    operations = operations_per_step(experiment)
    for chunk in chunks:
        if hosts.any_host(should_stop()):
            raise Preempted
        of_cohort = math.ceil(chunk.cohort.size / folder.chunk_size)
        progress.label = f'{chunk.cohort.name}, chunk {chunk.index + 1} of {of_cohort}'
        hparams = chunk_hparams(chunk.cohort, chunk.index, folder.chunk_size)
        tick = _make_tick(
            progress, chunk, operations, chunk is chunks[0], report, should_stop
        )
        progress.saving += trainer.train_chunk(
            chunk.folder, hparams, environment_index, tick, warn
        )


def _make_tick(
    progress: Progress,
    chunk: Chunk,
    operations: float,
    is_first_chunk: bool,
    report: Report,
    should_stop: ShouldStop,
) -> Tick:
    """The callback of a chunk: counts and reports; returns whether to stop."""
    counted_steps = 0
    is_first_piece = is_first_chunk

    def tick(step: int, num_steps: int, seconds: float) -> bool:
        nonlocal counted_steps, is_first_piece
        # A resumed chunk has done steps that this call did not train.
        earlier = (step - num_steps - counted_steps) * chunk.num_members
        progress.add_earlier(earlier, earlier * operations)
        member_steps = num_steps * chunk.num_members
        progress.add_piece(
            member_steps, member_steps * operations, seconds, is_first_piece
        )
        counted_steps = step
        is_first_piece = False
        report(progress)
        return should_stop()

    return tick


def _count_progress(
    experiment: Experiment, work: list[Chunk], waiting: list[Chunk]
) -> Progress:
    """The progress of some chunks before any of them is trained in this call."""
    steps = experiment.train.num_steps
    per_step = {}
    for chunk in work:
        if chunk.cohort.name not in per_step:
            of_cohort = experiment.for_cohort(chunk.cohort)
            per_step[chunk.cohort.name] = operations_per_step(of_cohort)

    def count(chunks: list[Chunk]) -> tuple[int, float]:
        member_steps, operations = 0, 0.0
        for chunk in chunks:
            member_steps += chunk.num_members * steps
            operations += chunk.num_members * steps * per_step[chunk.cohort.name]
        return member_steps, operations

    total, total_operations = count(work)
    left, left_operations = count(waiting)
    return Progress(
        total=total,
        total_operations=total_operations,
        done=total - left,
        done_operations=total_operations - left_operations,
    )


def _require_same_environment(folder: SweepFolder, waiting: list[Chunk]) -> None:
    """Raises StoreError if members were last trained in another environment."""
    ours = folder.environments.index(folder.environment)
    for chunk in waiting:
        history = chunk.folder.environments()
        if not history:
            continue
        _, last = history[-1]
        if last != ours:
            is_known = last < len(folder.environments)
            theirs = folder.environments[last] if is_known else None
            refuse_environment(chunk.folder.path, theirs, folder.environment)
