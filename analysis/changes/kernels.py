"""The tangent kernel: which answers one step of gradient descent moves together.

K_ij = <grad f(x_i), grad f(x_j)>. In the kernel regime it stays what it was at the
start.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

MAX_BATCH = 12  # sequences


def tangent_kernel(
    apply: Callable, params: Any, tokens_BT: Array, labels_B: Array
) -> Array:
    """K_BB of f = logit of the label - mean logit, at the last position.

    Gradients are computed again for every pair of batches, so that memory holds two
    batches.
    """

    def answer(params: Any, tokens_T: Array, label: Array) -> Array:
        logits_V = apply(params, tokens_T[None]).logits[0, -1]
        return logits_V[label] - logits_V.mean()

    def compute_gradients(batch: tuple[Array, Array]) -> Any:
        return jax.vmap(jax.grad(answer), (None, 0, 0))(params, *batch)

    def compute_rows(batch: tuple[Array, Array]) -> Array:
        own = compute_gradients(batch)

        def compute_block(other: tuple[Array, Array]) -> Array:
            return _inner_products(own, compute_gradients(other))

        return jax.lax.map(compute_block, batches)

    number, length = tokens_BT.shape
    size = _largest_divisor(number, MAX_BATCH)
    batches = (tokens_BT.reshape(-1, size, length), labels_B.reshape(-1, size))
    blocks = jax.lax.map(compute_rows, batches)  # [row, column, size, size]
    return blocks.swapaxes(1, 2).reshape(number, number)


def kernel_distance(K0_BB: np.ndarray, KT_BB: np.ndarray) -> float:
    """1 - <K0, KT> / (|K0| |KT|), eq. 4 of Fort et al. 2020; NaN for zeros."""
    K0 = np.asarray(K0_BB, np.float64)
    KT = np.asarray(KT_BB, np.float64)
    norms = np.linalg.norm(K0) * np.linalg.norm(KT)
    if norms == 0:
        return float('nan')
    inner_product = (K0 * KT).sum()
    return float(1 - inner_product / norms)


def _largest_divisor(number: int, limit: int) -> int:
    """The largest divisor of `number` that is at most `limit`."""
    divisor = min(limit, number)
    while number % divisor:
        divisor -= 1
    return divisor


def _inner_products(first: Any, second: Any) -> Array:
    """Of the gradients of one batch with those of another, leaf by leaf."""
    total = 0
    for a, b in zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True):
        vectors_a = a.reshape(len(a), -1)
        vectors_b = b.reshape(len(b), -1)
        total += jnp.matmul(vectors_a, vectors_b.T, precision='highest')
    return total
