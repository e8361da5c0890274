"""The phase diagram: which solution a network ends at, over gamma and depth (P1 Fig 2 a, b).

Three readings of one sweep, from flattering to plain:
  best      the paper's: the best learning rate for EACH mapping separately, mean over seeds
  fixed     one learning rate for all: the one whose members score highest on held-out seen pairs
  fraction  at that rate, the share of seeds that end at each solution
Hatched where agreement on held-out seen pairs is below 0.9.

  python analysis/phase.py --run runs/phase
"""

import pathlib
from typing import NamedTuple

import numpy as np
import xarray as xr

from analysis.drawing import style
from anchorjax import cli
from anchorjax.config.grid import TRACED_AXES
from anchorjax.storage.reader import Run, open_run

SEEN_ENOUGH = 0.9  # P1 Fig 2: hatched below
SOLVED = 0.9  # a member "is" inferential or symmetric from here
SOLUTIONS = ('inferential', 'symmetric', 'memorizing', 'other')


class Result(NamedTuple):
    """Arrays over [row axis, gamma] (rows: first static axis, else weight decay)."""

    gamma: np.ndarray  # [G]
    rows: np.ndarray  # [Y] e.g. depths
    row_name: str
    learning_rate: float  # of `fixed` and `fraction`
    best: np.ndarray  # [2, Y, G] agreement on the unseen pair: inferential, symmetric
    fixed: np.ndarray  # [2, Y, G]
    seen_best: (
        np.ndarray
    )  # [Y, G] held-out seen pairs, best over rates, mean over seeds
    seen_fixed: np.ndarray  # [Y, G]
    fraction: np.ndarray  # [4, Y, G] shares of seeds: SOLUTIONS
    members: int  # trained members behind the figure


def compute(data: xr.Dataset) -> Result:
    """The phase diagram of a sweep's results (last step of `Run.curves`); NaN where untrained.

    Without static axes the rows are the weight decays. Axes that are not shown are averaged like
    seeds: select first to see one value. Diverged members count with what they score.
    """
    row_name = next((str(d) for d in data.agreement.dims if d not in _TRACED), _NO_LOOP)
    unseen = data.agreement.sel(probe='unseen', mapping=['inferential', 'symmetric'])
    seen = data.agreement.sel(probe='seen_heldout', mapping='assigned')
    others = [d for d in seen.dims if d not in (row_name, 'gamma', 'learning_rate')]
    per_rate = seen.mean([d for d in seen.dims if d != 'learning_rate']).fillna(-1)
    rate = int(per_rate.values.argmax())
    at = {'learning_rate': rate}
    order = (row_name, 'gamma')
    mean = lambda x: x.mean(others).transpose(..., *order).values
    best_unseen = unseen.max('learning_rate').rename(mapping='m')
    fixed_unseen = unseen.isel(at).rename(mapping='m')
    return Result(
        gamma=data.gamma.values,
        rows=data[row_name].values,
        row_name=row_name,
        learning_rate=float(data.learning_rate.values[rate]),
        best=best_unseen.mean(others).transpose('m', *order).values,
        fixed=fixed_unseen.mean(others).transpose('m', *order).values,
        seen_best=mean(seen.max('learning_rate')),
        seen_fixed=mean(seen.isel(at)),
        fraction=_fractions(fixed_unseen, seen.isel(at), others, order),
        members=int(data.trained.sum()),
    )


def solution(inferential: float, symmetric: float, seen: float) -> str:
    """One of SOLUTIONS for one member, from its agreement on the unseen and held-out seen pairs."""
    if max(inferential, symmetric) >= SOLVED:
        return 'inferential' if inferential >= symmetric else 'symmetric'
    return 'memorizing' if seen < SEEN_ENOUGH else 'other'


def draw(result: Result, axes) -> None:
    """Fills axes [2, 3]: rows inferential and symmetric, columns best, fixed, fraction."""
    panels = (
        ('best learning rate per mapping', result.best, result.seen_best),
        (f'learning rate {result.learning_rate:g}', result.fixed, result.seen_fixed),
        (f'share of seeds ≥ {SOLVED:g}', result.fraction[:2], result.seen_fixed),
    )
    for column, (title, values, seen) in enumerate(panels):
        for row, mapping in enumerate(style.MAPS):
            _heatmap(axes[row, column], result, values[row], seen, style.MAPS[mapping])
            axes[row, column].set_title(f'{mapping}: {title}')
            axes[row, column].set_xlabel('initialization rate γ' if row else '')
            axes[row, column].set_ylabel('' if column else result.row_name)
    title = f'agreement on the unseen pair; hatched: seen pairs < {SEEN_ENOUGH:g}'
    axes[0, 0].figure.suptitle(title, fontsize=8)


def layout(result: Result) -> style.Layout:
    return style.Layout(2, 3, 7.0, 1.6 + 0.5 * len(result.rows))


def save(run: Run, folder: pathlib.Path) -> list[pathlib.Path]:
    """Draws phase.png and phase.pdf and writes the numbers behind them, phase.npz."""
    return style.written(compute(run.results), draw, layout, folder / 'phase')


_NO_LOOP = 'weight_decay'
_TRACED = (*TRACED_AXES, 'step', 'probe', 'mapping')


def _fractions(unseen, seen, others, order) -> np.ndarray:
    """Shares of members at each solution; 'memorizing' has neither mapping nor the seen pairs."""
    solved = [(unseen.sel(m=name) >= SOLVED) for name in SOLUTIONS[:2]]
    neither = ~(solved[0] | solved[1])
    kinds = [*solved, neither & (seen < SEEN_ENOUGH), neither & (seen >= SEEN_ENOUGH)]
    known = seen.notnull()
    return np.stack(
        [k.where(known).mean(others).transpose(*order).values for k in kinds]
    )


def _heatmap(axis, result: Result, values, seen, colours: str) -> None:
    axis.imshow(values, cmap=colours, vmin=0, vmax=1, origin='lower', aspect='auto')
    axis.set_xticks(range(len(result.gamma)), [f'{g:g}' for g in result.gamma])
    axis.set_yticks(range(len(result.rows)), [str(r) for r in result.rows])
    for y, x in np.ndindex(values.shape):
        if np.isnan(values[y, x]):
            axis.text(x, y, '–', ha='center', va='center')
            continue
        colour = 'white' if values[y, x] > 0.6 else 'black'
        axis.text(
            x,
            y,
            f'{values[y, x]:.2f}',
            ha='center',
            va='center',
            color=colour,
            fontsize=7,
        )
        if seen[y, x] < SEEN_ENOUGH:
            box = (x - 0.5, y - 0.5)
            patch = style.plt.Rectangle(
                box, 1, 1, fill=False, hatch='////', lw=0, ec='#888888'
            )
            axis.add_patch(patch)


def command() -> None:
    parser = cli.Parser(description=__doc__.splitlines()[0])
    parser.add_argument('--run', required=True, type=pathlib.Path)
    run = open_run(parser.parse_args().run)
    for path in save(run, run.sweep_dir.workdir / 'figures'):
        print(path)


if __name__ == '__main__':
    cli.run_command(command)
