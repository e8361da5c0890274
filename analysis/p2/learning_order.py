"""Reasoning or memory first? Loss and accuracy by kind (P2 Figs 3 A, B).

The moment of an eval set is the step at which its loss falls below half of ln V, the
loss of a network that knows nothing; the same for every gamma and eval set. The ratio
"memory / reasoning" of two moments is above 1 where reasoning comes first. P2 shows
curves and gives no number.

  python -m analysis learning_order --run runs/memory_reasoning
"""

import math

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from analysis import frame, stats
from analysis.changes.crossings import compare_crossings
from analysis.drawing import style
from analysis.drawing.bands import draw_band
from analysis.p2 import networks
from analysis.p2.networks import list_panels
from anchorjax.storage.reader import Run

TITLE = 'Order of learning'
PAPER = 'P2 Figs 3, 8 left'
CAPTION = (
    'What is learned first, reasoning or memory? Loss and accuracy of both over '
    'training, by γ.'
)
# By eval set; the colours are the paper's: blue, purple, orange.
COLOURS = {
    'memory': '#0072B2',
    'reasoning_train': '#CC79A7',
    'reasoning_test': '#E69F00',
}


def compute(run: Run) -> xr.Dataset:
    """Curves and moments of every network; needs no snapshots.

      loss, accuracy  [member, step, eval set] nats, and the share of right answers
      moment          [member, eval set] step; NaN: the loss never falls so low

    All are NaN on an eval set that the task does not have.

    Raises:
      UserError: another task, or no trained member.
    """
    members = frame.list_usable(run, networks.TASK)
    curves = networks.read_curves(run, members).reindex(eval_set=list(COLOURS))
    accuracy = curves.agreement.sel(mapping='assigned', drop=True)
    result = xr.Dataset({'loss': curves.eval_set_loss, 'accuracy': accuracy})
    threshold = networks.LEARNED * math.log(run.experiment.task.vocab)
    result['moment'] = networks.time_to_threshold(result.loss, threshold)
    return result.assign_attrs(threshold=threshold)


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [2, panel]: losses above, accuracies below.

    A line is the mean of the seeds, its band goes from the lowest to the highest.
    """
    for column, (title, panel) in enumerate(list_panels(result).items()):
        loss_axis, accuracy_axis = axes[:, column]
        _draw_curves(loss_axis, panel.loss)
        loss_axis.axhline(result.threshold, color='#BBBBBB', lw=0.6, zorder=0)
        loss_axis.set(yscale='log')
        loss_axis.set_title(f'{title}\n{describe_lag(panel)}', fontsize=6)
        _draw_curves(accuracy_axis, panel.accuracy)
        accuracy_axis.set(ylim=(-0.03, 1.03), xlabel='step')
        for axis in axes[:, column]:
            axis.locator_params(axis='x', nbins=3)  # P2's size has 200,000 steps
    axes[0, 0].set_ylabel('loss (nats)')
    axes[1, 0].set_ylabel('accuracy')
    axes[0, 0].legend()


def describe_lag(panel: xr.Dataset) -> str:
    """'memory / reasoning at least 2.1 [1.9, 2.3]', and the train loss."""
    moments = panel.moment.fillna(np.inf).to_pandas()
    last = float(panel.step[-1])
    lag = compare_crossings(moments.memory, moments.reasoning_train, last)
    words = 'neither is learned'
    if len(lag.ratios):
        ratio = stats.format_mean(stats.ratio_interval(lag.ratios))
        words = f'memory / reasoning {lag.bound} {ratio}'
    return f'{words}\ntrain loss {float(panel.train_loss.mean()):.2g}'


def _draw_curves(axis: Axes, curves: xr.DataArray) -> None:
    for eval_set, colour in COLOURS.items():
        values_MS = curves.sel(eval_set=eval_set).values
        draw_band(axis, curves.step, values_MS, colour, eval_set.replace('_', ' '))


def layout(result: xr.Dataset) -> style.Layout:
    columns = len(list_panels(result))
    return style.Layout(2, columns, 0.6 + 2.1 * columns, 4.0)
