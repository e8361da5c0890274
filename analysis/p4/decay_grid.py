"""How much weight decay, at which initialization? Unseen pairs over a grid (P4, E1).

gamma is P4's: a factor of the initial weights, so that a LARGE gamma is a LARGE start.
The decay is per unit of learning rate.

  python -m analysis decay_grid --run runs/critical_windows_static
"""

import numpy as np
import pandas as pd

from analysis.drawing import style
from analysis.p4.members import ALL, tabulate
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

TITLE = 'Decay and γ'
PAPER = 'P4 E1'
COMPARES = ('gamma', 'weight_decay')
CAPTION = (
    'The map shows accuracy on what is never trained, by γ and a constant weight decay.'
)


def compute(run: Run) -> pd.DataFrame:
    """Means over seeds (and settings) for every decay and γ, with decay in all steps.

    Raises:
      UserError: another task, or no trained member has decay in all steps.
    """
    members = tabulate(run)
    constant = members[members.window == ALL]
    if not len(constant):
        raise UserError('decay_grid: no trained member has decay in all steps')
    cells = constant.groupby(['decay', 'gamma', 'asked'])
    means = cells[['unseen', 'seen', 'train_loss']].mean()
    return means.assign(networks=cells.size()).reset_index()


def draw(result: pd.DataFrame, axes: np.ndarray) -> None:
    """Fills axes [1, 3]: unseen pairs, trained pairs, train loss."""
    panels = (
        ('unseen', f'accuracy on {result.asked[0]}', 'Blues', (0, 1)),
        ('seen', 'on what was trained', 'Greys', (0, 1)),
        ('train_loss', 'train loss (nats)', 'Reds', (0, 3)),
    )
    for axis, (column, title, colours, limits) in zip(axes[0], panels, strict=True):
        grid = result.pivot(index='decay', columns='gamma', values=column)
        style.draw_heatmap(axis, grid, colours, limits)
        axis.set(title=title, xlabel='γ (a factor: large is a large start)')
        axis.invert_yaxis()
    axes[0, 0].set_ylabel('weight decay')


def layout(result: pd.DataFrame) -> style.Layout:
    return style.Layout(1, 3, 7.0, 1.2 + 0.26 * result.decay.nunique())
