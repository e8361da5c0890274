"""Is it when decay starts, or when it ends? Windows with one end fixed (beyond P4).

P4 moves windows of a fixed width, so that start and end move together. Here windows
share a start and differ in their ends, or share an end and differ in their starts, all
with the same sum of decay. Two effects answer the question, each a difference of
accuracies on unseen pairs within seeds, averaged over the pairs of windows that differ
in one end alone:

  end    how much better the later of two ends is, at the same start
  start  how much better the later of two starts is, at the same end

A window of two pieces has a gap in its middle.

  python -m analysis start_or_end --run runs/critical_windows_start_or_end
"""

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from analysis import stats
from analysis.drawing import style
from analysis.p4.members import tabulate
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

TITLE = 'Start or end'
PAPER = 'beyond P4'
COMPARES = ('decay_window',)
CAPTION = 'The panels show what a later start of weight decay does, and a later end.'
EFFECTS = {'start': 'end', 'end': 'start'}  # what is varied: what is fixed


def compute(run: Run) -> xr.Dataset:
    """The grid of windows of one piece, both effects, and the other windows.

      unseen, train_loss  [start, end] mean over seeds
      gain                [effect, seed] later less earlier
      unseen_other        [other, seed] accuracy for windows of two pieces, and none

    Raises:
      UserError: another task, no trained member, no seed with one network for every
        window, or no two windows that share one end.
    """
    members = tabulate(run)
    is_single = is_one_piece(members)
    single = select_complete(members[is_single])
    if not len(single):
        raise UserError('no seed has one member for every window')
    by_bounds = single.groupby(['start', 'end'])
    result = by_bounds[['unseen', 'train_loss']].mean().to_xarray()
    effects = []
    for effect in EFFECTS:
        gain = measure_gain(single, effect)
        if not len(gain):
            raise UserError(f'no two windows differ in their {effect} alone')
        effects.append(xr.Dataset({'gain': gain.to_xarray()}, {'effect': effect}))
    result = result.merge(xr.concat(effects, 'effect'))

    others = members[~is_single].rename(columns={'window': 'other'})
    of_others = others.set_index(['other', 'seed']).unseen.to_xarray()
    order = sorted(others.other.unique())
    result['unseen_other'] = of_others.reindex(other=order)
    return result.assign_attrs(asked=members.asked.iloc[0])


def is_one_piece(members: pd.DataFrame) -> pd.Series:
    """Which networks have one stretch of decay, all of training included."""
    return (members.window_share - (members.end - members.start)).abs() < 1e-3


def select_complete(single: pd.DataFrame) -> pd.DataFrame:
    """The networks of the seeds that have exactly one for every window."""
    counts = single.groupby('seed').window.agg(['nunique', 'size'])
    number = single.window.nunique()
    complete = counts.index[(counts == number).all(axis=1)]
    return single[single.seed.isin(complete)]


def list_pairs(single: pd.DataFrame, effect: str) -> pd.DataFrame:
    """Both networks of every seed and pair of windows that differ in one end alone."""
    fixed = EFFECTS[effect]
    pairs = single.merge(single, on=['seed', fixed], suffixes=('', '_later'))
    return pairs[pairs[effect] < pairs[f'{effect}_later']]


def measure_gain(single: pd.DataFrame, effect: str) -> pd.Series:
    """How much better the later window of a pair is, mean by seed."""
    pairs = list_pairs(single, effect)
    return (pairs.unseen_later - pairs.unseen).groupby(pairs.seed).mean()


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [1, 4]: accuracy and train loss by window, effects, the pieces."""
    grid, losses, effects, pieces = axes[0]
    style.draw_heatmap(grid, result.unseen.to_pandas(), 'Blues', (0, 1))
    style.draw_heatmap(losses, result.train_loss.to_pandas(), 'Reds', (0, 1))
    for axis in (grid, losses):
        axis.set_xlabel('end of decay (share of T)')
    grid.set_ylabel('start of decay')
    grid.set_title(f'{result.asked}, {result.gain.sizes["seed"]} seeds')
    losses.set_title('train loss (nats)')
    for row, name in enumerate(EFFECTS):
        _draw_seeds(effects, row, result.gain.sel(effect=name), stats.CHANGE)
        effects.text(0.02, row - 0.3, f'a later {name}', fontsize=6)
    effects.axvline(0, color='#BBBBBB', lw=0.6, zorder=0)
    effects.set(yticks=[], ylim=(1.5, -0.6), xlabel='difference of accuracies')
    effects.set_title('effect within seeds')
    _draw_pieces(pieces, result)


def _draw_pieces(axis: Axes, result: xr.Dataset) -> None:
    """Every seed of the windows of two pieces, and of none."""
    names = [name.replace(', ', '\n') for name in result.other.values]
    if not names:
        axis.axis('off')
        return
    for row in range(len(names)):
        _draw_seeds(axis, row, result.unseen_other[row], stats.SHARE)
    axis.set_yticks(range(len(names)), names, fontsize=6)
    axis.set(xlim=(-0.03, 1.03), ylim=(len(names) - 0.5, -0.5))
    axis.set(xlabel=f'accuracy on {result.asked}', title='in two pieces')


def _draw_seeds(
    axis: Axes, row: int, values: xr.DataArray, possible: stats.Possible
) -> None:
    """A dot for every seed in a row, and their mean with its interval."""
    known = values.values[np.isfinite(values)]
    found = stats.mean_interval(known, possible)
    axis.plot(known, np.full(len(known), row), '.', color='#777777', ms=4)
    axis.plot((found.low, found.high), (row, row), color='#0072B2', lw=2)
    axis.plot(found.mean, row, 'o', color='#0072B2', ms=5)


layout = style.Layout(rows=1, columns=4, width=7.6, height=2.3)
