"""Does early complexity foretell composition? P4's C(t) by weight decay (E3).

C is the mean participation ratio (sum s)^2 / sum s^2 of the singular values of every
W_V (PAPERS 4.1). P4 reads it at a fifth of training and finds a good band, not a
monotone relation. What it calls bridge alignment is not defined in what we have of it.

  python -m analysis decay_complexity --run runs/critical_windows_complexity
"""

import matplotlib
import numpy as np
import pandas as pd
import xarray as xr

from analysis.drawing import style
from analysis.drawing.bands import draw_band
from analysis.frame import find_points
from analysis.p4.members import tabulate
from analysis.spectra import participation_ratio, rank_correlation, singular_values
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

TITLE = 'Early complexity'
PAPER = 'P4 E3'
COMPARES = ('gamma', 'weight_decay', 'decay_window')
CAPTION = (
    'Does the complexity of the weights early in training foretell accuracy at its end?'
)
SHARE = 0.2  # of training, at which P4 reads C


def compute(run: Run) -> xr.Dataset:
    """C of every network [member, snapshot], its `early` C, and what it ends at.

    Raises:
      UserError: another task, no trained member, or no snapshot but the last.
    """
    members = tabulate(run)
    points = find_points(run, members)
    snapshots = run.steps(**points[0])
    if len(snapshots) < 2:
        raise UserError(f'{run.folder.workdir}: no snapshot before the last step')
    early_step = find_early(snapshots, run)
    complexity = []
    for point in points:
        row = [measure_complexity(run.params(step, **point)) for step in snapshots]
        complexity.append(row)
    columns = members[['decay', 'gamma', 'seed', 'unseen', 'train_loss']]
    result = columns.rename_axis('member').to_xarray()
    result = result.assign_coords(snapshot=snapshots)
    result['complexity'] = (('member', 'snapshot'), np.array(complexity))
    result['early'] = result.complexity.sel(snapshot=early_step, drop=True)
    result['step'] = early_step  # that of `early`
    result['correlation'] = rank_correlation(result.early, result.unseen)  # Spearman's
    return result.assign_attrs(asked=members.asked.iloc[0])


def measure_early(run: Run, members: pd.DataFrame) -> list[float]:
    """C of every row of `tabulate` at SHARE of training; NaN without a snapshot."""
    found = []
    for point in find_points(run, members):
        snapshots = run.steps(**point)
        if len(snapshots) < 2:
            found.append(np.nan)
        else:
            params = run.params(find_early(snapshots, run), **point)
            found.append(measure_complexity(params))
    return found


def find_early(snapshots: list[int], run: Run) -> int:
    """The snapshot nearest to SHARE of training."""
    wanted = SHARE * run.experiment.train.num_steps
    return min(snapshots, key=lambda step: abs(step - wanted))


def measure_complexity(params: dict) -> float:
    """C of a network: the mean participation ratio of its W_V's."""
    ratios = []
    for name, block in params.items():
        if name.startswith('block_'):
            ratios.append(participation_ratio(singular_values(block['W_V'])))
    return float(np.mean(ratios))


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [1, 3]: C over training; C at SHARE against the end; train loss."""
    path, scatter, loss = axes[0]
    colours = matplotlib.colormaps['viridis']
    decays = list(result.groupby('decay'))
    for i, (decay, members) in enumerate(decays):
        colour = colours(i / max(len(decays) - 1, 1))
        label = f'{decay:.3g}'
        draw_band(path, result.snapshot, members.complexity.values, colour, label)
        dots = {'color': colour, 'ms': 4, 'alpha': 0.8}
        scatter.plot(members.early, members.unseen, 'o', **dots)
        loss.plot(members.early, members.train_loss, 'o', **dots)
    path.set(xlabel='step', ylabel='C: participation ratio of W_V')
    path.legend(title='weight decay', fontsize=5, title_fontsize=5)
    scatter.set(ylabel=f'accuracy on {result.asked}', ylim=(-0.03, 1.03))
    scatter.set_title(f'rank correlation {float(result.correlation):+.2f}')
    loss.set(ylabel='train loss (nats)', yscale='log')
    for axis in (scatter, loss):
        axis.set_xlabel(f'C at step {int(result.step):,}')


layout = style.Layout(rows=1, columns=3, width=7.0, height=2.3)
