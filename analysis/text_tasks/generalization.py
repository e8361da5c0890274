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

import itertools
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis import stats
from analysis.drawing import style
from analysis.frame import find_points
from analysis.members.measures import describe_criterion
from analysis.members.selection import count_diverged
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
APART = 0.04  # baselines nearer than this share one name, as two would overlap

Cell = tuple[float, float]  # γ and weight decay


class Result(NamedTuple):
    """Tables of trained networks at the end of training."""

    title: str
    tested: str  # the probe that is about generalization
    members: pd.DataFrame  # see `members.read_members`
    baselines: pd.DataFrame  # score of each baseline on the data of each network
    groups: pd.DataFrame  # score of each network by group of questions, largest size
    effects: pd.DataFrame  # mean difference of two cells, paired by seed; its interval

    @property
    def probes(self) -> list[str]:
        return list(dict.fromkeys(self.baselines.probe))

    @property
    def cells(self) -> list[Cell]:
        return list_cells(self.members)


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
    diverged = count_diverged(run)
    if diverged:
        text += f'; {diverged} diverged and are left out'
    return text


def _tabulate_baselines(run: Run, members: pd.DataFrame) -> pd.DataFrame:
    rows = []
    points = find_points(run, members)
    places = members[['setting', 'size', 'seed']].to_dict('records')
    for place, point in zip(places, points, strict=True):
        scores = score_baselines(run.experiment_of(**point).task, point['seed'])
        for probe, baseline in itertools.product(run.results.probe.values, scores):
            score = scores[baseline].get(probe, np.nan)
            rows.append(place | {'probe': probe, 'baseline': baseline, 'score': score})
    return pd.DataFrame(rows)


def _tabulate_groups(run: Run, members: pd.DataFrame) -> pd.DataFrame:
    largest = members.groupby('setting')['size'].transform('max')
    chosen = members[members['size'] == largest]
    agreement = run.results.agreement_by_group.sel(mapping='assigned', drop=True)
    tables = []
    points = find_points(run, chosen)
    places = chosen[['setting', 'gamma', 'weight_decay', 'seed']].to_dict('records')
    for place, point in zip(places, points, strict=True):
        of_member = agreement.sel(run.labels(**point), drop=True).drop_vars('step')
        table = of_member.to_dataframe('score').reset_index()
        tables.append(table[['probe', 'group', 'score']].assign(**place))
    return pd.concat(tables, ignore_index=True)


def list_cells(members: pd.DataFrame) -> list[Cell]:
    """Every combination of γ and decay, in order."""
    return list(members.groupby(['gamma', 'weight_decay']).groups)


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
    for setting, of_setting in members.groupby('setting', sort=False):
        largest = of_setting[of_setting['size'] == of_setting['size'].max()]
        by_cell = largest.pivot_table(tested, 'seed', ['gamma', 'weight_decay'])
        for first, second in list_contrasts(members):
            if first in by_cell and second in by_cell:
                change = (by_cell[second] - by_cell[first]).dropna()
                title = name_contrast(first, second)
                rows.append((setting, title, *stats.mean_interval(change)))
    return pd.DataFrame(rows, columns=['setting', 'contrast', 'mean', 'low', 'high'])


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [2 settings, probes + 1]: answers above, groups and effects below."""
    baselines = result.baselines.groupby('setting')
    groups = result.groups.groupby('setting')
    effects = result.effects.groupby('setting')
    styles = choose_styles(result.members)
    by_setting = result.members.groupby('setting', sort=False)
    for row, (setting, members) in enumerate(by_setting):
        above, below = axes[2 * row], axes[2 * row + 1]
        for p, probe in enumerate(result.probes):
            draw_cells(above[p], members, probe, styles)
            draw_baselines(above[p], baselines.get_group(setting), probe)
            above[p].set(ylim=(-0.04, 1.04), title=f'{probe} {setting}'.strip())
            draw_groups(below[p], groups.get_group(setting), probe)
        draw_cells(above[-1], members, 'steps', styles)
        above[-1].set(ylabel='steps to converge', ylim=(0, None))
        if setting in effects.groups:
            draw_effects(below[-1], effects.get_group(setting), result.tested)
        else:
            below[-1].set_axis_off()
        above[0].set_ylabel('exact match')
    if result.members['size'].nunique() > 1:  # else the axis names the cells
        axes[0, 0].legend(fontsize=5)
    axes[0, 0].figure.suptitle(result.title, fontsize=8)


def choose_styles(members: pd.DataFrame) -> dict[Cell, tuple[str, str]]:
    """{cell: (colour of its γ, line of its decay)}."""
    gamma, decay = members.gamma, members.weight_decay
    colours = {gamma.max(): SMALL, gamma.min(): LARGE}
    lines = {decay.min(): '--', decay.max(): '-'}
    styles = {}
    for cell in list_cells(members):
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
    has_one_size = len(sizes) == 1
    for c, (cell, (colour, line)) in enumerate(styles.items()):
        is_cell = (members.gamma == cell[0]) & (members.weight_decay == cell[1])
        shift = SPREAD * (2 * c / max(len(styles) - 1, 1) - 1)
        places, means = [], []
        for size, of_size in members[is_cell].groupby('size'):
            place = c if has_one_size else sizes.index(size) + shift
            found = stats.mean_interval(of_size[column])
            axis.plot([place, place], [found.low, found.high], color=colour, lw=1)
            draw_dots(axis, place, of_size, column, colour)
            places.append(place)
            means.append(found.mean)
        marker = '_' if len(means) == 1 else ''
        label = f'γ {cell[0]:g}, decay {cell[1]:g}'
        axis.plot(places, means, line + marker, lw=1, color=colour, label=label)
    if has_one_size:
        label_cells(axis, list(styles))
    else:
        axis.set_xticks(range(len(sizes)), [f'{size:,}' for size in sizes], fontsize=6)
        axis.set_xlabel('training examples')


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


def draw_baselines(axis: Axes, baselines: pd.DataFrame, probe: str) -> None:
    """Dotted lines along the sizes, or across where there is one."""
    of_probe = baselines[baselines.probe == probe]
    by_name = of_probe.groupby(['baseline', 'size'], sort=False).score.mean()
    heights = by_name.unstack().sort_index(axis=1).dropna(how='all')
    for names in group_baselines(heights):
        scores = heights.loc[names[0]].values
        if len(scores) == 1:
            axis.axhline(scores[0], color=GREY, lw=0.8, ls=':')
            end = axis.get_xlim()[1]
        else:
            axis.plot(range(len(scores)), scores, ':', color=GREY, lw=0.8)
            end = len(scores) - 1
        words = {'fontsize': 5, 'color': GREY, 'ha': 'right', 'va': 'bottom'}
        axis.text(end, scores[-1], ', '.join(names), **words)


def group_baselines(heights: pd.DataFrame) -> list[list[str]]:
    """The names of baselines, those together whose names would overlap."""
    groups: list[list[str]] = []
    for name, scores in heights.iterrows():
        for group in groups:
            others = heights.loc[group[0]]
            if np.allclose(scores, others, rtol=0, atol=APART, equal_nan=True):
                group.append(name)
                break
        else:
            groups.append([name])
    return groups


def draw_groups(axis: Axes, groups: pd.DataFrame, probe: str) -> None:
    """Exact match of every group that the probe asks, by cell: the mean over seeds."""
    of_probe = groups[groups.probe == probe].dropna()
    if not len(of_probe):
        axis.set_axis_off()
        return
    cells = ['gamma', 'weight_decay']
    table = of_probe.pivot_table('score', 'group', cells, sort=False)
    table = table.sort_index(axis=1)
    style.draw_heatmap(axis, table.values, 'Blues', (0, 1))
    axis.set_yticks(range(len(table)), table.index, fontsize=5)
    label_cells(axis, list(table.columns))


def draw_effects(axis: Axes, effects: pd.DataFrame, tested: str) -> None:
    """What γ and decay each change on the tested probe, of all networks."""
    for y, effect in enumerate(effects.itertuples()):
        axis.plot(effect.mean, y, 'o', ms=3, color='black')
        axis.plot([effect.low, effect.high], [y, y], lw=1, color='black')
    axis.axvline(0, color=GREY, lw=0.6)
    axis.set_yticks(range(len(effects)), effects.contrast, fontsize=5)
    axis.set(ylim=(len(effects) - 0.5, -0.5), xlabel=f'difference on {tested}')


def layout(result: Result) -> style.Layout:
    settings = result.members.setting.nunique()
    columns = len(result.probes) + 1
    tallest = max(result.groups.group.nunique(), 4)
    height = settings * (2.4 + 0.17 * tallest)
    return style.Layout(2 * settings, columns, 0.8 + 2.5 * columns, height + 0.6)
