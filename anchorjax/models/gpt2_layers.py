"""Linear maps and attention in float32 or bfloat16, for GPT-2."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from anchorjax.models.transformer import attention_weights


class Linear(NamedTuple):
    """A linear map with bias; its parameters are float32 at any dtype."""

    W: jax.Array  # [d_in, d_out]
    b: jax.Array  # [d_out]

    def apply(self, x: jax.Array, dtype: str) -> jax.Array:
        """x W + b in `dtype`, [B, T, d_in] -> [B, T, d_out]."""
        product = multiply_rows(x, self.W, dtype, dtype)
        return product + self.b.astype(dtype)


def multiply_rows(
    x: jax.Array, W: jax.Array, dtype: str, result: jax.typing.DTypeLike
) -> jax.Array:
    """x [B, T, D] @ W [D, d_out] of factors in `dtype`; see `shortcuts.project`."""
    batch, length, width = x.shape
    rows = x.astype(dtype).reshape(batch * length, width)
    product = jnp.matmul(rows, W.astype(dtype), preferred_element_type=result)
    return product.reshape(batch, length, -1)


def attend_fused(
    Q_BTHK: jax.Array, K_BTHK: jax.Array, V_BTHK: jax.Array, attention: str
) -> jax.Array:
    """Causal attention by jax.nn.dot_product_attention, heads concatenated."""
    implementation = None
    if attention == 'cudnn' and jax.default_backend() == 'gpu':
        implementation = 'cudnn'
    mixed_BTHK = jax.nn.dot_product_attention(
        Q_BTHK, K_BTHK, V_BTHK, is_causal=True, implementation=implementation
    )
    batch, length, _, _ = mixed_BTHK.shape
    return mixed_BTHK.reshape(batch, length, -1)


def weigh_past(Q_BTHK: jax.Array, K_BTHK: jax.Array) -> jax.Array:
    """Attention by the formula, in float32, [B, H, T, T]."""
    Q = Q_BTHK.astype(jnp.float32)
    K = K_BTHK.astype(jnp.float32)
    return attention_weights(Q, K)
