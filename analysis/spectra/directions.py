"""How few directions the matrices of every member of a sweep use, by two measures.

P3's stable rank, and P4's (sum s)^2 / sum s^2 of the singular values.
"""

import numpy as np
import xarray as xr
from flax.traverse_util import flatten_dict

from analysis.members.selection import members
from analysis.spectra import measures
from analysis.spectra.spectra import singular_values
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

MEASURES = ('stable rank', 'participation ratio')
ALL = 'all'  # stands for the matrices inside blocks


def over_members(run: Run, name: str) -> xr.DataArray:
    """[MEASURES, axes of the sweep] of a matrix, ALL for the mean over blocks; NaN for no member.

    Raises:
      UserError: the model has no such parameter, or it is no matrix.
    """
    nothing = xr.full_like(run.results.train_loss, np.nan)
    found_2 = xr.concat([nothing] * len(MEASURES), 'measure').load()
    for index, point in members(run):
        found_2[(slice(None), *index)] = measured(_matrices(run, name, point))
    return found_2


def measured(matrices) -> np.ndarray:
    """[MEASURES], means over the matrices."""
    stable = [measures.stable_rank(W) for W in matrices]
    participation = [measures.participation_ratio(singular_values(W)) for W in matrices]
    return np.array([stable, participation]).mean(-1)


def _matrices(run: Run, name: str, point: dict) -> list[np.ndarray]:
    if name == ALL:
        inside = flatten_dict(run.params(**point), sep='/').items()
        return [W for path, W in inside if '/' in path and W.ndim == 2]
    W = run.parameter(name, **point)
    if W.ndim != 2:
        raise UserError(f'{name} is no matrix: its shape is {W.shape}')
    return [W]
