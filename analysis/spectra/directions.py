"""How few directions the matrices of every member of a sweep use, by two measures.

P3's stable rank, and P4's (sum s)^2 / sum s^2 of the singular values.
"""

import numpy as np

from analysis.members.member import member_of
from analysis.members.point import Point
from analysis.spectra import measures
from analysis.spectra.spectra import singular_values
from anchorjax.storage.reader import Run

MEASURES = ('stable rank', 'participation ratio')
ALL = 'all'  # stands for all matrices inside blocks


def measure_members(run: Run, points: list[Point], name: str) -> np.ndarray:
    """MEASURES of a matrix, or their means over ALL matrices inside blocks, [M, 2].

    Raises:
      UserError: the model has no such parameter, or it is not a matrix.
    """
    return np.array([measure_matrices(_read_matrices(run, name, p)) for p in points])


def measure_matrices(matrices: list[np.ndarray]) -> np.ndarray:
    """Means of the MEASURES over some matrices, [2]."""
    stable = []
    participation = []
    for W in matrices:
        stable.append(measures.stable_rank(W))
        participation.append(measures.participation_ratio(singular_values(W)))
    return np.array([stable, participation]).mean(-1)


def _read_matrices(run: Run, name: str, point: Point) -> list[np.ndarray]:
    member = member_of(run, **point)
    if name == ALL:
        return [W for path, W in member.matrices.items() if '/' in path]
    return [member.matrix(name)]
