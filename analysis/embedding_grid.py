"""The order of the key items over a whole sweep: one PCA of the embedding per cell (P1 Fig 11).

P1 draws t-SNE; PCA has no knobs. Rows, columns and flags as in condensation_grid.

  python analysis/embedding_grid.py --run runs/phase --seed=1
"""

from typing import NamedTuple

import numpy as np
import threadpoolctl

from analysis import embedding
from analysis.drawing import command, grids
from analysis.vectors import order
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run


class Result(NamedTuple):
    """Arrays over [row, gamma], NaN where there is no matrix."""

    matrix: str
    items: np.ndarray  # [item]
    row_name: str
    rows: np.ndarray
    gamma: np.ndarray
    fixed: dict  # value of every axis that is not shown
    notes: np.ndarray
    numbers: dict[str, np.ndarray]  # order.numbers
    chance: dict[
        str, np.ndarray
    ]  # 95 % quantile of the numbers of rows in random order
    scores: dict[str, np.ndarray]  # [item, 2], by 'row,gamma' index


@threadpoolctl.threadpool_limits.wrap(limits=1)
def compute(
    run: Run,
    step: int | str = 'last',
    matrix: str = embedding.MATRIX,
    items=None,
    permutations: int = 40,
    **point,
) -> Result:
    """Order in every member at `point`; raises UserError as `grids.cells` and `check_items`."""
    if permutations < 1:
        raise UserError(f'permutations = {permutations}: must be at least 1')
    there = grids.cells(run, matrix, step, **point)
    task = run.experiment.task
    chosen = {
        at: embedding.check_items(task, W, items) for at, W in there.matrices.items()
    }
    rows = {at: W[chosen[at]] for at, W in there.matrices.items()}
    table = lambda of: grids.tables(
        {at: of(r) for at, r in rows.items()}, there.notes.shape
    )
    return Result(
        matrix=matrix,
        items=next(iter(chosen.values())),
        row_name=there.row_name,
        rows=np.array(there.rows),
        gamma=np.array(there.gamma),
        fixed=there.fixed,
        notes=there.notes,
        numbers=table(order.numbers),
        chance=table(lambda r: _chance(r, permutations)),
        scores={f'{y},{x}': order.pca(r)[0][:, :2] for (y, x), r in rows.items()},
    )


def draw(result: Result, axes) -> None:
    """Fills axes [row, gamma], the first row at the bottom."""

    def cell(axis, y, x):
        embedding.scatter(axis, result.items, result.scores[f'{y},{x}'], labelled=False)
        rho, line = (result.numbers[name][y, x] for name in ('rho', 'line'))
        axis.set_title(f'|ρ| {rho:.2f}, R² {line:.2f}', fontsize=6, pad=2)

    grids.fill(result, axes, cell)


def _chance(rows, permutations: int) -> dict[str, float]:
    rng = np.random.default_rng(0)
    null = [order.numbers(rng.permutation(rows)) for _ in range(permutations)]
    return {
        name: float(np.quantile([one[name] for one in null], 0.95)) for name in null[0]
    }


layout = grids.layout

if __name__ == '__main__':
    command.at(
        __doc__,
        'embedding_grid',
        compute,
        draw,
        layout,
        matrix=command.Flag(str, embedding.MATRIX, 'path of a matrix [tokens, D]'),
        items=command.Flag(
            command.numbers, None, 'FROM,TO of the tokens, TO not among them'
        ),
        permutations=command.Flag(int, 40, 'random orders to compare with'),
    )
