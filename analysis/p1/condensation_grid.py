"""Condensation over a whole sweep: one cosine matrix per cell (P1 Fig 10).

Gamma goes across, depth upwards in P1; `drawing/grids.py` says what does in other
sweeps. In one with one gamma it is the learning rate (P1 Fig 15).

  python -m analysis condensation_grid --run runs/phase --seed=1
"""

from typing import Annotated, Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

from analysis.drawing import grids
from analysis.p1 import condensation
from analysis.spectra import single_thread
from analysis.vectors import groups
from anchorjax.storage.reader import Run

TITLE = 'Condensation over the grid'
PAPER = 'P1 Fig 10'
CAPTION = (
    'Do neurons come to share a direction? In the cosines between the input weights '
    'of the neurons of the first query matrix, W_Q, red blocks (near 1) mean yes; '
    'blue is −1. Above each: how many groups there are, and how many directions count.'
)


@single_thread
def compute(
    run: Run,
    step: int | str = 'last',
    matrix: Annotated[str, 'path of a matrix [d_in, d_out]'] = condensation.MATRIX,
    threshold: condensation.Threshold = condensation.THRESHOLD,
    **point: Any,
) -> xr.Dataset:
    """Numbers of `groups.measure_condensation` of every member at `point`.

    Returns:
      These and `cosine` [row, column, neuron, other], as `grids.measure_cells` does;
      neurons are sorted by group.

    Raises:
      UserError: as `grids.measure_cells` and `groups.group_neurons`.
    """

    def measure(W: np.ndarray) -> xr.Dataset:
        cosine = groups.group_neurons(W, threshold).cosine
        places = np.arange(len(cosine))
        cell = xr.Dataset(groups.measure_condensation(W, threshold))
        cell['cosine'] = (('neuron', 'other'), cosine)
        return cell.assign_coords(neuron=places, other=places)

    grid = grids.measure_cells(run, matrix, step, point, measure)
    return grid.assign_attrs(threshold=threshold)


def draw(grid: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [row, column], the first row at the bottom."""
    grids.draw_cells(grid, axes, _draw_cell)
    key = ScalarMappable(Normalize(-1, 1), condensation.COLOURS)
    look = {'ax': axes[:, -1], 'fraction': 0.1, 'shrink': 0.6}
    axes[0, 0].figure.colorbar(key, label='cosine of two neurons', **look)


def _draw_cell(axis: Axes, cell: xr.Dataset) -> None:
    # NaN where the matrix of another cell is larger.
    cosine = cell.cosine.dropna('neuron', how='all')
    cosine = cosine.dropna('other', how='all')
    condensation.draw_cosines(axis, cosine.values)
    count = cell['groups'].item()
    directions = cell.directions.item()
    noun = 'group' if count == 1 else 'groups'
    title = f'{count:.0f} {noun},\n{directions:.1f} directions'
    axis.set_title(title, fontsize=6, pad=2)


layout = grids.layout
