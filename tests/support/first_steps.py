"""Steps of training, of a new member or of given parameters."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from anchorjax.experiment import Experiment
from anchorjax.grid import HParams
from anchorjax.tasks import Task
from anchorjax.training.step import TrainState, init_member, train_step

HPARAMS = HParams(
    gamma=jnp.float32(0.5),
    learning_rate=jnp.float32(0.01),
    weight_decay=jnp.float32(0.1),
    seed=jnp.int32(0),
)
# From a state to the next one, the loss in nats and the norm of the gradient.
Step = Callable[[TrainState, HParams], tuple[TrainState, jax.Array, jax.Array]]


def make_step(
    experiment: Experiment, task: Task | None = None, slices: int = 1
) -> Step:
    """The compiled step of an experiment, with data of key 0.

    Args:
      task: in place of the experiment's.
    """
    task = task or experiment.task.make()
    data = jax.jit(task.make_data)(jax.random.key(0))

    @jax.jit
    def take_step(state: TrainState, hparams: HParams) -> Any:
        return train_step(experiment, task, data, state, hparams, slices=slices)

    return take_step


def start_member(experiment: Experiment) -> TrainState:
    """A new member before its first step."""
    return jax.jit(lambda: init_member(experiment, HPARAMS))()
