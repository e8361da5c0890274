"""What the nearest neighbours of a vector carry: its pair, the reverse, or another."""

from typing import NamedTuple

import numpy as np
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

KINDS = ('same pair', 'symmetric pair', 'other pair')


class Neighbours(NamedTuple):
    """Counts over all vectors; shares over the vectors of pairs (a, b) with a != b."""

    counts_AA: np.ndarray  # [pair of the vector, pair of its neighbour]
    shares: np.ndarray  # [kind] of KINDS
    chance: np.ndarray  # [kind] the shares of neighbours drawn at random


def count_neighbours(
    points_BD: np.ndarray,
    pair_B: np.ndarray,
    pairs_A2: np.ndarray,
    k: int,
) -> Neighbours:
    """Which pairs the k nearest neighbours of every vector carry.

    Args:
      pair_B: the pair of every vector, an index into pairs_A2.
    """
    counts_AA = _count_pairs(points_BD, pair_B, len(pairs_A2), k)
    expected_AA = _expect_pairs(pair_B, len(pairs_A2))
    shares = _share_by_kind(counts_AA, pairs_A2)
    chance = _share_by_kind(expected_AA, pairs_A2)
    return Neighbours(counts_AA, shares, chance)


def _count_pairs(
    points_BD: np.ndarray,
    pair_B: np.ndarray,
    num_pairs: int,
    k: int,
) -> np.ndarray:
    with threadpool_limits(1):
        search = NearestNeighbors(n_neighbors=k).fit(points_BD)
        # Called without points, it leaves a vector out of its own neighbours.
        neighbour_BK = search.kneighbors(return_distance=False)
    counts_AA = np.zeros((num_pairs, num_pairs), int)
    own_pair_B1 = pair_B[:, None]
    neighbour_pair_BK = pair_B[neighbour_BK]
    np.add.at(counts_AA, (own_pair_B1, neighbour_pair_BK), 1)
    return counts_AA


def _expect_pairs(pair_B: np.ndarray, num_pairs: int) -> np.ndarray:
    """Expected counts of random neighbours, up to a factor.

    A vector is not its own neighbour, so its own pair has one candidate fewer.
    """
    size_A = np.bincount(pair_B, minlength=num_pairs)
    candidates_AA = size_A - np.eye(num_pairs)
    return size_A[:, None] * candidates_AA


def _share_by_kind(counts_AA: np.ndarray, pairs_A2: np.ndarray) -> np.ndarray:
    """[kind]: share of the neighbours of vectors of pairs (a, b) with a != b."""
    first_A, second_A = pairs_A2.T
    differs_A = first_A != second_A
    pairs_A12 = pairs_A2[:, None]
    reversed_A2 = pairs_A2[:, ::-1]
    same_AA = (pairs_A12 == pairs_A2).all(-1)
    symmetric_AA = (pairs_A12 == reversed_A2).all(-1)
    other_AA = ~(same_AA | symmetric_AA)
    totals = []
    for kind_AA in (same_AA, symmetric_AA, other_AA):
        counts_of_kind_AA = counts_AA * kind_AA
        totals.append(counts_of_kind_AA[differs_A].sum())
    total = counts_AA[differs_A].sum()
    return np.array(totals) / total
