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
    number = len(tokens_BT)
    size = _largest_divisor(number, MAX_BATCH)
    gradient = jax.grad(_make_answer(apply))
    gradients = jax.vmap(gradient, in_axes=(None, 0, 0))

    def compute_block(pair: Array) -> Array:
        first_of_batch = pair[:, None] * size
        chosen_B = (first_of_batch + jnp.arange(size)).ravel()
        tokens = tokens_BT[chosen_B]
        labels = labels_B[chosen_B]
        both = gradients(params, tokens, labels)
        return _inner_products(both, size)

    rows, columns = np.triu_indices(number // size)
    pairs = jnp.stack([rows, columns], axis=-1)
    blocks = jax.lax.map(compute_block, pairs)
    return _assemble_symmetric(blocks, rows, columns)


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


def _make_answer(apply: Callable) -> Callable:
    """f(params, tokens_T, label) of one sequence."""

    def answer(params: Any, tokens_T: Array, label: Array) -> Array:
        activations = apply(params, tokens_T[None])
        logits_V = activations.logits[0, -1]
        return logits_V[label] - logits_V.mean()

    return answer


def _inner_products(gradients: Any, size: int) -> Array:
    """Of the first `size` gradients with the others, [size, size], leaf by leaf."""
    total = 0
    for leaf in jax.tree.leaves(gradients):
        vectors = leaf.reshape(len(leaf), -1)
        first = vectors[:size]
        second = vectors[size:]
        total += jnp.matmul(first, second.T, precision='highest')
    return total


def _assemble_symmetric(blocks: Array, rows: np.ndarray, columns: np.ndarray) -> Array:
    """The whole matrix, from the blocks [block, size, size] of its upper triangle."""
    number = rows.max() + 1
    size = blocks.shape[-1]
    K = jnp.zeros((number, number, size, size))
    K = K.at[rows, columns].set(blocks)
    K = K.at[columns, rows].set(blocks.mT)
    length = number * size
    return K.swapaxes(1, 2).reshape(length, length)
