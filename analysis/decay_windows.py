"""When must weight decay act? Accuracy on what is never trained, by window (P4).

Rows are windows of weight decay, drawn as bars over training; all have the same sum of
decay if the sweep has `optimizer.equal_budget`. A dot is a seed, a line the interval of
the mean over seeds. The last panels have the train loss, which says whether a network
has learned what it was shown, and the accuracy during training.

  python analysis/decay_windows.py --run runs/critical_windows
  python analysis/decay_windows.py --run runs/critical_windows_grokking --measure=moment
"""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from analysis.drawing import command, style
from analysis.members.statistics import mean_interval
from analysis.windows.members import (
    ALL,
    LEARNED,
    NONE,
    Members,
    collect_members,
    list_cells,
    list_windows,
    name_cells,
)
from anchorjax.errors import require
from anchorjax.storage.reader import Run

MEASURES = ('accuracy', 'moment')
_BAR = '#0072B2'
_DOT = '#777777'


class Result(NamedTuple):
    """Members, and the statistics of every cell C and window W."""

    members: Members
    measure: str
    cells: np.ndarray  # [C] names
    windows: np.ndarray  # [W] names
    place_M: np.ndarray  # [M, 2] cell and window of every member
    # [C, W] mean over seeds, ends of its interval, number of seeds; NaN: untrained.
    mean_CW: np.ndarray
    low_CW: np.ndarray
    high_CW: np.ndarray
    seeds_CW: np.ndarray
    train_loss_CW: np.ndarray  # mean over seeds, nats


def compute(run: Run, measure: str = 'accuracy') -> Result:
    """What every window of a sweep comes to.

    Args:
      measure: 'accuracy' at the end, or the 'moment' at which it reaches LEARNED; a
        member that never does is given the last step.

    Raises:
      UserError: another task, measure, or no trained member.
    """
    require(measure in MEASURES, 'measure', measure, f'one of {MEASURES}')
    members = collect_members(run)
    cells = list_cells(members)
    windows = list_windows(members, np.ones(len(members.seed), bool))
    value_M = find_values(members, measure)
    place_M = np.zeros((len(members.seed), 2), int)
    shape = (len(cells), len(windows))
    statistics = np.full((5, *shape), np.nan)
    for c, w in np.ndindex(shape):
        is_here_M = cells[c].is_here_M & (members.window == windows[w])
        place_M[is_here_M] = (c, w)
        if is_here_M.any():
            loss = members.train_loss[is_here_M].mean()
            found = mean_interval(value_M[is_here_M])
            statistics[:, c, w] = (*found, is_here_M.sum(), loss)
    return Result(
        members=members,
        measure=measure,
        cells=np.array(name_cells(cells)),
        windows=np.array(windows),
        place_M=place_M,
        mean_CW=statistics[0],
        low_CW=statistics[1],
        high_CW=statistics[2],
        seeds_CW=statistics[3],
        train_loss_CW=statistics[4],
    )


def find_values(members: Members, measure: str) -> np.ndarray:
    """The measure of every member, [M]."""
    if measure == 'moment':
        return np.nan_to_num(members.moment, nan=float(members.step_S[-1]))
    return members.unseen


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [2, 1 + C]: windows and values above, train loss and curves below."""
    members = result.members
    value_M = find_values(members, result.measure)
    _draw_bars(axes[0, 0], result)
    _draw_losses(axes[1, 0], result)
    for c, name in enumerate(result.cells):
        above, below = axes[:, 1 + c]
        _draw_dots(above, result, value_M, cell=c)
        _draw_intervals(above, result, c)
        above.set_title(name)
        above.set_yticks([])
        _draw_curves(below, result, c)
    if result.measure == 'accuracy':
        for above in axes[0, 1:]:
            above.set_xlim(-0.03, 1.03)
            above.set_xlabel(f'accuracy on {members.asked[0]}', fontsize=6)
    else:
        for above in axes[0, 1:]:
            above.set(xlabel=f'step at which {LEARNED:.0%} are right')


def layout(result: Result) -> style.Layout:
    columns = 1 + len(result.cells)
    height = 2.6 + 0.26 * len(result.windows)
    return style.Layout(2, columns, 2.4 + 2.1 * (columns - 1), height)


def _draw_bars(axis: Axes, result: Result) -> None:
    """The steps in which decay acts, as shares of training."""
    for row, name in enumerate(result.windows):
        for start, end in read_pieces(name):
            axis.barh(row, end - start, left=start, color=_BAR, height=0.6)
    axis.set(xlim=(0, 1), xlabel='share of training', title='weight decay acts')
    _label_windows(axis, result)


def read_pieces(name: str) -> list[tuple[float, float]]:
    """[(start, end)] of a window's name."""
    if name == NONE:
        return []
    if name == ALL:
        return [(0.0, 1.0)]
    pieces = []
    for piece in name.split(', '):
        start, end = piece.split('–')
        pieces.append((float(start), float(end)))
    return pieces


def _label_windows(axis: Axes, result: Result) -> None:
    axis.set_yticks(range(len(result.windows)), result.windows, fontsize=6)
    axis.set_ylim(len(result.windows) - 0.4, -0.6)


def _draw_losses(axis: Axes, result: Result) -> None:
    """The train loss of every seed; several cells have a colour each."""
    loss_M = result.members.train_loss
    is_single = len(result.cells) == 1
    for c in range(len(result.cells)):
        _draw_dots(axis, result, loss_M, c, colour=_DOT if is_single else f'C{c}')
    if not is_single:
        axis.legend(fontsize=5)
    smallest = max(loss_M.min(), 1e-5)
    axis.set(xscale='log', xlabel='train loss (nats)', xlim=(smallest / 2, 5))
    _label_windows(axis, result)


def _draw_dots(
    axis: Axes, result: Result, value_M: np.ndarray, cell: int, colour: str = _DOT
) -> None:
    """A dot for every seed of a cell."""
    is_here_M = result.place_M[:, 0] == cell
    rows = result.place_M[is_here_M, 1]
    spread = (result.members.seed[is_here_M] % 7 - 3) * 0.06
    dots = {'color': colour, 'label': result.cells[cell], 'ms': 3, 'alpha': 0.7}
    axis.plot(value_M[is_here_M], rows + spread, '.', **dots)
    axis.set_ylim(len(result.windows) - 0.4, -0.6)


def _draw_intervals(axis: Axes, result: Result, cell: int) -> None:
    for w in range(len(result.windows)):
        ends = (result.low_CW[cell, w], result.high_CW[cell, w])
        axis.plot(ends, (w, w), color=_BAR, lw=1.5)
        axis.plot(result.mean_CW[cell, w], w, 'o', color=_BAR, ms=4)


def _draw_curves(axis: Axes, result: Result, cell: int) -> None:
    """The mean over seeds of every window, early ones dark."""
    colours = style.plt.get_cmap('viridis')
    num_windows = len(result.windows)
    for w, name in enumerate(result.windows):
        is_here_M = (result.place_M == (cell, w)).all(1)
        if not is_here_M.any():
            continue
        colour = '#BBBBBB' if name == NONE else colours(w / max(num_windows, 2))
        style_of_line = '--' if name == ALL else '-'
        mean_S = result.members.unseen_MS[is_here_M].mean(0)
        axis.plot(result.members.step_S, mean_S, style_of_line, color=colour, lw=1)
    axis.set(ylim=(-0.03, 1.03), xlabel='step', ylabel='accuracy, mean of seeds')


if __name__ == '__main__':
    command.run_sweep_figure(
        __doc__,
        'decay_windows',
        compute,
        draw,
        layout,
        measure=command.Flag(str, 'accuracy', "'accuracy' or 'moment'"),
    )
