"""One step of training, of a new member or of given parameters."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from anchorjax.experiment import Experiment
from anchorjax.grid import HParams
from anchorjax.training.step import TrainState, init_member, new_state, train_step


def measure_first_step(experiment: Experiment, name: str) -> list[jax.Array]:
    """Loss and gradient norm of step 0, and a parameter's [2, 3] before and after."""
    hparams = HParams(
        gamma=jnp.float32(0.5),
        learning_rate=jnp.float32(0.01),
        weight_decay=jnp.float32(0.1),
        seed=jnp.int32(0),
    )
    task = experiment.task.make()
    data = jax.jit(task.make_data)(jax.random.key(0))

    @jax.jit
    def take_first_step() -> tuple[TrainState, TrainState, jax.Array, jax.Array]:
        state = init_member(experiment, hparams)
        return state, *train_step(experiment, task, data, state, hparams)

    before, after, loss, norm = take_first_step()
    assert (before.step, after.step, after.diverged) == (0, 1, -1)
    entries = [state.params[name][2, 3] for state in (before, after)]
    return [loss, norm, *entries]


def make_decaying_step(experiment: Experiment, params: Any) -> Callable[[float], Any]:
    """A function: the parameters after one step at rate 0.01 with a weight decay."""
    state = new_state(experiment, params)
    task = experiment.task.make()
    data = jax.jit(task.make_data)(jax.random.key(0))

    @jax.jit
    def train_with(decay: jax.Array) -> Any:
        hparams = HParams(jnp.float32(0.5), jnp.float32(0.01), decay, jnp.int32(0))
        next_state, _, _ = train_step(experiment, task, data, state, hparams)
        return next_state.params

    def take_step(decay: float) -> Any:
        return train_with(jnp.float32(decay))

    return take_step
