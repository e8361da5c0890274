"""How right are networks on every eval set, by gamma and the other axes? For any task.

A panel for each thing that the task measures: a mapping on an eval set, the right
tokens of answers that are texts, or the loss of next tokens. Gamma goes across, or the
first axis that varies where gamma does not; a line is a setting of the other axes. Dots
are means over seeds with their 95 % interval, which fewer than three seeds do not have.
All members count that did not diverge, converged or not, as in claims.

  python -m analysis accuracy --run runs/scan
"""

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis import frame, stats
from analysis.drawing import style
from analysis.drawing.gammas import label_gamma_cells
from analysis.members.measures import LOSS, describe_criterion, list_measures
from analysis.members.selection import choose_axis
from analysis.names import name_setting
from anchorjax.storage.reader import Run

TITLE = 'Accuracy by setting'
PAPER = 'any task'
CAPTION = (
    'The panels show everything that the task measures, by the axes of the sweep, as '
    'means over seeds with their 95 % interval.'
)
MOST_COLUMNS = 3
MOST_LINES = 12  # that a legend can name


def compute(run: Run) -> pd.DataFrame:
    """Means and intervals of everything that the sweep measures; needs no snapshots.

    Returns:
      A row per `measure`, `setting` (a line: 'depth=2,weight_decay=0.1', '' where
      nothing else varies) and `value` on the `axis` that goes across: `mean`, `low` and
      `high` over the `members` that did not diverge (NaN with fewer than three, the
      mean without any), and how many are converged and trained. The same in all rows:
      the `criterion` of convergence, and the width of the networks.

    Raises:
      UserError: no member is trained yet, or all have diverged.
    """
    members = frame.mark_usable(run)
    axis = choose_axis(run.experiment.axes)
    members['setting'] = frame.name_settings(run, members, (axis, 'seed'))
    rows = []
    for measure in list_measures(run):
        for (setting, value), cell in members.groupby(['setting', axis], sort=False):
            known = cell[measure.column][cell.usable].dropna()
            possible = stats.POSITIVE if measure.source == LOSS else stats.SHARE
            row = {
                'measure': measure.column,
                'is_loss': measure.source == LOSS,
                'setting': setting,
                'value': value,
                **stats.mean_interval(known, possible)._asdict(),
                'members': cell.usable.sum(),
                'converged': cell.converged.sum(),
                'trained': cell.trained.sum(),
            }
            rows.append(row)
    return pd.DataFrame(rows).assign(
        axis=axis,
        criterion=describe_criterion(run.experiment),
        width=frame.find_width(run),
    )


def _describe_statistic(cells: pd.DataFrame) -> str:
    """What the dots are: an interval and a mean only where some setting has them."""
    if cells.low.notna().any():
        return 'mean over seeds and its 95 % interval'
    if cells.members.max() > 1:
        return 'mean over seeds, too few for an interval'
    return 'one seed'


def _count(cells: pd.DataFrame) -> str:
    """'all 12 networks, 9 of them converged (loss ... at most 0.02)'."""
    of_measure = cells[cells.measure == cells.measure.iloc[0]]
    converged, members = of_measure.converged.sum(), of_measure.members.sum()
    words = f'all {members} networks, {converged} of them converged'
    diverged = of_measure.trained.sum() - members
    left_out = f'; {diverged} diverged and are left out' if diverged else ''
    return f'{words} ({cells.criterion.iloc[0]}){left_out}'


def draw(cells: pd.DataFrame, axes: np.ndarray) -> None:
    """A panel for each measure, one for all that have the same numbers."""
    first = cells.iloc[0]
    panels = _list_panels(cells)
    for axis in axes.flat[len(panels) :]:
        axis.set_axis_off()
    for axis, (title, of_measure) in zip(axes.flat, panels, strict=False):
        _draw_measure(axis, of_measure)
        axis.set_title(title)
    if 1 < cells.setting.nunique() <= MOST_LINES:
        axes.flat[0].legend(fontsize=5.5)
    if first.axis != 'gamma':
        for axis in axes[-1]:
            axis.set_xlabel(first.axis.replace('_', ' '))
    axes.flat[0].figure.suptitle(f'{_describe_statistic(cells)}\n{_count(cells)}')


def _list_panels(cells: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """(title, rows) of every measure; those with the same numbers share a panel."""
    panels: list[tuple[str, pd.DataFrame]] = []
    for measure, rows in cells.groupby('measure', sort=False):
        title = str(measure).replace('_', ' ').removesuffix(' assigned')
        rows = rows.reset_index(drop=True)
        for i, (others, drawn) in enumerate(panels):
            if rows['mean'].equals(drawn['mean']):
                panels[i] = (f'{others}\n= {title}', drawn)
                break
        else:
            panels.append((title, rows))
    return panels


def layout(cells: pd.DataFrame) -> style.Layout:
    number = len(_list_panels(cells))
    columns = min(number, MOST_COLUMNS)
    rows = -(-number // columns)
    values = cells.value.unique()
    tallest = max(len(str(value)) for value in values)
    width = max(2.3, 0.35 * len(values))
    return style.Layout(rows, columns, width * columns, 2.2 * rows + 0.04 * tallest)


def _draw_measure(axis: Axes, cells: pd.DataFrame) -> None:
    colours = matplotlib.colormaps['viridis']
    settings = cells.groupby('setting', sort=False)
    lines = settings.ngroups
    values = cells.value.unique().tolist()
    for z, (setting, line) in enumerate(settings):
        shift = 0.3 * ((z + 0.5) / lines - 0.5)  # intervals stand side by side
        ends = np.stack([line['mean'] - line.low, line.high - line['mean']])
        axis.errorbar(
            line.value.map(values.index) + shift,
            line['mean'],
            np.nan_to_num(ends),
            fmt='o-',
            color=colours(0.9 * z / max(lines - 1, 1)),
            ms=3,
            lw=1,
            elinewidth=0.8,
            label=name_setting(str(setting)),
            clip_on=False,  # at 0 and 1
        )
    if cells.axis.iloc[0] == 'gamma':
        label_gamma_cells(axis, values, cells.width.iloc[0])
    else:
        names = [str(value) for value in values]
        is_long = max(map(len, names)) > 5
        axis.set_xticks(range(len(names)), names, rotation=60 if is_long else 0)
    if cells.is_loss.iloc[0]:
        axis.set_ylabel('nats a token')
    else:
        axis.set_ylabel('share')
        axis.set_ylim(0, 1)
