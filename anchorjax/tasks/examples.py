"""The random bits of a numbered example."""

import jax


def draw_bits(key: jax.Array, number_B: jax.Array, size: int) -> jax.Array:
    """Bits [B, size], uint32, that depend on (key, number) alone."""

    def draw_one(number: jax.Array) -> jax.Array:
        own_key = jax.random.fold_in(key, number)
        return jax.random.bits(own_key, (size,))

    return jax.vmap(draw_one)(number_B)
