"""What is minimized and what is reported: cross-entropy, exact match, histogram."""

import jax
import jax.numpy as jnp


def cross_entropy(logits_BQV: jax.Array, targets_BQ: jax.Array) -> jax.Array:
    """-log softmax(logits)[target] at every position, [B, Q], in nats.

    The gradient of a look-up of the target would be a sum by atomic additions on a GPU.
    """
    is_target_BQV = jnp.arange(logits_BQV.shape[-1]) == targets_BQ[..., None]
    target_BQ = jnp.where(is_target_BQV, logits_BQV, 0.0).sum(-1)
    return jax.nn.logsumexp(logits_BQV, axis=-1) - target_BQ


def weighted_mean(
    values_BQ: jax.Array, weights_BQ: jax.Array | None = None
) -> jax.Array:
    """The weighted mean, [], over positions and sequences; None: all count alike."""
    if weights_BQ is None:
        return values_BQ.mean()
    return (values_BQ * weights_BQ).sum() / jnp.maximum(weights_BQ.sum(), 1e-9)


def exact_match(
    predictions_BQ: jax.Array,
    targets_RBQ: jax.Array,
    weights_BQ: jax.Array | None = None,
) -> jax.Array:
    """Whether each sequence is right at every scored position, bool [R, B].

    With teacher forcing this is the exact match of greedy decoding, which leaves the
    right answer at the first wrong argmax. Positions of weight 0 are not scored.
    """
    right_RBQ = predictions_BQ == targets_RBQ
    if weights_BQ is not None:
        right_RBQ = right_RBQ | (weights_BQ <= 0)
    return right_RBQ.all(-1)


def is_scored(
    predictions_BQ: jax.Array, weights_BQ: jax.Array | None = None
) -> jax.Array:
    """Whether a sequence has a scored position at all, bool [B]; padding has none."""
    if weights_BQ is None:
        return jnp.ones(predictions_BQ.shape[0], bool)
    return (weights_BQ > 0).any(-1)


def share(right_RB: jax.Array, counts_B: jax.Array) -> jax.Array:
    """Accuracy over the counted sequences, [R]; 0 if there are none."""
    number = jnp.maximum(counts_B.sum(), 1).astype(jnp.float32)
    return (right_RB & counts_B).sum(-1) / number


def token_share(
    predictions_BQ: jax.Array,
    targets_RBQ: jax.Array,
    weights_BQ: jax.Array | None = None,
) -> jax.Array:
    """Share of all scored positions which are right, [R]; 0 if none is scored.

    With teacher forcing: each token is asked for after the right tokens before it.
    """
    is_asked_BQ = jnp.ones(predictions_BQ.shape, bool)
    if weights_BQ is not None:
        is_asked_BQ = weights_BQ > 0
    right_RBQ = (predictions_BQ == targets_RBQ) & is_asked_BQ
    number = jnp.maximum(is_asked_BQ.sum(), 1).astype(jnp.float32)
    return right_RBQ.sum((-1, -2)) / number


def share_by_group(
    right_RB: jax.Array, counts_B: jax.Array, group_B: jax.Array, num_groups: int
) -> jax.Array:
    """`share` of each group's sequences, [R, G]; NaN for a group without any."""
    is_group_BG = group_B[:, None] == jnp.arange(num_groups)
    counts_BG = (is_group_BG & counts_B[:, None]).astype(jnp.float32)
    right_RG = right_RB.astype(jnp.float32) @ counts_BG
    return right_RG / counts_BG.sum(0)


def histogram(
    values_B: jax.Array, limit: int, counts_B: jax.Array | None = None
) -> jax.Array:
    """Shares of the integers -limit..limit, then of all beyond, [2 limit + 2].

    Args:
      counts_B: which values count, bool; None: all.
    """
    beyond = 2 * limit + 1
    bins_B = jnp.where(jnp.abs(values_B) <= limit, values_B + limit, beyond)
    empty = jnp.zeros(2 * limit + 2, jnp.float32)
    share = 1.0 / len(values_B)
    if counts_B is not None:
        share = counts_B / jnp.maximum(counts_B.sum(), 1)
    return empty.at[bins_B].add(share)
