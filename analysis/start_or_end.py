"""Is it when decay starts, or when it ends? Windows with one end fixed (beyond P4).

P4 moves windows of a fixed width, so that start and end move together. Here windows
share a start and differ in their ends, or share an end and differ in their starts, all
with the same sum of decay. Two effects answer the question, each a difference of
accuracies on unseen pairs within seeds, averaged over the pairs of windows that differ
in one end alone:

  end    how much better the later of two ends is, at the same start
  start  how much better the later of two starts is, at the same end

A window of two pieces has a gap in its middle. One window may make an effect alone, so
both are also computed without each window.

  python analysis/start_or_end.py --run runs/critical_windows_start_or_end
"""

from typing import NamedTuple

import numpy as np

from analysis.drawing import command, style
from analysis.members.statistics import Mean, mean_interval
from analysis.windows.members import NONE, Members, collect_members
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

START, END = 0, 1  # of bounds
NAMES = ('start', 'end')

Bounds = tuple[float, float]  # of a window: shares of training
Pair = tuple[str, str]  # windows: the earlier one, the later one


class Result(NamedTuple):
    """The grid of windows of one piece, effects by seed, and windows of two pieces."""

    members: Members
    start_Y: np.ndarray  # shares of training
    end_X: np.ndarray
    unseen_YX: np.ndarray  # mean accuracy over seeds; NaN: no such window
    train_loss_YX: np.ndarray
    seeds: np.ndarray  # [seed] those with every window
    effect_2S: np.ndarray  # [NAMES, seed] difference of accuracies
    pairs_2: np.ndarray  # pairs of windows behind each effect
    windows: np.ndarray  # [W] of one piece
    without_W2: np.ndarray  # both effects, mean over seeds, without each of them
    piece_names: np.ndarray  # windows of two pieces, and none
    piece_mean: np.ndarray  # [window, (mean, low, high)]


def compute(run: Run) -> Result:
    """Effects of start and end.

    Raises:
      UserError: another task, no trained member, several cells, or no two windows that
        share one end.
    """
    members = collect_members(run)
    whole, others = name_windows(members)
    bounds = {}
    for name in whole:
        bounds[name] = find_bounds(members, name)
    seeds = find_complete_seeds(members, whole)
    by_start = pair_windows(bounds, START)
    by_end = pair_windows(bounds, END)
    effect_2S = [
        measure_effects(members, by_start, seeds),
        measure_effects(members, by_end, seeds),
    ]
    without_W2 = []
    for name in whole:
        of_start = measure_without(members, by_start, seeds, name)
        of_end = measure_without(members, by_end, seeds, name)
        without_W2.append((of_start, of_end))
    piece_mean = []
    for name in others:
        unseen = members.unseen[members.window == name]
        piece_mean.append(mean_interval(unseen))
    return Result(
        members=members,
        start_Y=list_bounds(bounds, START),
        end_X=list_bounds(bounds, END),
        unseen_YX=average_windows(members, members.unseen, bounds),
        train_loss_YX=average_windows(members, members.train_loss, bounds),
        seeds=np.array(seeds),
        effect_2S=np.array(effect_2S),
        pairs_2=np.array([len(by_start), len(by_end)]),
        windows=np.array(whole),
        without_W2=np.array(without_W2),
        piece_names=np.array(others, str),
        piece_mean=np.array(piece_mean).reshape(len(others), 3),
    )


def name_windows(members: Members) -> tuple[list[str], list[str]]:
    """(windows of one piece, windows of two and none), sorted."""
    whole, others = [], []
    for name in np.unique(members.window).tolist():
        if ',' in name or name == NONE:
            others.append(name)
        else:
            whole.append(name)
    return whole, others


def find_bounds(members: Members, name: str) -> Bounds:
    """(start, end) of a window."""
    start, end = members.bounds[members.window == name][0]
    return float(start), float(end)


def list_bounds(bounds: dict[str, Bounds], which: int) -> np.ndarray:
    """The different starts (which = START) or ends of windows, in order."""
    values = [of_window[which] for of_window in bounds.values()]
    return np.unique(values)


def average_windows(
    members: Members, values_M: np.ndarray, bounds: dict[str, Bounds]
) -> np.ndarray:
    """The mean over seeds by start and end [Y, X]; NaN: no such window."""
    start_Y = list_bounds(bounds, START)
    end_X = list_bounds(bounds, END)
    mean_YX = np.full((len(start_Y), len(end_X)), np.nan)
    for name, (start, end) in bounds.items():
        y = np.searchsorted(start_Y, start)
        x = np.searchsorted(end_X, end)
        mean_YX[y, x] = values_M[members.window == name].mean()
    return mean_YX


def find_complete_seeds(members: Members, windows: list[str]) -> list[int]:
    """The seeds that have exactly one member for each of these windows.

    Raises:
      UserError: there is none.
    """
    seeds = []
    for seed in np.unique(members.seed):
        found = members.window[members.seed == seed].tolist()
        if all(found.count(name) == 1 for name in windows):
            seeds.append(int(seed))
    if not seeds:
        raise UserError('no seed has one member for every window')
    return seeds


def pair_windows(ends: dict[str, Bounds], varied: int) -> list[Pair]:
    """(earlier, later) of windows that differ in this bound alone.

    Raises:
      UserError: there are none.
    """
    fixed = 1 - varied
    pairs = []
    for earlier, bounds in ends.items():
        for later, other in ends.items():
            if bounds[fixed] == other[fixed] and bounds[varied] < other[varied]:
                pairs.append((earlier, later))
    if not pairs:
        raise UserError(f'no two windows differ in their {NAMES[varied]} alone')
    return pairs


def measure_effects(
    members: Members, pairs: list[Pair], seeds: list[int]
) -> np.ndarray:
    """The mean difference, later minus earlier, of every seed; NaN without pairs."""
    if not pairs:
        return np.full(len(seeds), np.nan)
    return np.array([measure_effect(members, pairs, seed) for seed in seeds])


def measure_without(
    members: Members, pairs: list[Pair], seeds: list[int], name: str
) -> float:
    """The mean effect of the pairs without this window; NaN if none is left."""
    rest = [pair for pair in pairs if name not in pair]
    return measure_effects(members, rest, seeds).mean()


def measure_effect(members: Members, pairs: list[Pair], seed: int) -> float:
    """The mean difference, later minus earlier, of one seed."""
    differences = []
    for earlier, later in pairs:
        better = find_accuracy(members, later, seed)
        differences.append(better - find_accuracy(members, earlier, seed))
    return float(np.mean(differences))


def find_accuracy(members: Members, name: str, seed: int) -> float:
    """The accuracy on unseen pairs of the member with this window and seed."""
    is_here_M = (members.window == name) & (members.seed == seed)
    return members.unseen[is_here_M][0]


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [1, 4]: accuracy and train loss by window, effects, the pieces."""
    grid, losses, effects, pieces = axes[0]
    starts = np.array([f'{start:.3g}' for start in result.start_Y])
    style.draw_heatmap(grid, result.unseen_YX, 'Blues', (0, 1))
    style.draw_heatmap(losses, result.train_loss_YX, 'Reds', (0, 1))
    for axis in (grid, losses):
        style.label_grid(axis, result.end_X, starts)
        axis.set_xlabel('end of decay (share of T)')
    grid.set_ylabel('start of decay')
    grid.set_title(f'{result.members.asked[0]}, {len(result.seeds)} seeds')
    losses.set_title('train loss (nats)')
    for row, name in enumerate(NAMES):
        values = result.effect_2S[row]
        _draw_seeds(effects, row, values, mean_interval(values))
        effects.text(0.02, row - 0.3, f'a later {name}', fontsize=6)
    effects.axvline(0, color='#BBBBBB', lw=0.6, zorder=0)
    effects.set(yticks=[], ylim=(1.5, -0.6), xlabel='difference of accuracies')
    effects.set_title('effect within seeds')
    _draw_pieces(pieces, result)


def _draw_pieces(axis: style.Axes, result: Result) -> None:
    """Every seed of the windows of two pieces, and of none."""
    members = result.members
    for row, name in enumerate(result.piece_names):
        values = members.unseen[members.window == name]
        _draw_seeds(axis, row, values, Mean(*result.piece_mean[row]))
    names = [str(name).replace(', ', '\n') for name in result.piece_names]
    axis.set_yticks(range(len(names)), names, fontsize=6)
    axis.set(xlim=(-0.03, 1.03), ylim=(len(names) - 0.5, -0.5))
    axis.set(xlabel=f'accuracy on {members.asked[0]}', title='in two pieces')


def _draw_seeds(axis: style.Axes, row: int, values: np.ndarray, found: Mean) -> None:
    """A dot for every seed in a row, and their mean with its interval."""
    axis.plot(values, np.full(len(values), row), '.', color='#777777', ms=4)
    axis.plot((found.low, found.high), (row, row), color='#0072B2', lw=2)
    axis.plot(found.mean, row, 'o', color='#0072B2', ms=5)


layout = style.Layout(rows=1, columns=4, width=7.6, height=2.3)


if __name__ == '__main__':
    command.run_sweep_figure(__doc__, 'start_or_end', compute, draw, layout)
