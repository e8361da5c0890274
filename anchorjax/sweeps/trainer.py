"""The compiled functions of a cohort, and the loop that trains one chunk."""

import dataclasses
import functools
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh

from anchorjax.experiment import Experiment, GridConfig
from anchorjax.grid import NO_WINDOWS, HParams, empty_hparams
from anchorjax.storage.chunk import ChunkFolder
from anchorjax.sweeps.signals import Preempted
from anchorjax.training import hosts
from anchorjax.training.curves import Record, record_shapes
from anchorjax.training.forward import keep_whole
from anchorjax.training.members import (
    describe_placement,
    drop_padding,
    fetch_to_host,
    make_batch_splitter,
    make_state_sharder,
    map_members,
    place_members,
    shard_states,
    unshard_states,
)
from anchorjax.training.step import (
    TrainState,
    draw_member,
    init_member,
    train_segment,
)

# Seconds between two checks whether to stop: schedulers leave 30 or more to save. A
# segment that takes longer is cut into pieces, which changes no bit. Only the last
# piece is evaluated: at the paper's size an evaluation takes longer than this.
_PATIENCE = 5.0

# tick(step, new steps, their seconds) is called after every piece; True means stop.
Tick = Callable[[int, int, float], bool]


class Trainer:
    """Trains the chunks of a cohort; one compilation serves segments of any length."""

    def __init__(self, experiment: Experiment, mesh: Mesh, lanes: int):
        self.experiment = experiment
        self.mesh = mesh
        self.lanes = lanes
        self.record_steps = experiment.record_steps
        split = make_batch_splitter(mesh)
        shard = keep_whole
        if experiment.train.shard_params:
            shard = make_state_sharder(mesh)

        def init(hparams: HParams) -> TrainState:
            return shard(init_member(experiment, hparams))

        def draw(hparams: HParams) -> TrainState:
            return draw_member(experiment, hparams)

        def run_segment(
            state: TrainState,
            hparams: HParams,
            num_steps: jax.Array,
            before: jax.Array,
            is_end: jax.Array,
        ) -> tuple[TrainState, Record]:
            return train_segment(
                experiment, state, hparams, num_steps, before, is_end, split, shard
            )

        self.init = map_members(init, mesh, lanes)
        self._draw = map_members(draw, mesh, lanes)  # for shapes: it reads no file
        self._segment = map_members(
            run_segment, mesh, lanes, num_members=2, num_shared=3
        )
        self._compiled: dict[int, Any] = {}  # by number of members, padding included
        self._pace = 1  # steps that take about _PATIENCE seconds; measured as we go

    def train_chunk(
        self,
        folder: ChunkFolder,
        hparams: HParams,
        environment: int,
        tick: Tick,
        warn: Callable[[str], None],
    ) -> float:
        """Trains a chunk to the end, from the state that its folder has.

        Args:
          hparams: leaves [M], M the chunk size.
          environment: index of this environment in the manifest's environments.
          warn: called with a line for every damaged state that is skipped.

        Returns:
          The seconds spent on saving.

        Raises:
          Preempted: tick returned True; the state is saved.
          StoreError: the folder cannot be written; earlier saves are intact.
        """
        placed = place_members(hparams, self.mesh, self.lanes)
        rows = len(hparams.seed)
        step, state, curves = self._start(folder, placed, rows, warn)
        folder.begin(step, environment)
        last_save, seconds_saving = time.monotonic(), 0.0
        while step < self.record_steps[-1]:
            started = time.monotonic()
            row = int(np.searchsorted(self.record_steps, step, 'right'))
            segment_end = self.record_steps[row]
            segment_start = self.record_steps[row - 1] if row else 0
            num_steps = min(self._pace, segment_end - step)
            is_end = step + num_steps == segment_end
            state, record = self.segment(
                state, placed, num_steps, step - segment_start, is_end
            )
            record = fetch_to_host(record)  # waits for the device
            step += num_steps
            seconds = time.monotonic() - started
            if is_end:
                for curve, values in zip(curves, record, strict=True):
                    curve[row] = values[:rows]
            else:  # the seconds are of steps alone, not of an evaluation
                self._pace = max(1, int(num_steps * _PATIENCE / seconds))

            is_due = time.monotonic() - last_save >= self.experiment.train.resume_every
            stop, is_due = self._agree(tick(step, num_steps, seconds), is_due)
            started = time.monotonic()
            self._save(folder, step, state, curves, is_due)
            seconds_saving += time.monotonic() - started
            if is_due:
                last_save = time.monotonic()
            if stop and step < self.record_steps[-1]:
                raise Preempted
        return seconds_saving

    def segment(
        self,
        state: TrainState,
        hparams: HParams,
        num_steps: int,
        before: int = 0,
        is_end: bool = True,
    ) -> tuple[TrainState, Record]:
        """`num_steps` steps of all members of a chunk; see `step.train_segment`.

        Leaves are [M, ...] with padding; the memory of `state` is reused.
        """
        compiled = self.compile(len(hparams.seed))
        return compiled(
            state, hparams, np.int32(num_steps), np.int32(before), np.bool_(is_end)
        )

    def compile(self, rows: int) -> Any:
        """The compiled segment for `rows` members, padding included."""
        if rows not in self._compiled:
            hparams = empty_hparams(rows, self.experiment.grid.decay_window)
            inputs = (jax.eval_shape(self._draw, hparams), hparams)
            state, hparams = describe_placement(inputs, rows, self.mesh, self.lanes)
            state = self._shard(state)
            shared = (np.int32(1), np.int32(0), np.bool_(True))
            with jax.default_matmul_precision(self.experiment.train.precision):
                lowered = self._segment.lower(state, hparams, *shared)
            self._compiled[rows] = lowered.compile()
        return self._compiled[rows]

    def _agree(self, stop: bool, is_due: bool) -> tuple[bool, bool]:
        """All hosts stop if one has to; the first decides on saving and on the pace."""
        votes = hosts.gather([stop, is_due, self._pace])
        _, is_due, self._pace = votes[0]
        stop = any(vote[0] for vote in votes)
        return stop, is_due or stop

    def _start(
        self,
        folder: ChunkFolder,
        hparams: HParams,
        rows: int,
        warn: Callable[[str], None],
    ) -> tuple[int, TrainState, Record]:
        """(step, placed state, curves [S, rows, ...]), resumed or new."""
        curves = self._empty_curves(rows)
        state_shapes = describe_placement(
            jax.eval_shape(self._draw, hparams), rows, self.mesh, self.lanes
        )
        curve_shapes = jax.tree.map(
            lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), curves
        )
        saved = folder.load_resume(
            {'state': state_shapes, 'curves': curve_shapes}, warn
        )
        if saved is not None:
            step, tree = saved
            state = place_members(tree['state'], self.mesh, self.lanes)
            return step, self._shard(state), jax.tree.map(np.array, tree['curves'])
        state = self._shard(self.init(hparams))
        if 0 in self.experiment.train.snapshot_steps:
            self._save_snapshot(folder, 0, state.params, rows)
        return 0, state, curves

    def _empty_curves(self, rows: int) -> Record:
        """Records of all steps, [S, rows, ...], filled with NaN."""
        shapes = record_shapes(self.experiment.task.make())
        num_records = len(self.record_steps)
        curves = []
        for shape in shapes:
            curves.append(np.full((num_records, rows, *shape), np.nan, np.float32))
        return Record(*curves)

    def _save(
        self,
        folder: ChunkFolder,
        step: int,
        state: TrainState,
        curves: Record,
        is_due: bool,
    ) -> None:
        """Saves what is due at this step: a snapshot, and the curves or the state."""
        is_last = step == self.record_steps[-1]
        rows = curves.train_loss.shape[1]
        if is_last or step in self.experiment.train.snapshot_steps:
            self._save_snapshot(folder, step, state.params, rows)
        if is_last:
            arrays = curves._asdict()
            arrays['steps'] = np.array(self.record_steps)
            arrays['diverged'] = fetch_to_host(state.diverged)[:rows]
            folder.finish(arrays)
        elif is_due:
            whole = drop_padding(unshard_states(state, self.mesh), rows)
            folder.save_resume(step, {'state': whole, 'curves': curves})

    def _save_snapshot(
        self, folder: ChunkFolder, step: int, params: Any, rows: int
    ) -> None:
        whole = unshard_states(params, self.mesh)
        folder.save_snapshot(step, drop_padding(whole, rows))

    def _shard(self, state: Any) -> Any:
        """The state with its matrices divided among devices, if the config says so."""
        if not self.experiment.train.shard_params:
            return state
        return shard_states(state, self.mesh)


def get_trainer(experiment: Experiment, mesh: Mesh, lanes: int) -> Trainer:
    """The trainer of a cohort's experiment; the last 32 are kept with their programs.

    Experiments that differ only in name and grid share one: neither is compiled in,
    but for whether there are windows of weight decay.
    """
    grid = GridConfig()
    if experiment.grid.decay_window != NO_WINDOWS:
        grid = GridConfig(decay_window=((0, 0),))
    program = dataclasses.replace(experiment, name='', grid=grid)
    return _make_trainer(program, mesh, lanes)


@functools.lru_cache(maxsize=32)
def _make_trainer(experiment: Experiment, mesh: Mesh, lanes: int) -> Trainer:
    return Trainer(experiment, mesh, lanes)
