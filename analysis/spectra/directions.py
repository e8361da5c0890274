"""How few directions the matrices of every member of a sweep use, by two measures.

P3's stable rank, and P4's (sum s)^2 / sum s^2 of the singular values.
"""

import numpy as np
from flax.traverse_util import flatten_dict

from analysis.members.point import Point
from analysis.spectra import measures
from analysis.spectra.spectra import singular_values
from anchorjax.errors import UserError
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


def read_matrix(run: Run, name: str, step: int | str = 'last', **point) -> np.ndarray:
    """A matrix of the member at `point`; nothing else of it is read.

    Raises:
      UserError: the model has no such parameter, or it is not a matrix.
      StoreError: as `Run.params`.
    """
    W = run.parameter(name, step, **point)
    if W.ndim != 2:
        raise UserError(f'{name} is not a matrix: its shape is {W.shape}')
    return W


def _read_matrices(run: Run, name: str, point: Point) -> list[np.ndarray]:
    if name == ALL:
        leaves = flatten_dict(run.params(**point), sep='/')
        return [W for path, W in leaves.items() if '/' in path and W.ndim == 2]
    return [read_matrix(run, name, **point)]
