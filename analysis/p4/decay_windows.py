"""When must weight decay act? Accuracy on what is never trained, by window (P4).

Rows are windows of weight decay, drawn as bars over training; all have the same sum of
decay if the sweep has `optimizer.equal_budget`. A dot is a seed, a line the interval of
the mean over seeds. The last panels have the train loss, which says whether a network
has learned what it was shown, and the accuracy during training.

  python -m analysis decay_windows --run runs/critical_windows
  python -m analysis decay_windows --run runs/critical_windows_grokking --measure=moment
"""

from typing import Annotated, Literal

import matplotlib
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from analysis import stats
from analysis.drawing import style
from analysis.p4.members import (
    ALL,
    HELDOUT,
    LEARNED,
    NONE,
    list_windows,
    name_cells,
    read_curves,
    tabulate,
    tabulate_pieces,
)
from anchorjax.storage.reader import Run

TITLE = 'Windows of decay'
PAPER = 'P4 E2, E4 to E11'
COMPARES = ('decay_window',)
CAPTION = (
    'When must weight decay act? The panels show accuracy on what is never trained, '
    'by the window in which it acts.'
)
_BAR = '#0072B2'
_DOT = '#777777'


def compute(
    run: Run,
    measure: Annotated[
        Literal['accuracy', 'moment'],
        'accuracy at the end, or the step at which 95 % are right',
    ] = 'accuracy',
) -> xr.Dataset:
    """Every seed, and the mean over seeds, by cell and window.

    A cell is all that differs besides window and seed. The dataset has

      value, train_loss  [cell, window, seed] the measure; a network that never learns
                         is given the last step as its moment
      mean, low, high    [cell, window] of `value` over seeds
      accuracy           [cell, window, step] mean over seeds; a table lacks it
      start, end         [window, piece] shares of training in which decay acts

    Raises:
      UserError: another task, or no trained member.
    """
    members = tabulate(run)
    members['cell'] = name_cells(members)
    members['value'] = members.unseen
    if measure == 'moment':
        members['value'] = members.moment.fillna(members.num_steps)
    keys = ['cell', 'window', 'seed']
    result = members.set_index(keys)[['value', 'train_loss']].to_xarray()
    eval_set, _ = HELDOUT[run.experiment.task.name]
    curves = read_curves(run, eval_set, members)
    by_place = curves.groupby([members.cell, members.window]).mean()
    result['accuracy'] = by_place.rename_axis(columns='step').stack().to_xarray()
    pieces = tabulate_pieces(run).set_index(['window', 'piece'])[['start', 'end']]
    return _finish(result, members, pieces, measure)


def read_table(members: pd.DataFrame) -> xr.Dataset:
    """The same of networks in a committed table: without `accuracy`, which is not kept.

    Args:
      members: rows of one run, of windows of one piece.
    """
    members = members.assign(cell='', value=members.unseen)
    keys = ['cell', 'window', 'seed']
    result = members.set_index(keys)[['value', 'train_loss']].to_xarray()
    pieces = members.groupby('window')[['start', 'end']].first()
    pieces = pieces.assign(piece=0).set_index('piece', append=True)
    return _finish(result, members, pieces, 'accuracy')


def _finish(
    result: xr.Dataset, members: pd.DataFrame, pieces: pd.DataFrame, measure: str
) -> xr.Dataset:
    """Adds means over seeds and the windows, in order."""
    possible = stats.POSITIVE if measure == 'moment' else stats.SHARE
    by_window = members.groupby(['cell', 'window']).value
    found = stats.mean_intervals(by_window, possible)
    result = result.merge(found.to_xarray())
    result = result.merge(pieces.to_xarray(), join='left')
    order = {'cell': members.cell.unique(), 'window': list_windows(members)}
    asked = members.asked.iloc[0]
    return result.reindex(order).assign_attrs(measure=measure, asked=asked)


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [2, 1 + cell]: bars and values above, train loss and curves below."""
    bars, losses = axes[:, 0]
    _draw_bars(bars, result)
    rows = range(result.sizes['window'])
    for c, name in enumerate(result.cell.values):
        above, below = axes[:, 1 + c]
        cell = result.isel(cell=c)
        is_single = result.sizes['cell'] == 1
        _draw_dots(losses, cell.train_loss, _DOT if is_single else f'C{c}', name)
        _draw_dots(above, cell.value, _DOT, name)
        above.hlines(rows, cell.low, cell.high, color=_BAR, lw=1.5)
        above.plot(cell['mean'], rows, 'o', color=_BAR, ms=4)
        above.set(title=name, yticks=[])
        if result.measure == 'accuracy':
            above.set_xlim(-0.03, 1.03)
            above.set_xlabel(f'accuracy on {result.asked}', fontsize=6)
        else:
            above.set_xlabel(f'step at which {LEARNED:.0%} are right')
        if 'accuracy' in cell:
            _draw_curves(below, cell)
        else:
            below.set_axis_off()
    if result.sizes['cell'] > 1:
        losses.legend(fontsize=5)
    smallest = max(float(result.train_loss.min()), 1e-5)
    losses.set(xscale='log', xlabel='train loss (nats)', xlim=(smallest / 2, 5))
    _label_windows(losses, result)


def layout(result: xr.Dataset) -> style.Layout:
    cells = result.sizes['cell']
    height = 2.6 + 0.26 * result.sizes['window']
    return style.Layout(2, 1 + cells, 2.4 + 2.1 * cells, height)


def _draw_bars(axis: Axes, result: xr.Dataset) -> None:
    """The steps in which decay acts, as shares of training."""
    for _, piece in result.groupby('piece'):
        width = (piece.end - piece.start).squeeze()
        rows = range(result.sizes['window'])
        axis.barh(rows, width, left=piece.start.squeeze(), color=_BAR, height=0.6)
    axis.set(xlim=(0, 1), xlabel='share of training', title='weight decay acts')
    _label_windows(axis, result)


def _label_windows(axis: Axes, result: xr.Dataset) -> None:
    axis.set_yticks(range(result.sizes['window']), result.window.values, fontsize=6)
    axis.set_ylim(result.sizes['window'] - 0.4, -0.6)


def _draw_dots(axis: Axes, values: xr.DataArray, colour: str, name: str) -> None:
    """A dot for every seed of a cell, [window, seed]."""
    spread = (values.seed % 7 - 3) * 0.06
    rows = xr.DataArray(range(len(values)), dims='window') + spread
    dots = {'color': colour, 'label': name, 'ms': 3, 'alpha': 0.7}
    axis.plot(values.values.ravel(), rows.values.ravel(), '.', **dots)
    axis.set_ylim(len(values) - 0.4, -0.6)


def _draw_curves(axis: Axes, cell: xr.Dataset) -> None:
    """The mean over seeds of every window, early ones dark."""
    colours = matplotlib.colormaps['viridis']
    for w, name in enumerate(cell.window.values):
        colour = '#BBBBBB' if name == NONE else colours(w / max(len(cell.window), 2))
        line = '--' if name == ALL else '-'
        axis.plot(cell.step, cell.accuracy[w], line, color=colour, lw=1)
    axis.set(ylim=(-0.03, 1.03), xlabel='step', ylabel='accuracy, mean of seeds')
