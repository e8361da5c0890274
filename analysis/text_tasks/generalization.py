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

from collections.abc import Sequence

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
# Of eval sets, in the titles of panels.
NAMES = {
    'seen_train': 'trained',
    'seen_heldout': 'held out',
    'seen_heldout_proof': 'held out, the whole proof',
    'test': 'never trained (test)',
    'gen': 'new kinds (gen)',
}
GREY = '#999999'
SPREAD = 0.18  # of the dots around the place of their cell
APART = 0.04  # names of baselines nearer than this would overlap, and so stand together

Cell = tuple[float, float]
CELL = ['gamma', 'weight_decay']
KEYS = ['setting', 'size', *CELL, 'seed', 'converged', 'steps']
NETWORK = 'network'  # what answers, if it is no baseline


def compute(run: Run) -> pd.DataFrame:
    """What all trained networks answer at the end of training; needs no snapshots.

    Returns:
      A row for every `score`: on a `eval_set` and a `group` of its questions ('': all),
      `by` a network or by a baseline on the data of that network, whose `setting`,
      `size` (training examples), `gamma`, `weight_decay`, `seed`, `converged` and
      `steps` are in the row. The same in all rows: the `tested` eval set, which is
      about generalization, and the `title`.

    Raises:
      UserError: another task, or no trained network.
    """
    members = read_members(run, *TESTED)
    eval_sets = run.results.eval_set.values.tolist()
    by_group = run.results.agreement_by_group.sel(mapping='assigned', drop=True)
    tables = []
    for place, point in enumerate(find_points(run, members)):
        network = members.iloc[place]
        scores = {NETWORK: network[eval_sets].astype(float)}
        scores |= score_baselines(run.experiment_of(**point).task, point['seed'])
        whole = pd.DataFrame(scores, eval_sets).rename_axis('eval_set').reset_index()
        whole = whole.melt('eval_set', var_name='by', value_name='score')
        groups = by_group.sel(run.labels(**point), drop=True).drop_vars('step')
        groups = groups.to_dataframe('score').reset_index().assign(by=NETWORK)
        answered = pd.concat([whole.assign(group=''), groups])
        answered = answered[['eval_set', 'group', 'by', 'score']].dropna()
        tables.append(answered.assign(**network[KEYS]))
    tested = TESTED[run.experiment.task.name]
    title = _describe(run, members)
    return pd.concat(tables, ignore_index=True).assign(tested=tested, title=title)


def _describe(run: Run, members: pd.DataFrame) -> str:
    """How many networks have converged, and by which criterion."""
    text = f'{run.experiment.task.name}: {members.converged.sum()} of {len(members)} '
    text += f'converged ({describe_criterion(run.experiment)}); bars: 95 % over seeds'
    diverged = int((run.results.trained & (run.results.diverged >= 0)).sum())
    if diverged:
        text += f'; {diverged} diverged and are left out'
    return text


def select_largest(rows: pd.DataFrame) -> pd.DataFrame:
    """Those of the networks with the most training examples."""
    return rows[rows['size'] == rows['size'].max()]


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


def tabulate_effects(networks: pd.DataFrame) -> pd.DataFrame:
    """A row per contrast: its mean change of the score, paired by seed; its interval.

    Args:
      networks: of one setting, size and eval set.
    """
    rows = []
    by_cell = networks.pivot_table('score', 'seed', CELL)
    for first, second in list_contrasts(networks):
        if first in by_cell and second in by_cell:
            change = (by_cell[second] - by_cell[first]).dropna()
            found = stats.mean_interval(change, stats.CHANGE)
            rows.append((name_contrast(first, second), *found))
    return pd.DataFrame(rows, columns=['contrast', 'mean', 'low', 'high'])


def draw(result: pd.DataFrame, axes: np.ndarray) -> None:
    """Fills axes [2 settings, eval sets + 1]: answers above, effects below."""
    styles = choose_styles(result)
    tested = result.tested.iloc[0]
    for row, (setting, rows) in enumerate(result.groupby('setting', sort=False)):
        above, below = axes[2 * row], axes[2 * row + 1]
        for p, (eval_set, of_eval_set) in enumerate(
            rows.groupby('eval_set', sort=False)
        ):
            is_whole = of_eval_set.group == ''
            is_network = of_eval_set.by == NETWORK
            networks = of_eval_set[is_whole & is_network]
            draw_cells(above[p], networks, 'score', styles)
            draw_baselines(above[p], of_eval_set[~is_network])
            title = f'{NAMES[str(eval_set)]} {setting}'.strip()
            above[p].set(ylim=(-0.04, 1.04), title=title)
            draw_groups(below[p], select_largest(of_eval_set[~is_whole]))
            if eval_set == tested:
                draw_cells(above[-1], networks, 'steps', styles)
                effects = tabulate_effects(select_largest(networks))
                draw_effects(below[-1], effects, tested)
        above[-1].set(ylabel='steps to converge', ylim=(0, None))
        above[0].set_ylabel('exact match')
    if result['size'].nunique() > 1:  # else the axis names the cells
        axes[0, 0].legend(fontsize=5)
    axes[0, 0].figure.suptitle(result.title.iloc[0])


def choose_styles(result: pd.DataFrame) -> dict[Cell, tuple[str, str]]:
    """{cell: (colour of its γ, line of its decay)} of every cell, in order."""
    gamma, decay = result.gamma, result.weight_decay
    colours = {gamma.max(): SMALL, gamma.min(): LARGE}
    lines = {decay.min(): '--', decay.max(): '-'}
    styles = {}
    for (gamma, decay), _ in result.groupby(CELL):
        look = colours.get(gamma, BETWEEN), lines.get(decay, ':')
        styles[gamma, decay] = look
    return styles


def draw_cells(
    axis: Axes,
    members: pd.DataFrame,
    column: str,
    styles: dict[Cell, tuple[str, str]],
) -> None:
    """A dot per network, hollow if it has not converged, and means with intervals.

    By size, or by cell where there is one size.
    """
    sizes = sorted(members['size'].unique())
    if len(sizes) == 1:
        shifts = range(len(styles))
        label_cells(axis, list(styles))
    else:
        shifts = np.linspace(-SPREAD, SPREAD, len(styles))
        labels = [f'{size:,}' for size in sizes]
        axis.set_xticks(range(len(sizes)), labels, fontsize=6)
        axis.set_xlabel('training examples')
    possible = stats.POSITIVE if column == 'steps' else stats.SHARE
    for shift, (cell, (colour, line)) in zip(shifts, styles.items(), strict=True):
        gamma, decay = cell
        is_cell = (members.gamma == gamma) & (members.weight_decay == decay)
        place = members['size'].map(sizes.index) + shift
        of_cell = members.assign(place=place)[is_cell]
        for is_converged, rows in of_cell.groupby('converged'):
            inside = colour if is_converged else 'none'
            axis.plot(rows.place, rows[column], 'o', ms=3, color=colour, mfc=inside)
        found = stats.mean_intervals(of_cell.groupby('place')[column], possible)
        axis.vlines(found.index, found.low, found.high, color=colour, lw=1)
        look = f'{line}_' if len(found) == 1 else line
        label = f'γ {gamma:g}, decay {decay:g}'
        axis.plot(found.index, found['mean'], look, lw=1, color=colour, label=label)


def label_cells(axis: Axes, cells: Sequence[tuple]) -> None:
    labels = [f'γ {gamma:g}\n{decay:g}' for gamma, decay in cells]
    axis.set_xticks(range(len(cells)), labels, fontsize=5)


def draw_baselines(axis: Axes, baselines: pd.DataFrame) -> None:
    """Dotted lines along the sizes, or across where there is one."""
    by_name = baselines.groupby(['by', 'size'], sort=False).score.mean()
    heights = by_name.unstack().sort_index(axis=1)
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
    """Exact match of every group of an eval set, by cell: the mean over seeds."""
    if not len(groups):
        axis.set_axis_off()
        return
    table = groups.pivot_table('score', 'group', CELL, sort=False)
    table = table.sort_index(axis=1)
    style.draw_heatmap(axis, table, 'Blues', (0, 1))
    names = [str(group).replace('_', ' ') for group in table.index]
    axis.set_yticks(range(len(table)), names, fontsize=5)
    label_cells(axis, [cell for cell, _ in groups.groupby(CELL)])


def draw_effects(axis: Axes, effects: pd.DataFrame, tested: str) -> None:
    """What γ and decay each change on the tested eval set, of all networks."""
    if not len(effects):
        axis.set_axis_off()
        return
    rows = range(len(effects))
    axis.plot(effects['mean'], rows, 'o', ms=3, color='black')
    axis.hlines(rows, effects.low, effects.high, lw=1, color='black')
    axis.axvline(0, color=GREY, lw=0.6)
    axis.set_yticks(rows, effects.contrast, fontsize=5)
    axis.set(ylim=(len(effects) - 0.5, -0.5), xlabel=f'difference, {NAMES[tested]}')


def layout(result: pd.DataFrame) -> style.Layout:
    settings = result.setting.nunique()
    columns = result.eval_set.nunique() + 1
    tallest = max(result.group.nunique() - 1, 4)  # '' is no group
    height = settings * (2.4 + 0.17 * tallest)
    return style.Layout(2 * settings, columns, 0.8 + 2.5 * columns, height + 0.6)
