"""What is minimized and what is reported: cross-entropy, exact match, histogram."""

import jax
import jax.numpy as jnp
import optax


def cross_entropy(
    logits_BV: jax.Array, targets_B: jax.Array, weights_B: jax.Array | None = None
) -> jax.Array:
    """The weighted mean of -log softmax(logits)[target], in nats."""
    loss_B = optax.softmax_cross_entropy_with_integer_labels(logits_BV, targets_B)
    if weights_B is None:
        return loss_B.mean()
    return (loss_B * weights_B).sum() / jnp.maximum(weights_B.sum(), 1e-9)


def exact_match(
    predictions_BQ: jax.Array,
    targets_BQ: jax.Array,
    weights_BQ: jax.Array | None = None,
) -> jax.Array:
    """Share of sequences with the right prediction at every scored position, in [0, 1].

    With teacher forcing this is the exact match of greedy decoding, which leaves the
    right answer at the first wrong argmax. Positions of weight 0 are not scored, and a
    sequence without a scored position does not count.
    """
    right_BQ = predictions_BQ == targets_BQ
    if weights_BQ is None:
        return right_BQ.all(-1).mean(dtype=jnp.float32)
    is_scored_BQ = weights_BQ > 0
    right_B = (right_BQ | ~is_scored_BQ).all(-1)
    is_scored_B = is_scored_BQ.any(-1)
    number = jnp.maximum(is_scored_B.sum(), 1)
    return (right_B & is_scored_B).sum() / number.astype(jnp.float32)


def histogram(values_B: jax.Array, limit: int) -> jax.Array:
    """Shares of the integers -limit..limit, then of all beyond, [2 limit + 2]."""
    beyond = 2 * limit + 1
    bins_B = jnp.where(jnp.abs(values_B) <= limit, values_B + limit, beyond)
    empty = jnp.zeros(2 * limit + 2, jnp.float32)
    return empty.at[bins_B].add(1.0 / len(values_B))
