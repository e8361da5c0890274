"""What the nearest neighbours of a vector carry: its own pair of anchors, the reverse, another."""

from typing import NamedTuple

import numpy as np
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

KINDS = ('same pair', 'symmetric pair', 'other pair')


class Nearest(NamedTuple):
    """A counts ordered pairs; the shares are those of the vectors of pairs (a, b) with a != b."""

    counts_AA: np.ndarray  # neighbours: of vectors of a pair, carrying another
    shares: np.ndarray  # along KINDS
    chance: np.ndarray  # the same of neighbours drawn at random


def nearest(points_BD, pair_B, pairs_A2, k: int) -> Nearest:
    """Pairs that the k nearest of every vector carry; pair_B is an index into pairs_A2."""
    counts_AA = _counts(points_BD, pair_B, len(pairs_A2), k)
    expected_AA = _at_random(pair_B, len(pairs_A2))
    return Nearest(
        counts_AA, _shares(counts_AA, pairs_A2), _shares(expected_AA, pairs_A2)
    )


def _counts(points_BD, pair_B, pairs: int, k: int) -> np.ndarray:
    with threadpool_limits(1):
        near = NearestNeighbors(n_neighbors=k).fit(points_BD)
        near_BK = near.kneighbors(return_distance=False)  # without the vector itself
    counts_AA = np.zeros((pairs, pairs), int)
    np.add.at(counts_AA, (pair_B[:, None], pair_B[near_BK]), 1)
    return counts_AA


def _at_random(pair_B, pairs: int) -> np.ndarray:
    """Expected counts, up to a factor: one's own pair has one fewer to offer."""
    size_A = np.bincount(pair_B, minlength=pairs)
    return size_A[:, None] * (size_A - np.eye(pairs))


def _shares(counts_AA, pairs_A2) -> np.ndarray:
    apart_A = pairs_A2[:, 0] != pairs_A2[:, 1]
    same_AA, mirrored_AA = (
        (pairs_A2[:, None] == other).all(-1) for other in (pairs_A2, pairs_A2[:, ::-1])
    )
    kinds = (same_AA, mirrored_AA, ~(same_AA | mirrored_AA))
    found = [(counts_AA * kind)[apart_A].sum() for kind in kinds]
    return np.array(found) / counts_AA[apart_A].sum()
