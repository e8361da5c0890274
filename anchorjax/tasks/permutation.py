"""True epochs without a stored permutation: a bijection of range(n) that can be read anywhere.

A stored permutation of 759,375 examples per member would have to be sorted anew every epoch
inside the compiled loop; a Feistel network gives any entry alone, and the batch of any step is
a pure function of (key, step): nothing to save, nothing to restore.
"""

import jax
import jax.numpy as jnp

_ROUNDS = 6


def permute(key: jax.Array, index: jax.Array, n: int) -> jax.Array:
    """Images of `index` under a pseudo-random bijection of range(n), given by `key`.

    A balanced Feistel network permutes the next power of four; values that land outside
    range(n) are sent through again until they are inside (cycle walking, about 4 turns at most).
    """
    half = max(1, ((n - 1).bit_length() + 1) // 2)
    round_keys = jax.random.bits(key, (_ROUNDS,), jnp.uint32)
    once = lambda x: _feistel(x, round_keys, half)
    outside = lambda x: (x >= n).any()
    walk = lambda x: jnp.where(x >= n, once(x), x)
    return jax.lax.while_loop(outside, walk, once(index.astype(jnp.uint32))).astype(
        jnp.int32
    )


def epoch_batch(key: jax.Array, step: jax.Array, batch_size: int, n: int) -> jax.Array:
    """Example numbers of one batch, [B]: each once per epoch, last partial batch dropped."""
    epoch, within = jnp.divmod(step, n // batch_size)
    index_B = within * batch_size + jnp.arange(batch_size)
    return permute(jax.random.fold_in(key, epoch), index_B, n)


def _feistel(x: jax.Array, round_keys: jax.Array, half: int) -> jax.Array:
    mask = jnp.uint32((1 << half) - 1)
    left, right = x >> half, x & mask
    for i in range(_ROUNDS):
        left, right = right, left ^ (_hash(right ^ round_keys[i]) & mask)
    return (left << half) | right


def _hash(x: jax.Array) -> jax.Array:
    """A 32-bit integer finalizer: multiply and xor-shift until every bit depends on every bit."""
    x = (x ^ (x >> 16)) * jnp.uint32(0x7FEB352D)
    x = (x ^ (x >> 15)) * jnp.uint32(0x846CA68B)
    return x ^ (x >> 16)
