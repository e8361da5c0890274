"""Shapes and types without numbers: arguments of zeros, and what must come of them."""

from collections.abc import Callable
from typing import Any

import chex
import jax
import numpy as np

ARRAYS = (np.ndarray, jax.Array, jax.ShapeDtypeStruct)


def floats(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


def ints(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.int32)


def bools(*shape: int) -> np.ndarray:
    return np.zeros(shape, bool)


def assert_shapes(expected: Any, function: Callable, *args: Any) -> None:
    """The leaves of function(*args), traced only, are like those expected."""
    given, structure = jax.tree.flatten(args)
    is_array = [isinstance(leaf, ARRAYS) for leaf in given]
    arrays = [leaf for leaf, is_here in zip(given, is_array, strict=True) if is_here]

    def call(*arrays: jax.Array) -> Any:
        rest = iter(arrays)
        pairs = zip(given, is_array, strict=True)
        leaves = [next(rest) if is_here else leaf for leaf, is_here in pairs]
        return function(*jax.tree.unflatten(structure, leaves))

    found = jax.tree.leaves(jax.eval_shape(call, *arrays))
    leaves = jax.tree.leaves(expected)
    chex.assert_trees_all_equal_shapes_and_dtypes(found, leaves)
