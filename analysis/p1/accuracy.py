"""How right are networks on every probe, by gamma and the other axes? For any task.

A panel for each thing that the task measures: a mapping on a probe, the right tokens of
answers that are texts, or the loss of next tokens. Gamma goes across, or the first axis
that varies where gamma does not; a line is a setting of the other axes. Dots are means
over seeds with their 95 % interval, which fewer than three seeds do not have. Members
that have not converged are left out, unless none has.

  python -m analysis accuracy --run runs/scan
"""

from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from analysis.drawing import style
from analysis.members.measures import (
    LOSS,
    Counted,
    count_members,
    list_measures,
    read_measure,
)
from analysis.members.point import format_point
from analysis.members.selection import choose_axis, iterate_points, list_varying
from analysis.members.statistics import mean_interval
from anchorjax.errors import UserError
from anchorjax.grid import axis_label
from anchorjax.storage.reader import Run

TITLE = 'Accuracy by setting'
PAPER = 'any task'
CAPTION = (
    'The panels show everything that the task measures, by the axes of the sweep, as '
    'means over seeds with their 95 % interval.'
)


MOST_COLUMNS = 3
MOST_LINES = 12  # that a legend can name
_SHARES = (-0.03, 1.03)  # limits of an axis of shares


class Result(NamedTuple):
    """Statistics over seeds: setting Z (a line), place X on the axis, measure K."""

    axis: str  # that goes across
    values: np.ndarray  # [X] its labels, as text
    settings: np.ndarray  # [Z] 'depth=2,weight_decay=0.1'; '' where nothing else varies
    measures: np.ndarray  # [K] names
    is_loss: np.ndarray  # [K]
    counted: str  # which members the numbers are of, in words
    mean_KZX: np.ndarray  # NaN: no member counts
    low_KZX: np.ndarray  # of the 95 % interval; NaN with fewer than three seeds
    high_KZX: np.ndarray
    members_ZX: np.ndarray  # that count
    converged_ZX: np.ndarray
    trained_ZX: np.ndarray


class Cells(NamedTuple):
    """Where the members of a sweep stand in the figure."""

    settings: list[str]  # [Z]
    width: int  # X
    # {(setting, place on the axis): indices of its members along the sweep's axes}
    members: dict[tuple[str, int], list[tuple[int, ...]]]


def compute(run: Run) -> Result:
    """Means and intervals of everything that the sweep measures; needs no snapshots.

    Raises:
      UserError: no member is trained yet, or all have diverged.
    """
    counted = count_members(run)
    if not counted.is_counted.any():
        raise UserError(f'{run.folder.workdir}: no member is trained yet')
    axis = choose_axis(run.experiment.axes)
    cells = _arrange(run, axis)
    measures = list_measures(run)
    statistics = []
    for measure in measures:
        measured = read_measure(run.results, measure)
        statistics.append(_describe_cells(cells, measured, counted.is_counted))
    mean_KZX, low_KZX, high_KZX = np.moveaxis(np.array(statistics), 1, 0)
    return Result(
        axis=axis,
        values=np.array([str(axis_label(x)) for x in run.experiment.axes[axis]]),
        settings=np.array(cells.settings),
        measures=np.array([measure.name for measure in measures]),
        is_loss=np.array([measure.source == LOSS for measure in measures]),
        counted=_describe_counted(counted),
        mean_KZX=mean_KZX,
        low_KZX=low_KZX,
        high_KZX=high_KZX,
        members_ZX=_count_members(cells, counted.is_counted),
        converged_ZX=_count_members(cells, counted.is_converged),
        trained_ZX=_count_members(cells, counted.is_trained),
    )


def _describe_counted(counted: Counted) -> str:
    """Which members the numbers are of; without a converged one, no criterion holds."""
    if counted.has_converged:
        return f'converged networks ({counted.criterion})'
    return f'no network converged ({counted.criterion}), so all but diverged ones'


def _describe_statistic(result: Result) -> str:
    """What the dots are: an interval and a mean only where some setting has them."""
    if np.isfinite(result.low_KZX).any():
        return 'mean over seeds and its 95 % interval'
    if result.members_ZX.max() > 1:
        return 'mean over seeds, too few for an interval'
    return 'one seed'


def _arrange(run: Run, axis: str) -> Cells:
    """The members by their setting of the other axes and their place on the axis."""
    axes = run.experiment.axes
    others = [name for name in list_varying(axes) if name != axis]
    place = list(axes).index(axis)
    members: dict[tuple[str, int], list[tuple[int, ...]]] = {}
    settings = []
    for index, point in iterate_points(run):
        labels = {name: axis_label(point[name]) for name in others}
        setting = format_point(labels)
        if setting not in settings:
            settings.append(setting)
        members.setdefault((setting, index[place]), []).append(index)
    return Cells(settings, len(axes[axis]), members)


def _count_members(cells: Cells, mask: xr.DataArray) -> np.ndarray:
    """[Z, X] how many members of each cell are in the mask."""
    number_ZX = np.zeros((len(cells.settings), cells.width), int)
    for (setting, x), indices in cells.members.items():
        here = [mask.values[index] for index in indices]
        number_ZX[cells.settings.index(setting), x] = sum(here)
    return number_ZX


def _describe_cells(
    cells: Cells, measured: xr.DataArray, is_counted: xr.DataArray
) -> np.ndarray:
    """[3, Z, X]: mean, low and high end over the members of each cell that count."""
    statistics = np.full((3, len(cells.settings), cells.width), np.nan)
    for (setting, x), indices in cells.members.items():
        here = [measured.values[i] for i in indices if is_counted.values[i]]
        if here:
            statistics[:, cells.settings.index(setting), x] = mean_interval(here)
    return statistics


def draw(result: Result, axes: np.ndarray) -> None:
    """A panel for each measure."""
    for k, axis in enumerate(axes.flat):
        if k >= len(result.measures):
            axis.set_axis_off()
            continue
        _draw_measure(axis, result, k)
    if 1 < len(result.settings) <= MOST_LINES:
        axes.flat[0].legend(fontsize=5.5)
    name = 'initialization rate γ' if result.axis == 'gamma' else result.axis
    for axis in axes[-1]:
        axis.set_xlabel(name.replace('_', ' '))
    figure: Any = axes.flat[0].figure
    figure.suptitle(f'{_describe_statistic(result)}; {result.counted}')


def layout(result: Result) -> style.Layout:
    number = len(result.measures)
    columns = min(number, MOST_COLUMNS)
    rows = -(-number // columns)
    tallest = max(len(value) for value in result.values)
    width = max(2.3, 0.35 * len(result.values))
    return style.Layout(rows, columns, width * columns, 1.9 * rows + 0.04 * tallest)


def _draw_measure(axis: Axes, result: Result, k: int) -> None:
    colours = style.plt.get_cmap('viridis')
    lines = len(result.settings)
    for z, setting in enumerate(result.settings):
        shift = 0.3 * ((z + 0.5) / lines - 0.5)  # intervals stand side by side
        x_X = np.arange(len(result.values)) + shift
        mean_X = result.mean_KZX[k, z]
        ends = np.stack([mean_X - result.low_KZX[k, z], result.high_KZX[k, z] - mean_X])
        axis.errorbar(
            x_X,
            mean_X,
            np.nan_to_num(ends),
            fmt='o-',
            color=colours(0.9 * z / max(lines - 1, 1)),
            ms=3,
            lw=1,
            elinewidth=0.8,
            label=setting,
        )
    is_long = max(map(len, result.values)) > 5
    rotation = 60 if is_long else 0
    axis.set_xticks(range(len(result.values)), result.values, rotation=rotation)
    title = result.measures[k].replace('_', ' ').removesuffix(' assigned')
    axis.set_title(title)
    if result.is_loss[k]:
        axis.set_ylabel('nats a token')
    else:
        axis.set_ylim(_SHARES)
