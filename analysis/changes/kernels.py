"""The tangent kernel: which answers one step of gradient descent moves together.

K_ij = <grad f(x_i), grad f(x_j)>. In the kernel regime it stays what it was at the
start.
"""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree
from jax.typing import ArrayLike

MOST_BYTES = 2**28  # of the gradients of a batch; memory holds two

Gradients = Callable[[Any, np.ndarray, np.ndarray], Array]


def make_gradients(apply: Callable) -> Gradients:
    """(params, tokens_BT, labels_B) -> gradients [B, parameter] of f.

    f = logit of the label - mean logit, at the last position.
    """

    def answer(params: Any, tokens_T: Array, label: Array) -> Array:
        logits_V = apply(params, tokens_T[None]).logits[0, -1]
        return logits_V[label] - logits_V.mean()

    def compute_gradients(
        params: Any, tokens_BT: ArrayLike, labels_B: ArrayLike
    ) -> Array:
        by_leaf = jax.vmap(jax.grad(answer), (None, 0, 0))(params, tokens_BT, labels_B)
        return jax.vmap(lambda tree: ravel_pytree(tree)[0])(by_leaf)

    return compute_gradients


def tangent_kernel(
    compute_gradients: Gradients,
    params: Any,
    tokens_BT: np.ndarray,
    labels_B: np.ndarray,
) -> np.ndarray:
    """K_BB of the f of `make_gradients`.

    Sequences that are too many for memory are divided into batches, and gradients are
    computed again for every pair of these.
    """
    number = len(tokens_BT)
    size_of_one = sum(leaf.nbytes for leaf in jax.tree.leaves(params))
    size = _largest_divisor(number, max(MOST_BYTES // size_of_one, 1))
    batches = [slice(first, first + size) for first in range(0, number, size)]
    kernel_BB = np.empty((number, number), np.float32)
    for row, rows in enumerate(batches):
        own = np.asarray(compute_gradients(params, tokens_BT[rows], labels_B[rows]))
        kernel_BB[rows, rows] = own @ own.T
        for columns in batches[row + 1 :]:
            batch = tokens_BT[columns], labels_B[columns]
            other = np.asarray(compute_gradients(params, *batch))
            kernel_BB[rows, columns] = own @ other.T
            kernel_BB[columns, rows] = kernel_BB[rows, columns].T
    return kernel_BB


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
