"""How much weight decay, at which initialization? Unseen pairs over a grid (P4, E1).

gamma is P4's: a factor of the initial weights, so that a LARGE gamma is a LARGE start.
The decay is per unit of learning rate.

  python analysis/decay_grid.py --run runs/critical_windows_static
"""

from typing import NamedTuple

import numpy as np

from analysis.drawing import command, style
from analysis.windows.members import Members, collect_members
from anchorjax.storage.reader import Run


class Result(NamedTuple):
    """Means over seeds (and settings) by decay Y and gamma G; NaN: untrained."""

    members: Members
    decay: np.ndarray  # [Y]
    gamma: np.ndarray  # [G]
    unseen_YG: np.ndarray  # accuracy on unseen pairs
    seen_YG: np.ndarray  # on trained ones
    train_loss_YG: np.ndarray  # nats


def compute(run: Run) -> Result:
    """The grid of a sweep.

    Raises:
      UserError: another task, or no trained member.
    """
    members = collect_members(run)
    decays = np.unique(members.decay)
    gammas = np.unique(members.gamma)
    grids = np.full((3, len(decays), len(gammas)), np.nan)
    for y, g in np.ndindex(grids.shape[1:]):
        is_here_M = (members.decay == decays[y]) & (members.gamma == gammas[g])
        if is_here_M.any():
            for i, values in enumerate(
                (members.unseen, members.seen, members.train_loss)
            ):
                grids[i, y, g] = values[is_here_M].mean()
    return Result(members, decays, gammas, *grids)


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [1, 3]: unseen pairs, trained pairs, train loss."""
    asked = result.members.asked[0]
    panels = (
        (f'accuracy on {asked}', result.unseen_YG, 'Blues', (0, 1)),
        ('on what was trained', result.seen_YG, 'Greys', (0, 1)),
        ('train loss (nats)', result.train_loss_YG, 'Reds', (0, 3)),
    )
    rows = np.array([f'{decay:.3g}' for decay in result.decay])
    for axis, (title, values, colours, limits) in zip(axes[0], panels, strict=True):
        style.draw_heatmap(axis, values, colours, limits)
        style.label_grid(axis, result.gamma, rows)
        axis.set(title=title, xlabel='γ (a factor: large is a large start)')
        axis.invert_yaxis()
    axes[0, 0].set_ylabel('weight decay')


def layout(result: Result) -> style.Layout:
    return style.Layout(1, 3, 7.0, 1.2 + 0.26 * len(result.decay))


if __name__ == '__main__':
    command.run_sweep_figure(__doc__, 'decay_grid', compute, draw, layout)
