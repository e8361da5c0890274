"""Small experiments on P2's task, and the loss of a model on a whole data set."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from analysis.theory.label_law import Examples
from anchorjax import config
from anchorjax.training import losses
from anchorjax.training.forward import forward

SIZES = {
    'emb_mlp': {'width': 6, 'mlp_dim': 9},
    'one_layer': {'head_dim': 5, 'mlp_dim': 9},
    'transformer': {'depth': 2, 'width': 8, 'head_dim': 4, 'mlp_dim': 8},
}


def make_experiment(name: str, **fields: Any) -> config.Experiment:
    """A model on 20 tokens: make_experiment('emb_mlp', task__seq_len=3)."""
    c = config.default(task='memory_reasoning', model=name)
    c.task.update(
        seq_len=5,
        keys=(5, 12),
        memory_anchors=(1, 3),
        reasoning_anchors=(3, 5),
        masked=((3, 4),),
        num_examples=400,
        vocab=20,
        probe_examples=16,
    )
    c.model.update(SIZES[name])
    c.train.update(batch_size=8, num_steps=20, eval_every=10)
    c.optimizer.update(warmup_steps=4, floor=1e-4)
    for path, value in fields.items():
        group, field = path.split('__')
        c[group][field] = value
    return config.resolve(c)


def loss_and_gradient(
    experiment: config.Experiment, params: Any, examples: Examples
) -> tuple[float, Any]:
    """The mean loss over a data set, in nats, and its gradient, by jax.grad."""
    tokens_BT = jnp.asarray(examples.tokens_BT)
    targets_BQ = jnp.asarray(examples.label_B)[:, None]

    def loss(params: Any) -> jax.Array:
        logits_BQV = forward(experiment, params, tokens_BT).logits
        return losses.cross_entropy(logits_BQV, targets_BQ).mean()

    value, gradient = jax.jit(jax.value_and_grad(loss))(params)
    return float(value), jax.tree.map(np.asarray, gradient)


def descend(
    experiment: config.Experiment,
    params: Any,
    examples: Examples,
    rate: float,
    steps: tuple[int, ...],
) -> list[Any]:
    """The parameters after so many steps of gradient descent on the whole data set."""
    tokens_BT = jnp.asarray(examples.tokens_BT)
    targets_BQ = jnp.asarray(examples.label_B)[:, None]

    def loss(params: Any) -> jax.Array:
        logits_BQV = forward(experiment, params, tokens_BT).logits
        return losses.cross_entropy(logits_BQV, targets_BQ).mean()

    def take_step(_: jax.Array, params: Any) -> Any:
        gradient = jax.grad(loss)(params)
        return jax.tree.map(lambda p, g: p - rate * g, params, gradient)

    @jax.jit
    def take_steps(params: Any, number: jax.Array) -> Any:
        return jax.lax.fori_loop(0, number, take_step, params)

    path, done = [], 0
    for step in steps:
        params = take_steps(params, step - done)
        path.append(jax.tree.map(np.asarray, params))
        done = step
    return path


def relative_error(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Norm of the difference by the norm of what is expected."""
    return float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs))
