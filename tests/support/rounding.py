"""Two ways to compute the same numbers may differ by rounding, and by nothing else."""

from typing import Any

import jax
import numpy as np

_SMALLEST = 1e-2


def assert_same_but_rounding(
    found: Any, expected: Any, tolerance: float = 1e-5
) -> None:
    """Asserts that two trees of float32 are equal up to rounding.

    An error may be a share of the largest number in its leaf, not of the number
    itself: where large terms cancel, what is left has the error of the terms, and how
    large it is depends on the order of the sum, so on the CPU.
    The largest counts as 1e-2 where it is less: a leaf that is zero in exact
    arithmetic, as the gradient of a bias of keys, is all rounding.
    """

    def check(path: Any, a: np.ndarray, b: np.ndarray) -> None:
        name = jax.tree_util.keystr(path)
        largest = np.abs(b).max(initial=_SMALLEST)
        np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * largest, err_msg=name)

    jax.tree_util.tree_map_with_path(check, found, expected)
