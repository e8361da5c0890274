"""What is minimized, and what is reported: cross-entropy and agreement with a mapping."""

import jax
import jax.numpy as jnp
import optax


def cross_entropy(
    logits_BV: jax.Array, labels_B: jax.Array, weights_B=None
) -> jax.Array:
    """Weighted mean of -log softmax(logits)[label], in nats; unweighted without weights."""
    loss_B = optax.softmax_cross_entropy_with_integer_labels(logits_BV, labels_B)
    if weights_B is None:
        return loss_B.mean()
    return (loss_B * weights_B).sum() / jnp.maximum(weights_B.sum(), 1e-9)


def agreement(predictions_B: jax.Array, labels_RB: jax.Array) -> jax.Array:
    """Share of predictions equal to each mapping's label, [R]; no mapping is the right one."""
    return (predictions_B == labels_RB).mean(-1, dtype=jnp.float32)


def histogram(values_B: jax.Array, limit: int) -> jax.Array:
    """Shares of the integers -limit..limit and, last, of everything beyond: [2 limit + 2]."""
    bins_B = jnp.where(jnp.abs(values_B) <= limit, values_B + limit, 2 * limit + 1)
    return jnp.zeros(2 * limit + 2, jnp.float32).at[bins_B].add(1.0 / len(values_B))
