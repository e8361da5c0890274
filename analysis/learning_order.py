"""What is learned first, sums or facts? Loss and accuracy by kind (P2 Figs 3 A, B).

The moment of a probe is the step at which its loss falls below a share of ln V, the
loss of a network that knows nothing; half of it by default, the same for every gamma
and probe. The ratio "memory / reasoning" of two moments is above 1 where sums come
first. P2 shows curves and gives no number.

  python analysis/learning_order.py --run runs/memory_reasoning
"""

import math
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from analysis.bias.tokens import TASK
from analysis.changes.moments import find_crossings
from analysis.drawing import command, style
from analysis.drawing.bands import draw_band
from analysis.members.statistics import average_ratios
from analysis.members.table import (
    Panel,
    Table,
    list_panels,
    list_points,
    tabulate_members,
)
from anchorjax.errors import require
from anchorjax.storage.reader import Run

PROBES = ('memory', 'reasoning_train', 'reasoning_test')
COLOURS = ('#0072B2', '#CC79A7', '#E69F00')  # as in the paper: blue, purple, orange
SHARE = 0.5
MEMORY, TRAIN, TEST = range(3)


class Result(NamedTuple):
    """Curves of every member; NaN on a probe that its task does not have."""

    members: Table
    step_S: np.ndarray
    loss_MSP: np.ndarray  # nats, P along PROBES
    accuracy_MSP: np.ndarray
    threshold: float  # nats
    moment_MP: np.ndarray  # step; NaN: the loss never falls so low
    # Moment of memory by that of each probe. Where one of the two never comes, the last
    # step stands for it; NaN where neither does.
    ratio_MP: np.ndarray
    # 1: the ratio is at least so large (memory never comes), -1: at most; 0: exact.
    bound_MP: np.ndarray


def compute(run: Run, share: float = SHARE) -> Result:
    """Curves, moments and ratios of all trained members; needs no snapshots.

    Args:
      share: of ln V, at which a probe's moment is.

    Raises:
      UserError: another task, no trained member, or a share outside (0, 1).
    """
    require(0 < share < 1, 'share', share, 'between 0 and 1')
    points = list_points(run, TASK)
    curves = run.curves.reindex(probe=list(PROBES))
    step_S = curves.step.values
    threshold = share * math.log(run.experiment.task.vocab)
    losses, accuracies, moments = [], [], []
    for point in points:
        member = curves.sel(run.labels(**point))
        loss_SP = member.probe_loss.transpose('step', 'probe').values
        accuracy = member.agreement.sel(mapping='assigned')
        losses.append(loss_SP)
        accuracies.append(accuracy.transpose('step', 'probe').values)
        moments.append(find_crossings(step_S, loss_SP, threshold))
    moment_MP = np.array(moments)
    ratio_MP, bound_MP = divide_moments(moment_MP, float(step_S[-1]))
    return Result(
        members=tabulate_members(run, points),
        step_S=step_S,
        loss_MSP=np.array(losses),
        accuracy_MSP=np.array(accuracies),
        threshold=threshold,
        moment_MP=moment_MP,
        ratio_MP=ratio_MP,
        bound_MP=bound_MP,
    )


def divide_moments(
    moment_MP: np.ndarray, last_step: float
) -> tuple[np.ndarray, np.ndarray]:
    """(memory's moment by each probe's, which of these are bounds); see Result."""
    memory_M1 = moment_MP[:, :1]
    lacks_memory_MP = np.isnan(memory_M1) & np.isfinite(moment_MP)
    lacks_probe_MP = np.isfinite(memory_M1) & np.isnan(moment_MP)
    ratio_MP = np.nan_to_num(memory_M1, nan=last_step) / np.nan_to_num(
        moment_MP, nan=last_step
    )
    lacks_both_MP = np.isnan(memory_M1) & np.isnan(moment_MP)
    ratio_MP[lacks_both_MP] = np.nan
    return ratio_MP, lacks_memory_MP.astype(int) - lacks_probe_MP.astype(int)


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [2, panel]: losses above, accuracies below.

    A line is the mean of the seeds, its band goes from the lowest to the highest.
    """
    for column, panel in enumerate(list_panels(result.members)):
        loss_axis, accuracy_axis = axes[:, column]
        _draw_curves(loss_axis, result, result.loss_MSP, panel)
        loss_axis.axhline(result.threshold, color='#BBBBBB', lw=0.6, zorder=0)
        loss_axis.set(yscale='log')
        title = f'{panel.title}\n{describe_ratio(result, panel)}'
        loss_axis.set_title(title, fontsize=6)
        _draw_curves(accuracy_axis, result, result.accuracy_MSP, panel)
        accuracy_axis.set(ylim=(-0.03, 1.03), xlabel='step')
    axes[0, 0].set_ylabel('loss (nats)')
    axes[1, 0].set_ylabel('accuracy')
    axes[0, 0].legend()


def describe_ratio(result: Result, panel: Panel) -> str:
    """'memory / reasoning 2.1 [1.9, 2.3]', '≥' with a bound, and the train loss."""
    is_known_M = panel.is_here_M & np.isfinite(result.ratio_MP[:, TRAIN])
    train_loss = result.members['train_loss'][panel.is_here_M].mean()
    text = 'neither is learned'
    if is_known_M.any():
        found = average_ratios(result.ratio_MP[is_known_M, TRAIN])
        bounds = set(result.bound_MP[is_known_M, TRAIN].tolist())
        sign = {1: '≥ ', -1: '≤ '}.get(max(bounds, key=abs), '')
        text = f'memory / reasoning {sign}{found.mean:.2f}'
        if np.isfinite(found.low):
            text += f' [{found.low:.2f}, {found.high:.2f}]'
    return f'{text}\ntrain loss {train_loss:.2g}'


def _draw_curves(
    axis: Axes, result: Result, values_MSP: np.ndarray, panel: Panel
) -> None:
    for p, name in enumerate(PROBES):
        values_MS = values_MSP[panel.is_here_M, :, p]
        label = name.replace('_', ' ')
        draw_band(axis, result.step_S, values_MS, COLOURS[p], label)


def layout(result: Result) -> style.Layout:
    columns = len(list_panels(result.members))
    return style.Layout(2, columns, 0.6 + 2.1 * columns, 4.0)


if __name__ == '__main__':
    command.run_sweep_figure(
        __doc__,
        'learning_order',
        compute,
        draw,
        layout,
        share=command.Flag(float, SHARE, 'of ln V, at which a loss has fallen'),
    )
