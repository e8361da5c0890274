"""Condensation over a whole sweep: one cosine matrix per cell (P1 Fig 10).

Gamma goes across, the first static axis of the sweep upwards: depth in P1, the weight
decay without a static axis. In a sweep with one gamma the learning rate goes across (P1
Fig 15). All other axes have their first value, or the one given by --AXIS=VALUE. A cell
without a member says why it is blank. The numbers behind the claim are of all converged
members, those that are not shown among them.

  python -m analysis condensation_grid --run runs/phase --exception=trained --seed=1
"""

import functools
import math
from typing import Annotated, Any, NamedTuple

import numpy as np
import threadpoolctl
from matplotlib.axes import Axes

from analysis import frame
from analysis.drawing import grids
from analysis.members.selection import collect_labels, iterate_converged
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


_DRAWS = 20  # Gaussian matrices of each shape


class Result(NamedTuple):
    """Arrays over [row, column], NaN where there is no matrix.

    Arrays with M are of all converged members that have the matrix, wherever they are.
    """

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
    points: dict[str, np.ndarray]  # [M] labels along each axis of the sweep
    directions_M: np.ndarray
    gaussian_M: np.ndarray  # mean directions of Gaussian matrices of the same shape
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
    points, directions_M, gaussian_M = _measure_members(run, step, matrix, threshold)
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
        points=points,
        directions_M=directions_M,
        gaussian_M=gaussian_M,
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


def _measure_members(
    run: Run, step: int | str, path: str, threshold: float
) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """(labels, directions, those of Gaussian matrices) of all converged members."""
    points = []
    directions = []
    gaussian = []
    for _, point in iterate_converged(run):
        W, _ = grids.read_matrix(run, path, step, point)
        if W is None:
            continue
        numbers = groups.measure_condensation(W, threshold)
        points.append(point)
        directions.append(numbers['directions'])
        gaussian.append(_average_gaussian_directions(W.shape, threshold))
    labels = collect_labels(run, points)
    return labels, np.array(directions), np.array(gaussian)


@functools.cache
def _average_gaussian_directions(shape: tuple[int, int], threshold: float) -> float:
    """Mean `directions` of Gaussian matrices of a shape."""
    rng = np.random.default_rng(0)
    directions = []
    for _ in range(_DRAWS):
        gaussian = rng.standard_normal(shape)
        numbers = groups.measure_condensation(gaussian, threshold)
        directions.append(numbers['directions'])
    return float(np.mean(directions))


layout = grids.layout
