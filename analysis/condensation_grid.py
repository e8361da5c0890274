"""Condensation over a whole sweep: one cosine matrix per cell, gamma across (P1 Fig 10).

Upwards goes the first static axis of the sweep, depth in P1, or else the weight decay; all other
axes stand at their first value or at --AXIS=VALUE. A member that is not there is a blank cell.

  python analysis/condensation_grid.py --run runs/phase --seed=1
"""

from typing import NamedTuple

import numpy as np
import threadpoolctl

from analysis import condensation
from analysis.drawing import command, grids
from anchorjax.storage.reader import Run


class Result(NamedTuple):
    """Arrays over [row, gamma], NaN where there is no matrix."""

    matrix: str
    threshold: float
    row_name: str
    rows: np.ndarray
    gamma: np.ndarray
    fixed: dict  # value of every axis that is not shown
    notes: np.ndarray
    numbers: dict[str, np.ndarray]  # condensation.numbers
    cosine: dict[str, np.ndarray]  # [neuron, neuron] by group, by 'row,gamma' index


@threadpoolctl.threadpool_limits.wrap(limits=1)
def compute(
    run: Run,
    step: int | str = 'last',
    matrix: str = condensation.MATRIX,
    threshold: float = condensation.THRESHOLD,
    **point,
) -> Result:
    """Groups of neurons in every member at `point`; UserErrors of grids.cells and condensed."""
    there = grids.cells(run, matrix, step, **point)
    found = {at: condensation.numbers(W, threshold) for at, W in there.matrices.items()}
    drawn = {
        at: condensation.condensed(W, threshold)[0] for at, W in there.matrices.items()
    }
    return Result(
        matrix=matrix,
        threshold=threshold,
        row_name=there.row_name,
        rows=np.array(there.rows),
        gamma=np.array(there.gamma),
        fixed=there.fixed,
        notes=there.notes,
        numbers=grids.tables(found, there.notes.shape),
        cosine={f'{y},{x}': cosine for (y, x), cosine in drawn.items()},
    )


def draw(result: Result, axes) -> None:
    """Fills axes [row, gamma], the first row at the bottom."""

    def cell(axis, y, x):
        condensation.heatmap(axis, result.cosine[f'{y},{x}'])
        groups, directions = (
            result.numbers[name][y, x] for name in ('groups', 'directions')
        )
        plural = '' if groups == 1 else 's'
        axis.set_title(
            f'{groups:.0f} group{plural}, {directions:.1f} dir.', fontsize=6, pad=2
        )

    grids.fill(result, axes, cell)


layout = grids.layout

if __name__ == '__main__':
    command.at(
        __doc__,
        'condensation_grid',
        compute,
        draw,
        layout,
        matrix=command.Flag(str, condensation.MATRIX, 'path of a matrix [d_in, d_out]'),
        threshold=command.Flag(
            float, condensation.THRESHOLD, 'cosine that makes one group'
        ),
    )
