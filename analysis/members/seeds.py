"""Members of two groups that share a seed: differences are taken seed by seed."""

import numpy as np


def match_seeds(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places in both lists of the seeds that both have, in the order of the seeds.

    Of a seed that a list has twice, the first place.
    """
    _, i, j = np.intersect1d(first, second, return_indices=True)
    return i, j


def pair_seeds(
    seed_M: np.ndarray, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The members of both groups with seeds that both have, in the order of the seeds.

    Args:
      seed_M: the seeds of all members.
      first, second: indices of the members of the groups.
    """
    i, j = match_seeds(seed_M[first], seed_M[second])
    return first[i], second[j]
