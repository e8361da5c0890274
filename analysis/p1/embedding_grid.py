"""The order of the key items over a whole sweep: one PCA per cell (P1 Figs 11, 16).

P1 draws t-SNE, but PCA has no settings. Rows, columns and flags are those of
condensation_grid.

  python -m analysis embedding_grid --run runs/phase --seed=1
"""

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
import threadpoolctl
from matplotlib.axes import Axes

from analysis import frame
from analysis.drawing import grids
from analysis.drawing.items import draw_items
from analysis.p1 import embedding
from analysis.vectors import order, random_orders
from anchorjax.errors import require
from anchorjax.limits import at_least, at_most
from anchorjax.storage.reader import Run

TITLE = 'Embedding over the grid'
PAPER = 'P1 Fig 11'
CAPTION = (
    'Do networks place the numbers x in their order? The embeddings of the numbers '
    'are drawn in the plane in which they differ most (first two principal '
    'components).'
)


class Result(NamedTuple):
    """Arrays over [row, column], NaN where there is no matrix."""

    matrix: str
    items: np.ndarray  # [item]
    row_name: str
    rows: np.ndarray
    column_name: str
    columns: np.ndarray
    fixed: dict[str, Any]  # value of every axis that is not shown
    notes: np.ndarray
    numbers: dict[str, np.ndarray]  # of order.measure_order
    chance: dict[str, np.ndarray]  # 95% quantile of the numbers of random orders
    scores: dict[str, np.ndarray]  # [item, 2], by 'row,column' index
    width: float = math.nan  # of the networks; NaN: there are several


@threadpoolctl.threadpool_limits.wrap(limits=1)
def compute(
    run: Run,
    step: int | str = 'last',
    matrix: Annotated[str, 'path of a matrix [tokens, D]'] = embedding.MATRIX,
    items: Annotated[
        tuple[int, int] | None, 'tokens FROM,TO, without TO; default: the keys'
    ] = None,
    permutations: Annotated[
        int, at_least(1), at_most(100_000), 'random orders to compare with'
    ] = 40,
    **point,
) -> Result:
    """Order in every member at `point`.

    Raises:
      UserError: as `grids.read_cells` and `embedding.check_items`.
    """
    require(permutations >= 1, 'permutations', permutations, 'at least 1')
    cells = grids.read_cells(run, matrix, step, **point)
    shape = cells.notes.shape
    numbers = {}
    chance = {}
    scores = {}
    for (y, x), W in cells.matrices.items():
        tokens = embedding.check_items(run.experiment.task, W, items)
        rows = W[tokens]
        numbers[y, x] = order.measure_order(rows)
        chance[y, x] = random_orders.bound_numbers(rows, permutations)
        components, _ = order.pca(rows)
        scores[f'{y},{x}'] = components[:, :2]
    return Result(
        matrix=matrix,
        items=tokens,
        row_name=cells.row_name,
        rows=np.array(cells.rows),
        column_name=cells.column_name,
        columns=np.array(cells.columns),
        fixed=cells.fixed,
        notes=cells.notes,
        numbers=grids.tabulate(numbers, shape),
        chance=grids.tabulate(chance, shape),
        scores=scores,
        width=frame.find_width(run),
    )


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [row, column], the first row at the bottom."""

    def draw_cell(axis: Axes, y: int, x: int) -> None:
        draw_items(axis, result.items, result.scores[f'{y},{x}'], labelled=False)
        rho = result.numbers['rho'][y, x]
        line = result.numbers['line'][y, x]
        axis.set_title(f'|ρ| {rho:.2f}, R² {line:.2f}', fontsize=6, pad=2)

    grids.draw_cells(result, axes, draw_cell)


layout = grids.layout
