"""Functions of the transformer with gradients of their own.

They read less than those that JAX derives. Activations and the factors of products have
the dtype of `x`, float32 or bfloat16; parameters, their gradients and all sums and
statistics are float32. A test compares the gradients with float64.
"""

import jax
import jax.numpy as jnp
from jax.typing import DTypeLike


def _multiply(x: jax.Array, W: jax.Array, dtype: DTypeLike) -> jax.Array:
    """x [N, D] @ W [D, F] -> [N, F] in `dtype`; W is float32."""
    return jnp.matmul(x, W.astype(x.dtype), preferred_element_type=dtype)


multiply = jax.custom_vjp(_multiply, nondiff_argnums=(2,))


def _multiply_forward(x: jax.Array, W: jax.Array, dtype: DTypeLike) -> tuple:
    return multiply(x, W, dtype), (x, W)


def _multiply_backward(dtype: DTypeLike, saved: tuple, g: jax.Array) -> tuple:
    x, W = saved
    g = g.astype(x.dtype)
    of_x = jnp.matmul(g, W.T.astype(x.dtype), preferred_element_type=x.dtype)
    return of_x, jnp.matmul(x.T, g, preferred_element_type=W.dtype)


multiply.defvjp(_multiply_forward, _multiply_backward)


@jax.custom_vjp
def look_up(table: jax.Array, tokens: jax.Array) -> jax.Array:
    """The rows of `table` [V, D] at `tokens` [B, T], [B, T, D]."""
    return jnp.asarray(table)[tokens]


def _look_up_forward(table: jax.Array, tokens: jax.Array) -> tuple:
    return look_up(table, tokens), (table, tokens)


def _look_up_backward(saved: tuple, g: jax.Array) -> tuple[jax.Array, None]:
    """Sums by token; on accelerators a product, without atomic additions.

    They are added in no fixed order, so the bits of a step would differ by run. On a
    CPU, adding row by row is five times as fast.
    """
    table, tokens = saved

    def add_rows(tokens: jax.Array, g: jax.Array) -> jax.Array:
        return jnp.zeros_like(table).at[tokens].add(g)

    def multiply_one_hot(tokens: jax.Array, g: jax.Array) -> jax.Array:
        is_token_VN = jnp.arange(len(table))[:, None] == tokens.reshape(-1)
        rows = g.reshape(-1, g.shape[-1])
        return jnp.matmul(is_token_VN.astype(g.dtype), rows)

    of_table = jax.lax.platform_dependent(
        tokens, g, cpu=add_rows, default=multiply_one_hot
    )
    return of_table, None


look_up.defvjp(_look_up_forward, _look_up_backward)


@jax.custom_vjp
def relu(x: jax.Array) -> jax.Array:
    """max(x [...], 0). The mask of its gradient is read off the kept output."""
    return jnp.maximum(x, 0)


def _relu_forward(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    y = relu(x)
    return y, y


def _relu_backward(y: jax.Array, g: jax.Array) -> tuple[jax.Array]:
    return (jnp.where(y > 0, g, 0),)


relu.defvjp(_relu_forward, _relu_backward)


def normalize(x: jax.Array, scale: jax.Array, bias: jax.Array, eps: float) -> jax.Array:
    """(x [..., D] - mean) / sqrt(variance + eps) * scale [D] + bias [D].

    Behind barriers, kernels of an accelerator read and write `x`, its gradient and the
    statistics as they are here. Without them, XLA keeps products of them in float32.
    """
    x = jax.lax.optimization_barrier(x)
    x32 = x.astype(jnp.float32)
    mean = x32.mean(-1, keepdims=True)
    # The variance is least about the mean, so its gradient by the mean is zero.
    centred = x32 - jax.lax.stop_gradient(mean)
    variance = (centred * centred).mean(-1, keepdims=True)
    inverse_std = jax.lax.rsqrt(variance + eps)
    mean, inverse_std = jax.lax.optimization_barrier((mean, inverse_std))
    return ((x32 - mean) * inverse_std * scale + bias).astype(x.dtype)


@jax.custom_vjp
def score_keys(Q: jax.Array, K: jax.Array) -> jax.Array:
    """Q K^T of every sequence, [N, Q, K], [N, T, K] -> [N, Q, T] float32."""
    return jnp.einsum('nqk,ntk->nqt', Q, K, preferred_element_type=jnp.float32)


@jax.custom_vjp
def mix_rows(Attn: jax.Array, V: jax.Array) -> jax.Array:
    """Attn V of every sequence, [N, Q, T], [N, T, K] -> [N, Q, K]."""
    return jnp.einsum('nqt,ntk->nqk', Attn.astype(V.dtype), V)


def _mix_back(Attn: jax.Array, g: jax.Array) -> jax.Array:
    """Attn^T g. XLA's CPU code sums over rows of both factors four times as slowly."""
    turned = jax.lax.optimization_barrier(Attn.astype(g.dtype).swapaxes(1, 2))
    return jnp.einsum('ntq,nqk->ntk', turned, g)


score_keys.defvjp(
    lambda Q, K: (score_keys(Q, K), (Q, K)),
    lambda saved, g: (mix_rows(g, saved[1]), _mix_back(g, saved[0])),
)
mix_rows.defvjp(
    lambda Attn, V: (mix_rows(Attn, V), (Attn, V)),
    lambda saved, g: (score_keys(g, saved[1]), _mix_back(saved[0], g)),
)
