"""Do networks generalize on text tasks, and is it γ or decay? (P1 Figs 6, 7, 17 a.)

Exact match of whole answers by the size of the training set, for every γ and decay, on
training examples, on held-out ones of the same kind, and on what is never trained: the
square of operands (addition), commands with `turn left` (SCAN), the 21 cases (COGS),
new questions (PrOntoQA). Grey: what answers without generalizing
(analysis/text_tasks/baselines.py). Hollow dots have not converged.

Right: the step at which the loss falls below `train.converged_loss` (the last one where
it never does), and what γ and decay each change, seed by seed, at the largest size.

  python -m analysis generalization --run runs/addition
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis import stats
from analysis.drawing import style
from analysis.frame import find_points
from analysis.members.measures import describe_criterion
from analysis.text_tasks.baselines import score_baselines
from analysis.text_tasks.members import TESTED, read_members
from anchorjax.storage.reader import Run

TITLE = 'Generalization'
PAPER = 'P1 Figs 6, 7, 17 a'
CAPTION = (
    'The panels show exact match by the size of the training set, for every γ and '
    'decay, beside what a table of the training data would answer (grey); on the right '
    'is when networks converge, and what γ and decay each do.'
)

LARGE, SMALL, BETWEEN = '#E69F00', '#0072B2', '#009E73'  # initialization, as in P1
GREY = '#999999'
SPREAD = 0.18  # of the dots around the place of their cell
APART = 0.04  # names of baselines nearer than this would overlap, and so stand together

Cell = tuple[float, float]
CELL = ['gamma', 'weight_decay']


class Result(NamedTuple):
    """Tables of trained networks at the end of training."""

    title: str
    tested: str  # the probe that is about generalization
    members: pd.DataFrame  # see `members.read_members`
    baselines: pd.DataFrame  # score of each baseline on the data of each network
    groups: pd.DataFrame  # score of each network by group of questions, largest size
    effects: pd.DataFrame  # mean difference of two cells, paired by seed; its interval


def compute(run: Run) -> Result:
    """What all trained networks answer; needs no snapshots.

    Raises:
      UserError: another task, or no trained network.
    """
    members = read_members(run)
    tested = TESTED[run.experiment.task.name]
    return Result(
        title=_describe(run, members),
        tested=tested,
        members=members,
        baselines=_tabulate_baselines(run, members),
        groups=_tabulate_groups(run, members),
        effects=tabulate_effects(members, tested),
    )


def _describe(run: Run, members: pd.DataFrame) -> str:
    """How many networks have converged, and by which criterion."""
    text = f'{run.experiment.task.name}: {members.converged.sum()} of {len(members)} '
    text += f'converged ({describe_criterion(run.experiment)}); bars: 95 % over seeds'
    diverged = int((run.results.trained & (run.results.diverged >= 0)).sum())
    if diverged:
        text += f'; {diverged} diverged and are left out'
    return text


def _tabulate_baselines(run: Run, members: pd.DataFrame) -> pd.DataFrame:
    tables = []
    for place, point in enumerate(find_points(run, members)):
        scores = score_baselines(run.experiment_of(**point).task, point['seed'])
        table = pd.DataFrame(scores, run.results.probe.values)
        table = table.rename_axis('probe').reset_index()
        row = members[['setting', 'size', 'seed']].iloc[place]
        tables.append(table.assign(**row).melt([*row.index, 'probe']))
    table = pd.concat(tables, ignore_index=True)
    return table.rename(columns={'variable': 'baseline', 'value': 'score'})


def _tabulate_groups(run: Run, members: pd.DataFrame) -> pd.DataFrame:
    chosen = select_largest(members)
    agreement = run.results.agreement_by_group.sel(mapping='assigned', drop=True)
    tables = []
    for place, point in enumerate(find_points(run, chosen)):
        of_member = agreement.sel(run.labels(**point), drop=True).drop_vars('step')
        table = of_member.to_dataframe('score').reset_index()
        row = chosen[['setting', *CELL, 'seed']].iloc[place]
        tables.append(table[['probe', 'group', 'score']].assign(**row))
    return pd.concat(tables, ignore_index=True)


def select_largest(members: pd.DataFrame) -> pd.DataFrame:
    """The networks with the most training examples of their setting."""
    largest = members.groupby('setting')['size'].transform('max')
    return members[members['size'] == largest]


def list_contrasts(members: pd.DataFrame) -> list[tuple[Cell, Cell]]:
    """Pairs of cells: γ or decay changes, or both as in P1, from end to end."""
    large, small = members.gamma.min(), members.gamma.max()
    weak, strong = members.weight_decay.min(), members.weight_decay.max()
    pairs = (
        ((large, weak), (small, weak)),
        ((large, strong), (small, strong)),
        ((large, weak), (large, strong)),
        ((small, weak), (small, strong)),
        ((large, weak), (small, strong)),
    )
    return [pair for pair in dict.fromkeys(pairs) if pair[0] != pair[1]]


def name_contrast(first: Cell, second: Cell) -> str:
    """'γ 0.5 → 0.7 at decay 0.01', 'γ 0.5 → 0.7, decay 0.01 → 0.5'."""
    changed, fixed = [], []
    for symbol, a, b in zip(('γ', 'decay'), first, second, strict=True):
        if a == b:
            fixed.append(f'at {symbol} {a:g}')
        else:
            changed.append(f'{symbol} {a:g} → {b:g}')
    return ' '.join([', '.join(changed), *fixed])


def tabulate_effects(members: pd.DataFrame, tested: str) -> pd.DataFrame:
    """A row per setting and contrast: its change by seed, at the largest size."""
    rows = []
    for setting, largest in select_largest(members).groupby('setting', sort=False):
        by_cell = largest.pivot_table(tested, 'seed', CELL)
        for first, second in list_contrasts(members):
            if first in by_cell and second in by_cell:
                change = (by_cell[second] - by_cell[first]).dropna()
                title = name_contrast(first, second)
                rows.append((setting, title, *stats.mean_interval(change)))
    return pd.DataFrame(rows, columns=['setting', 'contrast', 'mean', 'low', 'high'])


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [2 settings, probes + 1]: answers above, groups and effects below."""
    styles = choose_styles(result.members)
    by_setting = result.members.groupby('setting', sort=False)
    for row, (setting, members) in enumerate(by_setting):
        above, below = axes[2 * row], axes[2 * row + 1]
        baselines = result.baselines[result.baselines.setting == setting]
        groups = result.groups[result.groups.setting == setting]
        effects = result.effects[result.effects.setting == setting]
        for p, probe in enumerate(result.baselines.probe.unique()):
            draw_cells(above[p], members, probe, styles)
            draw_baselines(above[p], baselines[baselines.probe == probe])
            above[p].set(ylim=(-0.04, 1.04), title=f'{probe} {setting}'.strip())
            draw_groups(below[p], groups[groups.probe == probe])
        draw_cells(above[-1], members, 'steps', styles)
        above[-1].set(ylabel='steps to converge', ylim=(0, None))
        draw_effects(below[-1], effects, result.tested)
        above[0].set_ylabel('exact match')
    if result.members['size'].nunique() > 1:  # else the axis names the cells
        axes[0, 0].legend(fontsize=5)
    axes[0, 0].figure.suptitle(result.title, fontsize=8)


def choose_styles(members: pd.DataFrame) -> dict[Cell, tuple[str, str]]:
    """{cell: (colour of its γ, line of its decay)} of every cell, in order."""
    gamma, decay = members.gamma, members.weight_decay
    colours = {gamma.max(): SMALL, gamma.min(): LARGE}
    lines = {decay.min(): '--', decay.max(): '-'}
    styles = {}
    for cell in members.groupby(CELL).groups:
        styles[cell] = colours.get(cell[0], BETWEEN), lines.get(cell[1], ':')
    return styles


def draw_cells(
    axis: Axes,
    members: pd.DataFrame,
    column: str,
    styles: dict[Cell, tuple[str, str]],
) -> None:
    """A dot per network, the mean of each cell and its interval: by size, or by cell
    where there is one size."""
    sizes = sorted(members['size'].unique())
    if len(sizes) == 1:
        shifts = range(len(styles))
        label_cells(axis, list(styles))
    else:
        shifts = np.linspace(-SPREAD, SPREAD, len(styles))
        labels = [f'{size:,}' for size in sizes]
        axis.set_xticks(range(len(sizes)), labels, fontsize=6)
        axis.set_xlabel('training examples')
    for shift, (cell, (colour, line)) in zip(shifts, styles.items(), strict=True):
        gamma, decay = cell
        is_cell = (members.gamma == gamma) & (members.weight_decay == decay)
        places = []
        means = []
        for size, of_size in members[is_cell].groupby('size'):
            place = sizes.index(size) + shift
            found = stats.mean_interval(of_size[column])
            axis.plot([place, place], [found.low, found.high], color=colour, lw=1)
            draw_dots(axis, place, of_size, column, colour)
            places.append(place)
            means.append(found.mean)
        look = f'{line}_' if len(means) == 1 else line
        label = f'γ {gamma:g}, decay {decay:g}'
        axis.plot(places, means, look, lw=1, color=colour, label=label)


def draw_dots(
    axis: Axes, place: float, members: pd.DataFrame, column: str, colour: str
) -> None:
    """Filled dots of converged networks, hollow ones of the others."""
    for is_converged, rows in members.groupby('converged'):
        inside = colour if is_converged else 'none'
        places = np.full(len(rows), place)
        axis.plot(places, rows[column], 'o', ms=3, color=colour, mfc=inside)


def label_cells(axis: Axes, cells: list[Cell]) -> None:
    labels = [f'γ {gamma:g}\n{decay:g}' for gamma, decay in cells]
    axis.set_xticks(range(len(cells)), labels, fontsize=5)


def draw_baselines(axis: Axes, baselines: pd.DataFrame) -> None:
    """Dotted lines along the sizes, or across where there is one."""
    by_name = baselines.groupby(['baseline', 'size'], sort=False).score.mean()
    heights = by_name.unstack().sort_index(axis=1).dropna(how='all')
    last = heights.shape[1] - 1
    for scores in heights.values:
        if last:
            axis.plot(range(len(scores)), scores, ':', color=GREY, lw=0.8)
        else:
            axis.axhline(scores[0], color=GREY, lw=0.8, ls=':')
    right = last or axis.get_xlim()[1]
    ends = heights.iloc[:, -1].sort_values()
    is_apart = ends.diff() > APART
    for _, near in ends.groupby(is_apart.cumsum()):
        words = {'fontsize': 5, 'color': GREY, 'ha': 'right', 'va': 'bottom'}
        axis.text(right, near.max(), ', '.join(near.index), **words)


def draw_groups(axis: Axes, groups: pd.DataFrame) -> None:
    """Exact match of every group of a probe, by cell: the mean over seeds."""
    known = groups.dropna()
    if not len(known):
        axis.set_axis_off()
        return
    table = known.pivot_table('score', 'group', CELL, sort=False)
    table = table.sort_index(axis=1)
    style.draw_heatmap(axis, table, 'Blues', (0, 1))
    axis.set_yticks(range(len(table)), table.index, fontsize=5)
    label_cells(axis, list(table.columns))


def draw_effects(axis: Axes, effects: pd.DataFrame, tested: str) -> None:
    """What γ and decay each change on the tested probe, of all networks."""
    if not len(effects):
        axis.set_axis_off()
        return
    rows = range(len(effects))
    axis.plot(effects['mean'], rows, 'o', ms=3, color='black')
    axis.hlines(rows, effects.low, effects.high, lw=1, color='black')
    axis.axvline(0, color=GREY, lw=0.6)
    axis.set_yticks(rows, effects.contrast, fontsize=5)
    axis.set(ylim=(len(effects) - 0.5, -0.5), xlabel=f'difference on {tested}')


def layout(result: Result) -> style.Layout:
    settings = result.members.setting.nunique()
    columns = result.baselines.probe.nunique() + 1
    tallest = max(result.groups.group.nunique(), 4)
    height = settings * (2.4 + 0.17 * tallest)
    return style.Layout(2 * settings, columns, 0.8 + 2.5 * columns, height + 0.6)
