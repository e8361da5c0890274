"""How far a network moved between two steps: kernel, parameters and neurons.

The tangent kernel K_ij = <grad f(x_i), grad f(x_j)> says which answers one step of
gradient descent moves together. In the kernel regime it stays what it was at the start.
"""

import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pandas as pd
from jax import Array
from jax.flatten_util import ravel_pytree
from jax.typing import ArrayLike

from anchorjax import numerics
from anchorjax.caching import cache
from anchorjax.models import ModelConfig
from anchorjax.network import Network, flatten_params, make_apply, program_of
from anchorjax.tasks import TaskConfig

MOST_BYTES = 2**28  # of the gradients of a batch; memory holds two

Gradients = Callable[[Any, np.ndarray, np.ndarray], Array]


def measure_change(start: Network, end: Network, number: int) -> dict[str, float]:
    """Compares two states of one member on `number` sequences of its eval sets.

    kernel         distance of the tangent kernels, in [0, 1]
    pattern        share of neurons x positions x sequences that switched on or off; NaN
                   without any
    movement       of all parameters, and movement_NAME: see `measure_movement`
    """
    start_kernel, start_active, end_kernel, end_active = _ask_both(start, end, number)
    movement = measure_movement(start.params, end.params)
    change = {
        'kernel': kernel_distance(start_kernel, end_kernel),
        'pattern': _share_switched(start_active, end_active),
        'movement': movement.pop('all'),
    }
    return change | {f'movement_{name}': moved for name, moved in movement.items()}


def measure_kernel_distance(first: Network, second: Network, number: int) -> float:
    """Distance of the tangent kernels of two networks for one task, in [0, 1].

    Both are asked the same `number` sequences, those of the first one's eval sets.
    """
    first_kernel, _, second_kernel, _ = _ask_both(first, second, number)
    return kernel_distance(first_kernel, second_kernel)


def _ask_both(first: Network, second: Network, number: int) -> list:
    """[tangent kernel, active neurons] of each, on the first one's eval sets."""
    tokens_BT, labels_B = choose_sequences(first, number)
    compute_gradients = _compile_gradients(*program_of(first.experiment))
    found = []
    for member in (first, second):
        batch = member.params, tokens_BT, labels_B
        found.append(tangent_kernel(compute_gradients, *batch))
        found.append(
            [block.hidden > 0 for block in member.activations(tokens_BT).blocks]
        )
    return found


def choose_sequences(member: Network, number: int) -> tuple[np.ndarray, np.ndarray]:
    """(tokens [B, T], trained labels [B]) of the first sequences of each eval set."""
    tokens_PBT, labels_PRB = member.eval_sets
    trained = member.task.mapping_names.index(member.task.trained_mapping)
    is_asked_BP = member.is_asked_PB.T
    tokens_BT = tokens_PBT.swapaxes(0, 1)[is_asked_BP]
    labels_B = labels_PRB[:, trained].T[is_asked_BP]
    return tokens_BT[:number], labels_B[:number]


def measure_movement(start_params: Any, end_params: Any) -> dict[str, float]:
    """|theta_T - theta_0| / |theta_0| of each name in all blocks, and of 'all'.

    NaN for parameters that are zero at the start.
    """
    end = flatten_params(end_params)
    rows = []
    for path, before in flatten_params(start_params).items():
        norm = np.linalg.norm(before.astype(float))
        distance = np.linalg.norm(end[path].astype(float) - before)
        name = path.split('/')[-1]
        rows.append({'name': name, 'start': norm**2, 'moved': distance**2})
    squares = pd.DataFrame(rows).groupby('name', sort=False).sum()
    squares.loc['all'] = squares.sum()
    ratios = squares.moved / squares.start.where(squares.start > 0)
    return {str(name): ratio for name, ratio in ratios.transform(np.sqrt).items()}


@cache()
def _compile_gradients(
    model: ModelConfig, vocab: int, precision: str, masked_by: TaskConfig | None
) -> Gradients:
    """The jitted `make_gradients`, compiled once per `program_of`."""
    apply = make_apply(model, vocab, masked_by)
    return numerics.pin(precision)(jax.jit(make_gradients(apply)))


def _share_switched(start_active: list, end_active: list) -> float:
    """Share of neurons over all blocks that switched; NaN without any block."""
    if not start_active:
        return math.nan
    switched = []
    for start, end in zip(start_active, end_active, strict=True):
        switched.append(np.ravel(start != end))
    return float(np.concatenate(switched).mean())


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
