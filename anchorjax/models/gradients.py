"""Functions of the transformer whose gradients read less than those JAX derives.

The values are those of the formulas; a test compares the gradients with float64.
"""

import functools

import jax
import jax.numpy as jnp


@jax.custom_vjp
def relu(x: jax.Array) -> jax.Array:
    """max(x, 0). The mask of its gradient is read off the output, which is kept."""
    return jnp.maximum(x, 0)


def _relu_forward(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    y = relu(x)
    return y, y


def _relu_backward(y: jax.Array, g: jax.Array) -> tuple[jax.Array]:
    return (jnp.where(y > 0, g, 0),)


relu.defvjp(_relu_forward, _relu_backward)


@functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
def normalize(x: jax.Array, eps: float) -> jax.Array:
    """(x - mean) / sqrt(variance + eps) over the last axis."""
    return _normalize_forward(x, eps)[0]


def _normalize_forward(x: jax.Array, eps: float) -> tuple[jax.Array, tuple]:
    centred = x - x.mean(-1, keepdims=True)
    inverse_std = jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + eps)
    normal = centred * inverse_std
    return normal, (normal, inverse_std)


def _normalize_backward(eps: float, saved: tuple, g: jax.Array) -> tuple[jax.Array]:
    normal, inverse_std = saved
    along = (g * normal).mean(-1, keepdims=True)
    return (inverse_std * (g - g.mean(-1, keepdims=True) - normal * along),)


normalize.defvjp(_normalize_forward, _normalize_backward)


@jax.custom_vjp
def score_keys(Q: jax.Array, K: jax.Array) -> jax.Array:
    """Q K^T of every sequence, [N, Q, K], [N, T, K] -> [N, Q, T]."""
    return jnp.einsum('nqk,ntk->nqt', Q, K)


@jax.custom_vjp
def mix_rows(Attn: jax.Array, V: jax.Array) -> jax.Array:
    """Attn V of every sequence, [N, Q, T], [N, T, K] -> [N, Q, K]."""
    return jnp.einsum('nqt,ntk->nqk', Attn, V)


def _mix_back(Attn: jax.Array, g: jax.Array) -> jax.Array:
    """Attn^T g. XLA's CPU code sums over rows of both factors four times as slowly."""
    turned = jax.lax.optimization_barrier(Attn.swapaxes(1, 2))
    return jnp.einsum('ntq,nqk->ntk', turned, g)


score_keys.defvjp(
    lambda Q, K: (score_keys(Q, K), (Q, K)),
    lambda saved, g: (mix_rows(g, saved[1]), _mix_back(g, saved[0])),
)
mix_rows.defvjp(
    lambda Attn, V: (mix_rows(Attn, V), (Attn, V)),
    lambda saved, g: (score_keys(g, saved[1]), _mix_back(saved[0], g)),
)
