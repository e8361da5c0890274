"""Does early complexity foretell composition? P4's C(t) by weight decay (E3).

C is the mean participation ratio (sum s)^2 / sum s^2 of the singular values of every
W_V (PAPERS 4.1). P4 reads it at a fifth of training and finds a good band, not a
monotone relation. What it calls bridge alignment is not defined in what we have of it.

  python analysis/decay_complexity.py --run runs/critical_windows_complexity
"""

from typing import NamedTuple

import numpy as np

from analysis.drawing import command, style
from analysis.drawing.bands import draw_band
from analysis.members.selection import iterate_members
from analysis.spectra.measures import participation_ratio, rank_correlation
from analysis.spectra.spectra import singular_values
from analysis.windows.members import Members, collect_members
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

SHARE = 0.2  # of training, at which P4 reads C


class Result(NamedTuple):
    """C of every member at every snapshot, and what it says of the end."""

    members: Members
    snapshot_C: np.ndarray  # steps
    complexity_MC: np.ndarray
    step: int  # the snapshot nearest to SHARE of training
    early_M: np.ndarray  # C at this step
    correlation: float  # Spearman's, of early_M and accuracy on unseen pairs


def compute(run: Run) -> Result:
    """C of all members.

    Raises:
      UserError: another task, no trained member, or no snapshot but the last.
    """
    members = collect_members(run)
    points = [point for _, point in iterate_members(run)]
    snapshots = run.steps(**points[0])
    if len(snapshots) < 2:
        raise UserError(f'{run.folder.workdir}: no snapshot before the last step')
    complexity_MC = []
    for point in points:
        row = [measure_complexity(run.params(step, **point)) for step in snapshots]
        complexity_MC.append(row)
    complexity_MC = np.array(complexity_MC)
    snapshot_C = np.array(snapshots)
    wanted = SHARE * run.experiment.train.num_steps
    nearest = int(np.abs(snapshot_C - wanted).argmin())
    early_M = complexity_MC[:, nearest]
    return Result(
        members=members,
        snapshot_C=snapshot_C,
        complexity_MC=complexity_MC,
        step=int(snapshot_C[nearest]),
        early_M=early_M,
        correlation=rank_correlation(early_M, members.unseen),
    )


def measure_complexity(params: dict) -> float:
    """C of a network: the mean participation ratio of its W_V's."""
    ratios = []
    for name, block in params.items():
        if name.startswith('block_'):
            ratios.append(participation_ratio(singular_values(block['W_V'])))
    return float(np.mean(ratios))


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [1, 3]: C over training; C at SHARE against the end; train loss."""
    members = result.members
    decays = np.unique(members.decay)
    colours = style.plt.get_cmap('viridis')
    path, scatter, loss = axes[0]
    for i, decay in enumerate(decays):
        is_here_M = members.decay == decay
        colour = colours(i / max(len(decays) - 1, 1))
        label = f'{decay:.3g}'
        shown = result.complexity_MC[is_here_M]
        draw_band(path, result.snapshot_C, shown, colour, label)
        dots = {'color': colour, 'ms': 4, 'alpha': 0.8}
        early = result.early_M[is_here_M]
        scatter.plot(early, members.unseen[is_here_M], 'o', **dots)
        loss.plot(early, members.train_loss[is_here_M], 'o', **dots)
    path.set(xlabel='step', ylabel='C: participation ratio of W_V')
    path.legend(title='weight decay', fontsize=5, title_fontsize=5)
    scatter.set(ylabel=f'accuracy on {members.asked[0]}', ylim=(-0.03, 1.03))
    scatter.set_title(f'rank correlation {result.correlation:+.2f}')
    loss.set(ylabel='train loss (nats)', yscale='log')
    for axis in (scatter, loss):
        axis.set_xlabel(f'C at step {result.step:,}')


layout = style.Layout(rows=1, columns=3, width=7.0, height=2.3)


if __name__ == '__main__':
    command.run_sweep_figure(__doc__, 'decay_complexity', compute, draw, layout)
