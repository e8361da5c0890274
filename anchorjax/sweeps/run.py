"""The host loop of a sweep: restore, train a segment, record, report, save.

for chunk in the chunks that are not done:
    restore its members, or draw new ones
    until the last step:
        train for a few seconds, at most to the next record of the curves
        save what is due, and report
"""

import functools
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh

from anchorjax.errors import StoreError
from anchorjax.experiment import Experiment
from anchorjax.grid import Cohort, HParams
from anchorjax.storage.chunk import ChunkFolder
from anchorjax.storage.manifest import refuse_environment
from anchorjax.storage.sweep_folder import Chunk, SweepFolder
from anchorjax.sweeps.cost import count_step
from anchorjax.sweeps.progress import Progress, count_progress
from anchorjax.sweeps.signals import Preempted
from anchorjax.sweeps.trainer import Trainer, get_trainer
from anchorjax.tasks import digest_data
from anchorjax.training import hosts
from anchorjax.training.curves import Record, empty_record
from anchorjax.training.members import (
    abstract_members,
    drop_padding,
    fetch_to_host,
    place_members,
)
from anchorjax.training.step import TrainState, has_stopped

# Seconds between two checks whether to stop: schedulers leave 30 or more to save. A
# segment that takes longer is cut into pieces, which changes no bit. Only the last
# piece is evaluated: at the paper's size an evaluation takes longer than this.
_PATIENCE = 5.0

ShouldStop = Callable[[], bool]
Report = Callable[[Progress], None]
Warn = Callable[[str], None]


def run_sweep(
    folder: SweepFolder,
    mesh: Mesh,
    *,
    chunks: range | None = None,
    should_stop: ShouldStop | None = None,
    report: Report | None = None,
    warn: Warn = print,
    after_cohort: Callable[[], None] | None = None,
    allow_environment_change: bool = False,
) -> Progress:
    """Trains what is not trained yet; may be interrupted anywhere and called again.

    Args:
      folder: from `create_folder`, with the environment of this process.
      chunks: indices into `folder.chunks`; by default all.
      after_cohort: called when a cohort is trained and another one follows.
      should_stop, report, warn, allow_environment_change: as of `api.train`.

    Raises:
      Preempted: should_stop returned True; everything is saved.
      StoreError: the folder is damaged or cannot be written, or a chunk began in
        another environment; earlier saves are intact.
    """
    indices = range(len(folder.chunks)) if chunks is None else chunks
    work = [folder.chunks[i] for i in indices]
    is_done = hosts.broadcast([chunk.folder.done for chunk in work])
    waiting = [chunk for chunk, done in zip(work, is_done, strict=True) if not done]
    if not allow_environment_change:
        _require_same_environment(folder, waiting)
    progress = count_progress(folder.experiment, work, waiting)
    for chunk, last in zip(waiting, [None, *waiting], strict=False):
        if after_cohort and last and last.cohort.name != chunk.cohort.name:
            after_cohort()
        if should_stop is not None and any(hosts.gather(should_stop())):
            raise Preempted
        train_chunk(folder, chunk, mesh, progress, should_stop, report, warn)
    return progress


def train_chunk(
    folder: SweepFolder,
    chunk: Chunk,
    mesh: Mesh,
    progress: Progress,
    should_stop: ShouldStop | None,
    report: Report | None,
    warn: Warn,
) -> None:
    """Trains a chunk to the end, from the state that its folder has.

    Errors as `run_sweep`.
    """
    of_cohort = folder.experiment.of_cohorts[chunk.cohort.name]
    environment = folder.environment
    assert environment is not None  # this process trains
    for path, digest in digest_data(of_cohort.task).items():
        if environment.data.get(path, digest) != digest:
            line = f'{path}: was written anew while this sweep trained; put it back'
            raise StoreError(f'{line}, and the same command continues')
    trainer = get_trainer(of_cohort, mesh, environment.lanes)
    record_steps, train = folder.experiment.record_steps, trainer.experiment.train
    size = folder.chunk_size
    hparams = chunk_hparams(chunk.cohort, chunk.index, size)
    hparams = place_members(hparams, mesh, trainer.lanes)
    trainer.compile(len(hparams.seed))  # not a part of the time of the first piece
    step, state, curves = _start(trainer, chunk.folder, hparams, size, warn)
    chunk.folder.begin(step, folder.environments.index(folder.environment))
    members = chunk.num_members
    operations = count_step(trainer.experiment).operations
    num_chunks = -(-chunk.cohort.size // folder.chunk_size)
    progress.label = f'{chunk.cohort.name}, chunk {chunk.index + 1} of {num_chunks}'
    progress.add_earlier(step * members, operations)
    last_save = time.monotonic()

    while step < train.num_steps:
        started = time.monotonic()
        place = int(np.searchsorted(record_steps, step, 'right'))  # of the next record
        segment_start = record_steps[place - 1] if place else 0
        num_steps = min(trainer.pace, record_steps[place] - step)
        is_end = step + num_steps == record_steps[place]
        state, record = trainer.segment(
            state, hparams, num_steps, step - segment_start, is_end
        )
        record = fetch_to_host(record)  # waits for the device
        step += num_steps
        seconds = time.monotonic() - started
        if is_end:
            for curve, values in zip(curves, record, strict=True):
                curve[place] = values[:size]
            progress.held_out = _mean_held_out(trainer.experiment, record, members)
        elif not fetch_to_host(has_stopped(trainer.experiment, state)).all():
            # The seconds are of steps alone, not of an evaluation.
            trainer.pace = max(1, int(num_steps * _PATIENCE / seconds))

        progress.add_piece(num_steps * members, operations, seconds)
        progress.loss = _mean_finite(record.train_loss[:members])
        is_due = time.monotonic() - last_save >= train.resume_every
        # The first host decides on saving and on the pace.
        is_due, trainer.pace = hosts.broadcast([is_due, trainer.pace])
        _save(trainer, chunk.folder, step, state, curves, is_due)
        if is_end:
            columns = _name_columns(trainer.experiment, record)
            hosts.run_on_first(functools.partial(folder.log_rows, chunk, step, columns))
        if is_due:
            last_save = time.monotonic()
        if report is not None:  # which may fail, as its log's disk does
            report(progress)
        stop = should_stop is not None and should_stop()
        if any(hosts.gather(stop)) and step < train.num_steps:
            if not is_due:
                _save_state(chunk.folder, step, state, curves)
            raise Preempted


def _mean_finite(losses: np.ndarray) -> float:
    """The mean loss of the members that have not diverged; NaN if all have."""
    finite = losses[np.isfinite(losses)]
    return float(finite.mean()) if finite.size else np.nan


def _name_columns(experiment: Experiment, record: Record) -> dict[str, Any]:
    """A row of the curves [M] by the names that its numbers have in members.csv."""
    task = experiment.task.make()
    columns = {'train_loss': record.train_loss, 'grad_norm': record.grad_norm}
    for p, eval_set in enumerate(task.eval_set_names):
        for r, mapping in enumerate(task.mapping_names):
            columns[f'{eval_set}_{mapping}'] = record.agreement[:, p, r]
    return columns


def _mean_held_out(experiment: Experiment, record: Record, members: int) -> float:
    """The mean accuracy on the held-out eval set; NaN in a task without one."""
    task = experiment.task.make()
    if 'seen_heldout' not in task.eval_set_names:
        return np.nan
    eval_set = task.eval_set_names.index('seen_heldout')
    mapping = task.mapping_names.index(task.trained_mapping)
    return float(np.mean(record.agreement[:members, eval_set, mapping]))


def _start(
    trainer: Trainer, folder: ChunkFolder, hparams: HParams, size: int, warn: Warn
) -> tuple[int, TrainState, Record]:
    """(step, placed state, curves [S, size, ...]), restored or new."""
    experiment = trainer.experiment
    num_records = len(experiment.record_steps)
    curves = empty_record(experiment.task.make(), num_records, size)
    state = abstract_members(trainer.abstract_state(), size)
    shapes = {'state': state, 'curves': jax.eval_shape(lambda: curves)}
    saved = folder.load_resume(shapes, warn)
    if saved is not None:
        step, tree = saved
        state = place_members(tree['state'], trainer.mesh, trainer.lanes)
        return step, state, jax.tree.map(np.array, tree['curves'])
    state = trainer.init(hparams)
    if 0 in experiment.train.snapshot_steps:
        folder.save_snapshot(0, drop_padding(state.params, size))
    return 0, state, curves


def _save(
    trainer: Trainer,
    folder: ChunkFolder,
    step: int,
    state: TrainState,
    curves: Record,
    is_due: bool,
) -> None:
    """Saves what is due at this step: a snapshot, and the curves or the state."""
    train = trainer.experiment.train
    is_last = step == train.num_steps
    size = curves.train_loss.shape[1]
    if is_last or step in train.snapshot_steps:
        folder.save_snapshot(step, drop_padding(state.params, size))
    if is_last:
        arrays = curves._asdict()
        arrays['steps'] = np.array(trainer.experiment.record_steps)
        arrays['diverged'] = fetch_to_host(state.diverged)[:size]
        if train.stop_loss:
            arrays['steps_taken'] = fetch_to_host(state.step)[:size]
        folder.finish(arrays)
    elif is_due:
        _save_state(folder, step, state, curves)


def _save_state(
    folder: ChunkFolder, step: int, state: TrainState, curves: Record
) -> None:
    whole = drop_padding(state, curves.train_loss.shape[1])
    folder.save_resume(step, {'state': whole, 'curves': curves})


def chunk_hparams(cohort: Cohort, index: int, size: int) -> HParams:
    """HParams [size] of a chunk, padded with copies of the cohort's last member."""
    rows = np.arange(index * size, (index + 1) * size)
    rows = np.minimum(rows, cohort.size - 1)
    return jax.tree.map(lambda x: x[rows], cohort.hparams)


def _require_same_environment(folder: SweepFolder, waiting: list[Chunk]) -> None:
    """Raises StoreError if members were last trained in another environment."""
    environment = folder.environment
    assert environment is not None  # this process trains
    ours = folder.environments.index(environment)
    for chunk in waiting:
        history = chunk.folder.environments()
        if not history:
            continue
        _, last = history[-1]
        if last != ours:
            is_known = last < len(folder.environments)
            theirs = folder.environments[last] if is_known else None
            refuse_environment(chunk.folder.path, theirs, environment)
