"""Condensation over a whole sweep: one cosine matrix per cell (P1 Fig 10).

Gamma goes across, the first static axis of the sweep upwards: depth in P1, the weight
decay without a static axis. All other axes have their first value, or the one given by
--AXIS=VALUE. A cell without a member says why it is blank.

  python analysis/condensation_grid.py --run runs/phase --seed=1
"""

from typing import Any, NamedTuple

import numpy as np
import threadpoolctl
from matplotlib.axes import Axes

from analysis import condensation
from analysis.drawing import command, grids
from analysis.vectors import groups
from anchorjax.storage.reader import Run


class Result(NamedTuple):
    """Arrays over [row, gamma], NaN where there is no matrix."""

    matrix: str
    threshold: float
    row_name: str
    rows: np.ndarray
    gamma: np.ndarray
    fixed: dict[str, Any]  # value of every axis that is not shown
    notes: np.ndarray
    numbers: dict[str, np.ndarray]  # of groups.measure_condensation
    cosine: dict[str, np.ndarray]  # [neuron, neuron] by group, by 'row,gamma' index


@threadpoolctl.threadpool_limits.wrap(limits=1)
def compute(
    run: Run,
    step: int | str = 'last',
    matrix: str = condensation.MATRIX,
    threshold: float = condensation.THRESHOLD,
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
        gamma=np.array(cells.gamma),
        fixed=cells.fixed,
        notes=cells.notes,
        numbers=grids.tabulate(numbers, cells.notes.shape),
        cosine=cosine,
    )


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [row, gamma], the first row at the bottom."""

    def draw_cell(axis: Axes, y: int, x: int) -> None:
        condensation.draw_cosines(axis, result.cosine[f'{y},{x}'])
        count = result.numbers['groups'][y, x]
        directions = result.numbers['directions'][y, x]
        noun = 'group' if count == 1 else 'groups'
        title = f'{count:.0f} {noun}, {directions:.1f} dir.'
        axis.set_title(title, fontsize=6, pad=2)

    grids.draw_cells(result, axes, draw_cell)


layout = grids.layout

if __name__ == '__main__':
    command.run_point_figure(
        __doc__,
        'condensation_grid',
        compute,
        draw,
        layout,
        matrix=command.Flag(str, condensation.MATRIX, 'path of a matrix [d_in, d_out]'),
        threshold=command.Flag(
            float, condensation.THRESHOLD, 'two neurons above this cosine are one group'
        ),
    )
