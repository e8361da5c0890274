"""The compiled program of a cohort: new members, and a segment of their training."""

import functools
import operator
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding

from anchorjax import numerics
from anchorjax.caching import find_key
from anchorjax.experiment import Experiment
from anchorjax.grid import NO_WINDOWS, HParams
from anchorjax.models import abstract_params
from anchorjax.tasks import digest_data
from anchorjax.training import optimizers
from anchorjax.training.curves import Record
from anchorjax.training.members import (
    MEMBERS,
    abstract_members,
    count_slices,
    make_batch_splitter,
    map_members,
)
from anchorjax.training.step import TrainState, init_member, new_state, train_segment

_MOST_TRAINERS = 32


class Trainer:
    """Trains members of a cohort side by side; one program for segments of any length.

    Members are placed (`members.place_members`): leaves [M, ...] with padding.
    """

    def __init__(self, experiment: Experiment, mesh: Mesh, lanes: int):
        self.experiment = experiment
        self.mesh = mesh
        self.lanes = lanes
        self.pace = 1  # steps that take a few seconds; run.train_chunk measures it
        self._compiled: dict[int, Any] = {}  # by number of members, padding included
        split = make_batch_splitter(mesh)
        init = functools.partial(init_member, experiment)
        batch_size, seq_len = experiment.train.batch_size, experiment.task.seq_len
        slices = count_slices(mesh, batch_size, seq_len)
        segment = functools.partial(
            train_segment, experiment, split=split, slices=slices
        )
        pin = numerics.pin(experiment.train.precision)
        # HParams -> states of new members
        self.init = pin(map_members(init, mesh, lanes))
        self._segment = map_members(segment, mesh, lanes, num_members=2, num_shared=3)

    @numerics.pin()
    def abstract_state(self) -> TrainState:
        """The ShapeDtypeStructs of the state of one member; no file is read."""
        vocab = self.experiment.task.vocab
        params = abstract_params(self.experiment.model, vocab)
        return jax.eval_shape(functools.partial(new_state, self.experiment), params)

    def segment(
        self,
        state: TrainState,
        hparams: HParams,
        num_steps: int,
        before: int = 0,
        is_end: bool = True,
    ) -> tuple[TrainState, Record]:
        """`num_steps` steps of all members; see `step.train_segment`.

        The memory of `state` is reused.
        """
        program = self.compile(len(hparams.seed))
        shared = (np.int32(num_steps), np.int32(before), np.bool_(is_end))
        with numerics.pin():
            return program(state, hparams, *shared)

    def compile(self, rows: int) -> Any:
        """The compiled segment for `rows` members, padding included."""
        if rows not in self._compiled:
            (cohort,) = self.experiment.cohorts()
            of_one = jax.tree.map(operator.itemgetter(0), cohort.hparams)
            sharding = NamedSharding(self.mesh, MEMBERS)
            hparams = abstract_members(of_one, rows, sharding)
            state = abstract_members(self.abstract_state(), rows, sharding)
            shared = (np.int32(1), np.int32(0), np.bool_(True))
            with numerics.pin(self.experiment.train.precision):
                program = self._segment.lower(state, hparams, *shared).compile()
            self._compiled[rows] = program
        return self._compiled[rows]


_trainers: dict[tuple, Trainer] = {}  # by what is compiled in, the oldest first


def get_trainer(experiment: Experiment, mesh: Mesh, lanes: int) -> Trainer:
    """The trainer of a cohort's experiment; the last few are kept with their programs.

    Cohorts that differ only in name and grid share one: neither is compiled in, but
    for whether there are windows of weight decay. All else that it is made from is in
    the key: the files that tasks and models read, too, and what is set in this process.

    Raises:
      UserError: one of these files cannot be read.
    """
    own = (find_key(experiment.task), find_key(experiment.model))
    read = digest_data(experiment.task) | experiment.model.digest_start()
    has_windows = experiment.grid.decay_window != NO_WINDOWS
    flags = tuple(numerics.read_flags().items())
    optimizer = experiment.optimizer
    parts = (optimizers.find_optimizer(optimizer), optimizers.find_schedule(optimizer))
    settings = (optimizer, parts, experiment.train, has_windows, flags)
    key = (*own, tuple(read.items()), *settings, mesh, lanes)
    if key not in _trainers:
        _trainers[key] = Trainer(experiment, mesh, lanes)
        if len(_trainers) > _MOST_TRAINERS:
            del _trainers[next(iter(_trainers))]
    return _trainers[key]
