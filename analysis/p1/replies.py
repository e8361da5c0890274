"""What language models answer to equations of the anchor task, beside our members.

Stacked bars: the shares of answers to the unseen pair that are composed, symmetric,
neither, or hold no number; the black mark is the share of right answers to seen pairs
with new key items, without which the bars say little. A panel for each setting of the
task. `python launch/prompts.py score` writes the table and this figure of it.

  python -m analysis replies --table prompts/replies.csv --run runs/phase
"""

import pathlib

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis import frame
from analysis.drawing import style
from analysis.members.columns import name_gamma
from anchorjax import cli
from anchorjax.errors import UserError
from anchorjax.grid import axis_label, short_name
from anchorjax.storage.reader import Run, open_run
from anchorjax.tasks.anchors import MAPPINGS, AnchorsConfig, find_row, list_shifts

TITLE = 'Replies of language models'
PAPER = 'P1 slides'
CAPTION = 'What language models answer to the anchor task, beside our networks.'
# The shares that the table has, and their colours.
ANSWERS = {
    'composed': style.COLOURS['composed'],
    'symmetric': style.COLOURS['symmetric'],
    'neither': '#CCCCCC',
    'unparsable': '#FFFFFF',
}


def compute(table: pd.DataFrame, run: Run | None = None) -> pd.DataFrame:
    """A bar for each setting of the task (`cohort`) and network (`model`): means.

    Networks are language models by name, then our members by γ. A bar has the share of
    each of ANSWERS to the unseen pair (NaN: not asked or not trained), `heldout` of
    right answers to seen pairs with new key items, and how many `seeds` count. Where
    one answer is composed and symmetric, it counts as composed.

    Args:
      table: rows of `scores.score_replies` with the column `model`. A cell counts if
        all of its prompts have a reply.
      run: its members that are trained and converged count, averaged over learning
        rates and weight decays too. Its settings must be those of the table.

    Raises:
      UserError: the task has no unseen pair, or the run is of another task or has
        other settings.
    """
    if 'unseen' not in set(table.eval_set):
        raise UserError('replies: this task has no unseen pair')
    cells = table.assign(counts=table.replies == table.prompts)
    if run is not None:
        members = tabulate_members(run, set(table.cohort))
        cells = pd.concat([cells, members])
    bar = ['cohort', 'model']
    names = [cells[name].unique() for name in bar]
    all_bars = pd.MultiIndex.from_product(names, names=bar)
    counted = cells[cells.counts]
    unseen = counted[counted.eval_set == 'unseen'].groupby(bar)
    heldout = counted[counted.eval_set == 'seen_heldout'].groupby(bar)
    bars = unseen[list(ANSWERS)].mean()
    bars['heldout'] = heldout.assigned.mean()
    bars['seeds'] = unseen.seed.nunique()
    bars = bars.reindex(all_bars).reset_index()
    return bars.fillna({'seeds': 0})


def tabulate_members(run: Run, settings: set[str]) -> pd.DataFrame:
    """The members of a sweep as rows of the table, and whether each one `counts`.

    Raises:
      UserError: as `compute`.
    """
    task = run.experiment.task.name
    if task != 'anchors':
        raise UserError(f"--run: its task is {task!r}, the prompts are of 'anchors'")
    if 'unseen' not in run.results.eval_set.values:
        raise UserError('--run: its task has no unseen pair, the prompts have one')
    cohorts = run.experiment.cohorts()
    found = {cohort.name for cohort in cohorts}
    if found != settings:
        raise UserError(
            f'--run: its settings are {sorted(found)}, the prompts {sorted(settings)}'
        )
    counts = run.results.trained & run.results.converged
    answers = run.results.agreement.to_dataset('mapping')[[*MAPPINGS]]
    answers = answers.assign(counts=counts)
    tables = []
    for cohort in cohorts:
        point = {short_name(path): axis_label(value) for path, value in cohort.static}
        table = answers.sel(point).to_dataframe().reset_index()
        if _has_one_answer(run.experiment.for_cohort(cohort).task):
            table['symmetric'] = 0.0  # as in the scores of replies
        tables.append(table.assign(cohort=cohort.name))
    members = pd.concat(tables)
    width = frame.find_width(run)
    members['model'] = [name_gamma(gamma, width) for gamma in members.gamma]
    members['unparsable'] = 0.0
    members['neither'] = 1 - members.composed - members.symmetric
    return members


def _has_one_answer(task: AnchorsConfig) -> bool:
    """Whether the reverse of the unseen pair is trained on what composing gives."""
    for pair in task.unseen_pairs[:1]:
        composed, symmetric, _ = list_shifts(task)[find_row(task, pair)]
        return composed == symmetric
    return False


def draw(bars: pd.DataFrame, axes: np.ndarray) -> None:
    """Fills axes [setting, 1]."""
    settings = bars.groupby('cohort', sort=False)
    for axis, (setting, here) in zip(axes[:, 0], settings, strict=True):
        _draw_bars(axis, here)
        axis.set_title(setting)
    axes[-1, 0].set_xlabel('share of answers to the unseen pair')
    axes[0, 0].legend(loc='upper left', bbox_to_anchor=(1, 1))


def layout(bars: pd.DataFrame) -> style.Layout:
    rows = bars.cohort.nunique()
    height = 0.7 + 0.22 * bars.model.nunique()
    return style.Layout(rows, 1, width=6, height=rows * height)


def _draw_bars(axis: Axes, bars: pd.DataFrame) -> None:
    places = np.arange(len(bars))
    left = np.zeros(len(bars))
    look = {'edgecolor': '#888888', 'linewidth': 0.5}
    for answer, colour in ANSWERS.items():
        shares = bars[answer].fillna(0).values
        axis.barh(places, shares, left=left, label=answer, color=colour, **look)
        left = left + shares
    axis.plot(bars.heldout, places, 'k|', label='seen pairs, new keys')
    labels = bars.model + ' (' + bars.seeds.astype(int).astype(str) + ')'
    axis.set_yticks(places, labels)
    axis.invert_yaxis()
    axis.set_xlim(0, 1)


def command(words: list[str]) -> None:
    """Draws the table of `prompts.py score`."""
    parser = cli.Parser(prog='python -m analysis replies', description=__doc__)
    parser.add_argument('--table', type=cli.parse_file, required=True, metavar='CSV')
    parser.add_argument('--run', type=cli.parse_folder, help='members to compare with')
    parser.add_argument('--out', type=cli.parse_folder, default=pathlib.Path('figures'))
    flags = parser.parse_args(words)
    run = open_run(flags.run) if flags.run else None
    table = pd.read_csv(flags.table, dtype={'model': str})
    result = compute(table, run)
    print(*style.write_figure(result, draw, layout, flags.out / 'replies'), sep='\n')
