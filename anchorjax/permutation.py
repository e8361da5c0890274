"""True epochs without a stored permutation: a bijection of range(n).

Shuffling 759,375 examples for each member would mean a sort in every epoch, inside the
compiled loop. A Feistel network computes any entry of a permutation by itself, so the
batch of a step is a pure function of (key, step): nothing to save, nothing to restore.
"""

import jax
import jax.numpy as jnp

_ROUNDS = 6


def draw_epoch_batch(
    key: jax.Array, step: jax.Array, batch_size: int, n: int
) -> jax.Array:
    """Example numbers of the batch of a step, [B].

    No example comes twice in an epoch. Its last, partial batch is dropped.
    """
    epoch, within = jnp.divmod(step, n // batch_size)
    index_B = within * batch_size + jnp.arange(batch_size)
    return permute(jax.random.fold_in(key, epoch), index_B, n)


def permute(key: jax.Array, index: jax.Array, n: int) -> jax.Array:
    """Images of `index` under a pseudo-random bijection of range(n) that `key` selects.

    A balanced Feistel network permutes range(4 ** half), at most 4 n values. Those that
    land outside range(n) are sent through again until they are inside (cycle walking):
    at most 4 passes a value on average.
    """
    half = max(1, ((n - 1).bit_length() + 1) // 2)
    round_keys = jax.random.bits(key, (_ROUNDS,), jnp.uint32)

    def is_any_outside(x: jax.Array) -> jax.Array:
        return (x >= n).any()

    def send_through_again(x: jax.Array) -> jax.Array:
        return jnp.where(x >= n, _feistel(x, round_keys, half), x)

    def send_eight_times(x: jax.Array) -> jax.Array:
        for _ in range(8):
            x = send_through_again(x)
        return x

    first = _feistel(index.astype(jnp.uint32), round_keys, half)
    # Whether the loop goes on, an accelerator asks its host. After eight more passes
    # hardly any value is left outside.
    most = jax.lax.platform_dependent(first, cpu=lambda x: x, default=send_eight_times)
    inside = jax.lax.while_loop(is_any_outside, send_through_again, most)
    return inside.astype(jnp.int32)


def _feistel(x: jax.Array, round_keys: jax.Array, half: int) -> jax.Array:
    """One pass through the network, over two halves of `half` bits each."""
    mask = jnp.uint32((1 << half) - 1)
    left, right = x >> half, x & mask
    for i in range(_ROUNDS):
        mixed = _hash(right ^ round_keys[i]) & mask
        left, right = right, left ^ mixed
    return (left << half) | right


def _hash(x: jax.Array) -> jax.Array:
    """The 32-bit hash lowbias32: every output bit depends on every input bit."""
    x = (x ^ (x >> 16)) * jnp.uint32(0x7FEB352D)
    x = (x ^ (x >> 15)) * jnp.uint32(0x846CA68B)
    return x ^ (x >> 16)


def draw_bits(key: jax.Array, number_B: jax.Array, size: int) -> jax.Array:
    """Random bits of numbered examples, [B, size] uint32.

    They depend on (key, number) alone.
    """

    def draw_one(number: jax.Array) -> jax.Array:
        own_key = jax.random.fold_in(key, number)
        return jax.random.bits(own_key, (size,))

    return jax.vmap(draw_one)(number_B)
