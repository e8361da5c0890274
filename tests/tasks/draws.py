"""Draws from a task as training and evaluation do, as NumPy arrays."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from anchorjax.tasks import Batch, EvalSets, TaskConfig


def draw_batch(config: TaskConfig, number: int | None = None, seed: int = 0) -> Batch:
    """The first training examples of a seed, or all."""
    if number is None:
        number = config.make().num_train
    return jax.tree.map(np.asarray, _draw_batch(config, number, jax.random.key(seed)))


def draw_eval_sets(config: TaskConfig, seed: int = 0) -> EvalSets:
    return jax.tree.map(np.asarray, _draw_eval_sets(config, jax.random.key(seed)))


def draw_both(config: TaskConfig) -> tuple[Batch, EvalSets]:
    """All training examples and the eval sets of seed 0, by one program."""
    return jax.tree.map(np.asarray, _draw_both(config, jax.random.key(0)))


@functools.partial(jax.jit, static_argnums=(0, 1))
def _draw_batch(config: TaskConfig, number: int, key: jax.Array) -> Batch:
    task = config.make()
    return task.batch(task.make_data(key), jnp.arange(number))


@functools.partial(jax.jit, static_argnums=0)
def _draw_eval_sets(config: TaskConfig, key: jax.Array) -> EvalSets:
    task = config.make()
    return task.eval_sets(task.make_data(key))


@functools.partial(jax.jit, static_argnums=0)
def _draw_both(config: TaskConfig, key: jax.Array) -> tuple[Batch, EvalSets]:
    task = config.make()
    data = task.make_data(key)
    return task.batch(data, jnp.arange(task.num_train)), task.eval_sets(data)
