"""What the nearest neighbours of a vector carry: its pair, the reverse, or another."""

import numpy as np
import xarray as xr
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

KINDS = ('same pair', 'symmetric pair', 'other pair')


def count_neighbours(points_BD: np.ndarray, pair_B2: np.ndarray, k: int) -> xr.Dataset:
    """Which pairs the k nearest neighbours of the vectors carry, by KINDS.

      share  [kind] of the neighbours
      chance [kind] of neighbours drawn at random

    Both are of the vectors of pairs (a, b) with a != b.
    """
    with threadpool_limits(1):
        search = NearestNeighbors(n_neighbors=k).fit(points_BD)
        # Called without points, it leaves a vector out of its own neighbours.
        neighbour_BK = search.kneighbors(return_distance=False)
    differs_B = pair_B2[:, 0] != pair_B2[:, 1]
    pair_of_neighbour_BK2 = pair_B2[neighbour_BK][differs_B]
    is_kind = _compare_pairs(pair_B2[differs_B, None], pair_of_neighbour_BK2)

    pairs_A2, size_A = np.unique(pair_B2, axis=0, return_counts=True)
    differs_A = pairs_A2[:, 0] != pairs_A2[:, 1]
    # A vector is not its own neighbour, so its own pair has one candidate fewer.
    expected_AA = size_A[:, None] * (size_A - np.eye(len(size_A)))
    expected_AA = expected_AA[differs_A]
    could_be_kind = _compare_pairs(pairs_A2[differs_A, None], pairs_A2)
    chance = (could_be_kind * expected_AA).sum((1, 2)) / expected_AA.sum()
    return xr.Dataset(
        {'share': ('kind', is_kind.mean((1, 2))), 'chance': ('kind', chance)},
        {'kind': list(KINDS)},
    )


def _compare_pairs(own_B2: np.ndarray, others_B2: np.ndarray) -> np.ndarray:
    """Whether the others are of each of KINDS, beside pairs (a, b): [kind, ...]."""
    is_same = (own_B2 == others_B2).all(-1)
    is_symmetric = (own_B2 == others_B2[..., ::-1]).all(-1)
    return np.stack([is_same, is_symmetric, ~(is_same | is_symmetric)])
