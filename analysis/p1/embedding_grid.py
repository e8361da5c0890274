"""The order of the key items over a whole sweep: one PCA per cell (P1 Figs 11, 16).

P1 draws t-SNE, but PCA has no settings. Rows, columns and flags are those of
condensation_grid.

  python -m analysis embedding_grid --run runs/phase --seed=1
"""

from typing import Annotated, Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.lines import Line2D

from analysis.drawing import grids
from analysis.p1 import embedding
from analysis.spectra import single_thread
from analysis.vectors import order
from anchorjax.storage.reader import Run

TITLE = 'Embedding over the grid'
PAPER = 'P1 Fig 11'
CAPTION = (
    'Do networks place the numbers x in their order? The embeddings of the numbers '
    'are drawn in the plane in which they differ most (first two principal '
    'components). Colour: the value of x. Lines: steps of 3 (red) and of 4 (blue). '
    'Above each: the largest rank correlation of a component with x, and R² of x '
    'regressed on both.'
)


@single_thread
def compute(
    run: Run,
    step: int | str = 'last',
    matrix: Annotated[str, 'path of a matrix [tokens, D]'] = embedding.MATRIX,
    items: embedding.Items = None,
    permutations: embedding.Permutations = 40,
    **point: Any,
) -> xr.Dataset:
    """Numbers of `order.measure_order` of every member at `point`.

    Returns:
      These, `chance NAME` (the 95 % quantile of each in random orders) and `scores`
      [row, column, item, component], as `grids.measure_cells` does.

    Raises:
      UserError: as `grids.measure_cells` and `embedding.check_items`.
    """
    task = run.experiment.task

    def measure(W: np.ndarray) -> xr.Dataset | str:
        tokens = embedding.check_items(task, W, items)
        rows = W[tokens]
        if embedding.are_equal(rows):
            return embedding.NO_ORDER
        components, _ = order.pca(rows)
        cell = xr.Dataset(order.measure_order(rows), {'item': tokens})
        null = order.measure_random_orders(rows, permutations)
        for name, bound in null.numbers.items():
            cell[f'chance {name}'] = bound
        return cell.assign(scores=(('item', 'component'), components[:, :2]))

    return grids.measure_cells(run, matrix, step, point, measure)


def draw(grid: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [row, column], the first row at the bottom."""
    grids.draw_cells(grid, axes, _draw_cell)
    items = grid['item'].values
    key = ScalarMappable(Normalize(items[0], items[-1]), embedding.COLOURS)
    look = {'ax': axes[:, -1], 'fraction': 0.1, 'shrink': 0.6}
    figure = axes[0, 0].figure
    figure.colorbar(key, label='number x', **look)
    handles = []
    for step, colour in embedding.STEP_COLOURS.items():
        handles.append(Line2D([], [], color=colour, label=f'from x to x + {step}'))
    figure.legend(handles=handles, loc='outside lower center', ncols=2)


def _draw_cell(axis: Axes, cell: xr.Dataset) -> None:
    items = cell['item'].values
    embedding.draw_items(axis, items, cell.scores.values, labelled=False)
    title = f'|ρ| {cell.rho.item():.2f}, R² {cell.line.item():.2f}'
    axis.set_title(title, fontsize=6, pad=2)


layout = grids.layout
