"""What the measurements share: the experiment they time, and how to time in turn."""

import pathlib
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from anchorjax import config
from anchorjax.sweeps.run import chunk_hparams
from anchorjax.sweeps.trainer import Trainer
from anchorjax.training.devices import make_mesh
from anchorjax.training.members import place_members

Row = tuple[str, str]  # a line of the table: what was measured, and the result
Contender = Callable[[int], Any]  # trains for a number of steps and waits for the end

BATCH_SIZE = 256


def make_experiment(
    width: int, head_dim: int, mlp_dim: int, **overrides: object
) -> config.Experiment:
    """The default task (9 tokens), one gamma, and as many seeds as there are devices.

    Args:
      overrides: more fields of the config, as train__num_steps=4000.
    """
    c = config.default()
    c.model.width = width
    c.model.head_dim = head_dim
    c.model.mlp_dim = mlp_dim
    c.train.batch_size = BATCH_SIZE
    c.grid.gamma = (0.8,)
    c.grid.seed = tuple(range(len(jax.devices())))
    # Every timed segment ends with an evaluation; real runs evaluate far less often.
    c.task.probe_examples = 16
    for name, value in overrides.items():
        config.override(c, name.replace('__', '.'), str(value))
    return config.resolve(c)


def prepare_anchorjax(experiment: config.Experiment, lanes: int = 1) -> Contender:
    """A contender that trains one chunk, lanes * devices members side by side."""
    return prepare_chunk(Trainer(experiment, make_mesh(), lanes))


def prepare_chunk(trainer: Trainer, is_end: bool = True) -> Contender:
    """The same of a trainer whose compiled program several contenders share.

    Args:
      is_end: whether every call ends with an evaluation, as a segment does.
    """
    mesh, lanes = trainer.mesh, trainer.lanes
    cohort = trainer.experiment.cohorts()[0]
    hparams = chunk_hparams(cohort, 0, lanes * mesh.size)
    hparams = place_members(hparams, mesh, lanes)
    state = trainer.init(hparams)

    def train(num_steps: int) -> None:
        nonlocal state
        state, record = trainer.segment(state, hparams, num_steps, is_end=is_end)
        jax.block_until_ready(record)

    return train


def time_in_turn(
    contenders: dict[str, Contender], num_steps: int, rounds: int = 7
) -> dict[str, np.ndarray]:
    """Seconds [rounds] that every contender takes for `num_steps` steps.

    In every round each contender runs once, so that the drift of the machine's speed
    meets all of them alike and ratios within a round are fair. One step of each, which
    compiles, comes first and is not timed.
    """
    for train in contenders.values():
        train(1)
    seconds = {name: np.zeros(rounds) for name in contenders}
    for i in range(rounds):
        for name, train in contenders.items():
            seconds[name][i] = time_call(train, num_steps)
    return seconds


def time_call(function: Callable[..., Any], *args: object) -> float:
    """Seconds that a call takes."""
    start = time.perf_counter()
    function(*args)
    return time.perf_counter() - start


def count_bytes(folder: pathlib.Path) -> int:
    """Bytes of all files in a folder and in the folders below it."""
    total = 0
    for path in folder.rglob('*'):
        if path.is_file():
            total += path.stat().st_size
    return total
