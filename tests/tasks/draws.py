"""Draws from a task as training and evaluation do, as NumPy arrays."""

import jax
import jax.numpy as jnp
import numpy as np

from anchorjax.tasks import Batch, Probes, TaskConfig


def draw_batch(config: TaskConfig, number: int | None = None, seed: int = 0) -> Batch:
    """The first training examples of a seed, or all."""
    task = config.make()

    @jax.jit
    def draw(key: jax.Array) -> Batch:
        return task.batch(task.make_data(key), jnp.arange(number or task.num_train))

    return jax.tree.map(np.asarray, draw(jax.random.key(seed)))


def draw_probes(config: TaskConfig, seed: int = 0) -> Probes:
    task = config.make()

    @jax.jit
    def draw(key: jax.Array) -> Probes:
        return task.probes(task.make_data(key))

    return jax.tree.map(np.asarray, draw(jax.random.key(seed)))
