"""Condensation over a whole sweep: one cosine matrix per cell (P1 Fig 10).

Gamma goes across, the first static axis of the sweep upwards: depth in P1, the weight
decay without a static axis. In a sweep with one gamma the learning rate goes across (P1
Fig 15). All other axes have their first value, or the one given by --AXIS=VALUE. A cell
without a member says why it is blank.

  python -m analysis condensation_grid --run runs/phase --seed=1
"""

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
import threadpoolctl
from matplotlib.axes import Axes

from analysis import frame
from analysis.drawing import grids
from analysis.p1 import condensation
from analysis.vectors import groups
from anchorjax.limits import above, below
from anchorjax.storage.reader import Run

TITLE = 'Condensation over the grid'
PAPER = 'P1 Fig 10'
CAPTION = (
    'Do neurons come to share a direction? In the cosines between the input weights '
    'of the neurons of the first query matrix, W_Q, blocks near 1 mean yes.'
)


class Result(NamedTuple):
    """Arrays over [row, column], NaN where there is no matrix."""

    matrix: str
    threshold: float
    row_name: str
    rows: np.ndarray
    column_name: str
    columns: np.ndarray
    fixed: dict[str, Any]  # value of every axis that is not shown
    notes: np.ndarray
    numbers: dict[str, np.ndarray]  # of groups.measure_condensation
    cosine: dict[str, np.ndarray]  # [neuron, neuron] by group, by 'row,column' index
    width: float = math.nan  # of the networks; NaN: there are several


@threadpoolctl.threadpool_limits.wrap(limits=1)
def compute(
    run: Run,
    step: int | str = 'last',
    matrix: Annotated[str, 'path of a matrix [d_in, d_out]'] = condensation.MATRIX,
    threshold: Annotated[
        float, above(0), below(1), 'two neurons above this cosine are one group'
    ] = condensation.THRESHOLD,
    **point,
) -> Result:
    """Groups of neurons in every member at `point`.

    Raises:
      UserError: as `grids.read_cells` and `groups.group_neurons`.
    """
    cells = grids.read_cells(run, matrix, step, **point)
    numbers = {}
    cosine = {}
    for (y, x), W in cells.matrices.items():
        numbers[y, x] = groups.measure_condensation(W, threshold)
        cosine[f'{y},{x}'] = groups.group_neurons(W, threshold).cosine
    return Result(
        matrix=matrix,
        threshold=threshold,
        row_name=cells.row_name,
        rows=np.array(cells.rows),
        column_name=cells.column_name,
        columns=np.array(cells.columns),
        fixed=cells.fixed,
        notes=cells.notes,
        numbers=grids.tabulate(numbers, cells.notes.shape),
        cosine=cosine,
        width=frame.find_width(run),
    )


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [row, column], the first row at the bottom."""

    def draw_cell(axis: Axes, y: int, x: int) -> None:
        condensation.draw_cosines(axis, result.cosine[f'{y},{x}'])
        count = result.numbers['groups'][y, x]
        directions = result.numbers['directions'][y, x]
        noun = 'group' if count == 1 else 'groups'
        title = f'{count:.0f} {noun}, {directions:.1f} dir.'
        axis.set_title(title, fontsize=6, pad=2)

    grids.draw_cells(result, axes, draw_cell)


layout = grids.layout
