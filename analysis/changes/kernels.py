"""The tangent kernel of a network: which answers one step of gradient descent moves together.

K_ij = <grad f(x_i), grad f(x_j)>. A network trained in the kernel regime keeps the K of its start.
"""

import jax
import jax.numpy as jnp
import numpy as np

BATCH = 12  # sequences


def tangent_kernel(apply, params, tokens_BT, labels_B) -> jax.Array:
    """K_BB of f = logit of the label - mean logit, at the last position.

    Gradients are formed again for every pair of batches: memory holds two.
    """
    number = len(tokens_BT)
    size = next(b for b in range(min(BATCH, number), 0, -1) if number % b == 0)
    gradients = jax.vmap(jax.grad(_answer(apply)), (None, 0, 0))

    def block(pair):
        chosen_B = (pair[:, None] * size + jnp.arange(size)).ravel()
        return _inner(gradients(params, tokens_BT[chosen_B], labels_B[chosen_B]), size)

    rows, columns = np.triu_indices(number // size)
    return _symmetric(
        jax.lax.map(block, jnp.stack([rows, columns], axis=-1)), rows, columns
    )


def kernel_distance(K0_BB, KT_BB) -> float:
    """1 - <K0, KT> / (|K0| |KT|) (Fort et al. 2020, eq. 4); NaN for a kernel of zeros."""
    K0, KT = np.asarray(K0_BB, np.float64), np.asarray(KT_BB, np.float64)
    norms = np.linalg.norm(K0) * np.linalg.norm(KT)
    return float(1 - (K0 * KT).sum() / norms) if norms > 0 else float('nan')


def _answer(apply):
    def f(params, tokens_T, label):
        logits_V = apply(params, tokens_T[None]).logits[0, -1]
        return logits_V[label] - logits_V.mean()

    return f


def _inner(gradients, size: int) -> jax.Array:
    """Inner products of the first `size` gradients with the others, summed leaf by leaf."""

    def dot(leaf):
        rows = leaf.reshape(len(leaf), -1)
        return jnp.matmul(rows[:size], rows[size:].T, precision='highest')

    return sum(map(dot, jax.tree.leaves(gradients)))


def _symmetric(blocks, rows, columns) -> jax.Array:
    """The whole matrix, from the square blocks [block, size, size] of its upper triangle."""
    number, size = rows.max() + 1, blocks.shape[-1]
    K = jnp.zeros((number, number, size, size)).at[rows, columns].set(blocks)
    K = K.at[columns, rows].set(blocks.mT)
    return K.swapaxes(1, 2).reshape(number * size, number * size)
