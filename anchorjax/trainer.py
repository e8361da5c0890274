"""One cohort's compiled functions, and the loop that takes one chunk of members to its end."""

import time
from collections.abc import Callable

import jax
import numpy as np

from anchorjax import records, sharding, tasks, train
from anchorjax.config import Experiment
from anchorjax.grid import HParams
from anchorjax.records import Record
from anchorjax.sweepdir import Chunk


class Preempted(Exception):
    """A stop was asked for; everything is saved and the same command continues."""


class Trainer:
    """Compiles once, at the first chunk, whatever the number of chunks and segment lengths."""

    def __init__(self, experiment: Experiment, mesh: jax.sharding.Mesh, lanes: int):
        segment = lambda s, h, n: train.train_segment(experiment, s, h, n)
        initial = lambda h: train.init_member(experiment, h)
        self.experiment, self.mesh = experiment, mesh
        self.ends = experiment.record_steps
        self.init = sharding.over_members(initial, mesh, lanes)
        self._segment = sharding.over_members(segment, mesh, lanes, shared=1)
        self._compiled = None
        self.saving = 0.0  # seconds spent on disk so far

    def run(self, chunk: Chunk, hparams: HParams, tick: Callable, warn: Callable) -> None:
        """Trains a chunk from wherever its folder says it is, and marks it done.

        Args:
          chunk: where it lives on disk.
          hparams: leaves [chunk size].
          tick: called as tick(step, new steps, seconds) after every segment; returns True to stop.
          warn: called with a line when a damaged state is passed over.

        Raises:
          Preempted: tick said stop; the state is saved.
          StoreError: the disk failed; what was saved before is whole.
        """
        hparams = sharding.place(hparams, self.mesh)
        step, state, curves = self._start(chunk, hparams, warn)
        self.compile(state, hparams)
        saved = time.monotonic()
        for row in range(int(np.searchsorted(self.ends, step, 'right')), len(self.ends)):
            begun, done = time.monotonic(), step
            state, record = self.segment(state, hparams, self.ends[row] - step)
            for kept, new in zip(curves, record, strict=True):
                kept[row] = new  # waits for the device
            step, trained = self.ends[row], time.monotonic()
            stop = tick(step, step - done, trained - begun)
            due = stop or trained - saved >= self.experiment.train.resume_every
            saved = self._save(chunk, step, state, curves, due) or saved
            if stop and step < self.ends[-1]:
                raise Preempted

    def segment(self, state: train.TrainState, hparams: HParams, num_steps: int):
        """`num_steps` steps of every member of the chunk: (state, Record), leaves [chunk, ...]."""
        return self.compile(state, hparams)(state, hparams, np.int32(num_steps))

    def compile(self, state, hparams: HParams):
        """The compiled segment, for its cost and memory."""
        if self._compiled is None:
            self._compiled = self._segment.lower(state, hparams, np.int32(1)).compile()
        return self._compiled

    def _start(self, chunk: Chunk, hparams: HParams, warn: Callable):
        abstract = jax.eval_shape(self.init, hparams)
        curves = self._empty_curves(len(hparams.seed))
        found = chunk.load_resume({'state': abstract, 'curves': curves}, warn)
        if found:
            step, tree = found
            return step, sharding.place(tree['state'], self.mesh), Record(*tree['curves'])
        state = self.init(hparams)
        if 0 in self.experiment.train.snapshot_steps:
            chunk.save_snapshot(0, state.params)
        return 0, state, curves

    def _empty_curves(self, size: int) -> Record:
        """Records of every boundary, [S, chunk, ...], NaN until they are measured."""
        shapes = records.shapes(tasks.make(self.experiment.task))
        return Record(*(np.full((len(self.ends), size, *s), np.nan, np.float32) for s in shapes))

    def _save(self, chunk: Chunk, step: int, state, curves, due: bool) -> float | None:
        """Saves what this step calls for; the time of a resume save."""
        begun, last = time.monotonic(), step == self.ends[-1]
        if last or step in self.experiment.train.snapshot_steps:
            chunk.save_snapshot(step, state.params)
        if last:
            arrays = dict(zip(Record._fields, curves, strict=True))
            ends, diverged = np.array(self.ends), np.asarray(state.diverged)
            chunk.finish(arrays | {'steps': ends, 'diverged': diverged})
        elif due:
            chunk.save_resume(step, {'state': state, 'curves': curves})
        self.saving += time.monotonic() - begun
        return time.monotonic() if due else None
