"""One cohort's compiled functions, and the loop that takes one chunk of members to its end."""

import functools
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from anchorjax import tasks
from anchorjax.config import Experiment
from anchorjax.config.grid import DTYPES, HParams
from anchorjax.storage.sweep_folder import Chunk
from anchorjax.sweeps.signals import Preempted
from anchorjax.training import hosts
from anchorjax.training.curves import Record, record_shapes
from anchorjax.training.members import (
    describe_placement,
    drop_padding,
    fetch_to_host,
    make_batch_splitter,
    map_members,
    place_members,
)
from anchorjax.training.step import TrainState, init_member, train_segment

# Seconds between two looks at the wish to stop: schedulers give 30 or more to save. A segment
# that takes longer is cut into pieces, which changes no bit.
_PATIENCE = 5.0


class Trainer:
    """Compiles once, at the first chunk, whatever the number of chunks and segment lengths."""

    def __init__(self, experiment: Experiment, mesh: jax.sharding.Mesh, lanes: int):
        split = make_batch_splitter(mesh)
        segment = lambda s, h, n, before: train_segment(
            experiment, s, h, n, before, split
        )
        initial = lambda h: init_member(experiment, h)
        self.experiment, self.mesh, self.lanes = experiment, mesh, lanes
        self.ends = experiment.record_steps
        self.init = map_members(initial, mesh, lanes)
        self._segment = map_members(segment, mesh, lanes, shared=2)
        self._compiled: dict[int, Any] = {}  # by members, padding included
        self._pace = 1  # steps that take about _PATIENCE seconds; measured as we go

    def run(
        self,
        chunk: Chunk,
        hparams: HParams,
        numerics: int,
        tick: Callable,
        warn: Callable,
    ) -> float:
        """Trains a chunk from wherever its folder says it is, and marks it done.

        Returns the seconds it spent on saving.

        Args:
          chunk: where it lives on disk.
          hparams: leaves [chunk size].
          numerics: index of this environment in the manifest's list.
          tick: called as tick(step, new steps, seconds) after every piece; returns True to stop.
          warn: called with a line when a damaged state is passed over.

        Raises:
          Preempted: tick said stop; the state is saved.
          StoreError: the disk failed; what was saved before is whole.
        """
        placed = place_members(hparams, self.mesh, self.lanes)
        rows = len(hparams.seed)
        step, state, curves = self._start(chunk, placed, rows, warn)
        chunk.begin(step, numerics)
        saved, saving = time.monotonic(), 0.0
        while step < self.ends[-1]:
            begun, done = time.monotonic(), step
            row = int(np.searchsorted(self.ends, step, 'right'))
            step = min(self.ends[row], done + self._pace)
            since = self.ends[row - 1] if row else 0
            state, record = self.segment(state, placed, step - done, done - since)
            record = fetch_to_host(record)  # waits for the device
            if step == self.ends[row]:
                for kept, new in zip(curves, record, strict=True):
                    kept[row] = new[:rows]
            seconds = time.monotonic() - begun
            self._pace = max(1, int((step - done) * _PATIENCE / seconds))
            due = time.monotonic() - saved >= self.experiment.train.resume_every
            stop, due = self._agreed(tick(step, step - done, seconds), due)
            begun = time.monotonic()
            self._save(chunk, step, state, curves, due)
            saving += time.monotonic() - begun
            saved = time.monotonic() if due else saved
            if stop and step < self.ends[-1]:
                raise Preempted
        return saving

    def segment(
        self, state: TrainState, hparams: HParams, num_steps: int, before: int = 0
    ):
        """`num_steps` steps of every member of the chunk: (state, Record), leaves [chunk, ...]."""
        compiled = self.compile(len(hparams.seed))
        return compiled(state, hparams, np.int32(num_steps), np.int32(before))

    def compile(self, rows: int):
        """The compiled segment of `rows` members (padding included), for its cost and memory."""
        if rows not in self._compiled:
            hparams = HParams(*(np.zeros(rows, d) for d in DTYPES))
            inputs = [jax.eval_shape(self.init, hparams), hparams]
            state, hparams = describe_placement(inputs, rows, self.mesh, self.lanes)
            number = np.int32(1)
            with jax.default_matmul_precision(self.experiment.train.precision):
                lowered = self._segment.lower(state, hparams, number, number)
            self._compiled[rows] = lowered.compile()
        return self._compiled[rows]

    def _agreed(self, stop: bool, due: bool) -> tuple[bool, bool]:
        """All hosts stop when one is asked to, and save and go on at the pace of the first."""
        votes = hosts.gather([stop, due, self._pace])
        _, due, self._pace = votes[0]
        stop = any(wish for wish, *_ in votes)
        return stop, due or stop

    def _start(self, chunk: Chunk, hparams: HParams, rows: int, warn: Callable):
        """(step, state on its devices, curves [S, rows, ...]) from where the chunk is."""
        curves = self._empty_curves(rows)
        shapes = jax.eval_shape(self.init, hparams)
        abstract = describe_placement(shapes, rows, self.mesh, self.lanes)
        empty = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), curves)
        found = chunk.load_resume({'state': abstract, 'curves': empty}, warn)
        if found:
            step, tree = found
            state = place_members(tree['state'], self.mesh, self.lanes)
            return step, state, Record(*map(np.array, tree['curves']))
        state = self.init(hparams)
        if 0 in self.experiment.train.snapshot_steps:
            chunk.save_snapshot(0, drop_padding(state.params, rows))
        return 0, state, curves

    def _empty_curves(self, size: int) -> Record:
        """Records of every boundary, [S, chunk, ...], NaN until they are measured."""
        shapes = record_shapes(tasks.make(self.experiment.task))
        return Record(
            *(np.full((len(self.ends), size, *s), np.nan, np.float32) for s in shapes)
        )

    def _save(self, chunk: Chunk, step: int, state, curves, due: bool) -> None:
        """Saves what this step calls for."""
        last, rows = step == self.ends[-1], curves.train_loss.shape[1]
        if last or step in self.experiment.train.snapshot_steps:
            chunk.save_snapshot(step, drop_padding(state.params, rows))
        if last:
            arrays = dict(zip(Record._fields, curves, strict=True))
            diverged = fetch_to_host(state.diverged)[:rows]
            chunk.finish(arrays | {'steps': np.array(self.ends), 'diverged': diverged})
        elif due:
            state = drop_padding(state, rows)
            chunk.save_resume(step, {'state': state, 'curves': curves})


@functools.lru_cache(maxsize=32)
def get_trainer(experiment: Experiment, mesh: jax.sharding.Mesh, lanes: int) -> Trainer:
    """The trainer of a cohort's experiment: what is compiled once is kept for this process."""
    return Trainer(experiment, mesh, lanes)
