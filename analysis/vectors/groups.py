"""Groups of neurons with nearly parallel input weights.

A neuron's input weights are a column of a matrix W [d_in, d_out]. The papers group
neurons by a greedy rule: the first neuron left takes all neurons whose cosine with it
is above the threshold.
"""

from typing import NamedTuple

import numpy as np

from analysis import spectra
from anchorjax.errors import UserError


class Groups(NamedTuple):
    """Neurons sorted by group, the largest group first."""

    cosine: np.ndarray  # [neuron, neuron]
    sizes: np.ndarray  # [group]
    order: np.ndarray  # [neuron] its column of the matrix


def group_neurons(W: np.ndarray, threshold: float) -> Groups:
    """Groups of the columns of W.

    Raises:
      UserError: fewer than two columns.
    """
    if W.shape[1] < 2:
        raise UserError(f'matrix of shape {W.shape}: must have at least two neurons')
    cosine = spectra.cosines(W.T)
    groups = find_groups(cosine, threshold)
    sizes = [len(group) for group in groups]
    order = np.concatenate(groups)
    return Groups(
        cosine=cosine[np.ix_(order, order)],
        sizes=np.array(sizes),
        order=order,
    )


def find_groups(cosine: np.ndarray, threshold: float) -> list[np.ndarray]:
    """Indices of the neurons of every group; the largest group first, ties as found."""
    groups = []
    left = np.arange(len(cosine))
    while left.size:
        first = left[0]
        near = cosine[first, left] > threshold
        near[0] = True  # the cosine of a zero neuron with itself is 0
        groups.append(left[near])
        left = left[~near]
    return sorted(groups, key=len, reverse=True)


def measure_condensation(W: np.ndarray, threshold: float) -> dict[str, float]:
    """Number of groups, shares of pairs of neurons, and effective directions, by name.

    `directions` is the participation ratio of the eigenvalues of the cosine matrix. It
    does not depend on the norms and signs of the neurons, and is 1 when all of them are
    parallel or opposite.
    """
    cosine, sizes, _ = group_neurons(W, threshold)
    pairs = spectra.list_pairs(cosine)
    is_parallel = pairs > threshold
    is_opposite = pairs < -threshold
    eigenvalues = np.linalg.eigvalsh(cosine)
    return {
        'groups': float(len(sizes)),
        'largest group': float(sizes[0]),
        'pairs parallel': float(is_parallel.mean()),
        'pairs opposite': float(is_opposite.mean()),
        'directions': spectra.participation_ratio(eigenvalues),
        'stable rank': spectra.stable_rank(W),
    }


def bin_cosines(W: np.ndarray, bins: np.ndarray) -> np.ndarray:
    """Share of the pairs of neurons in every bin between `bins`."""
    cosine = spectra.cosines(W.T)
    pairs = spectra.list_pairs(cosine).clip(-1, 1)  # rounding may leave the range
    counts, _ = np.histogram(pairs, bins)
    return counts / len(pairs)
