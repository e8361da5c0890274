"""How few directions the matrices of a network use, by two measures.

P3's stable rank, and P4's (sum s)^2 / sum s^2 of the singular values.
"""

import numpy as np

from analysis.members.member import Member
from analysis.spectra import measures
from analysis.spectra.spectra import singular_values

MEASURES = ('stable rank', 'participation ratio')
ALL = 'all'  # stands for all matrices inside blocks


def measure_directions(member: Member, name: str) -> np.ndarray:
    """MEASURES of a matrix, or their means over ALL matrices inside blocks, [2].

    Raises:
      UserError: the model has no such parameter, or it is not a matrix.
    """
    if name != ALL:
        return measure_matrices([member.matrix(name)])
    matrices = member.matrices.items()
    return measure_matrices([W for path, W in matrices if '/' in path])


def measure_matrices(matrices: list[np.ndarray]) -> np.ndarray:
    """Means of the MEASURES over some matrices, [2]."""
    stable = []
    participation = []
    for W in matrices:
        stable.append(measures.stable_rank(W))
        participation.append(measures.participation_ratio(singular_values(W)))
    return np.array([stable, participation]).mean(-1)
