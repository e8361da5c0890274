"""What language models answer to equations of the anchor task, beside our members.

Stacked bars: the shares of answers to the unseen pair that are inferential, symmetric,
neither, or hold no number; the black mark is the share of right answers to seen pairs
with new key items, without which the bars say little. A panel for each setting of the
task. `python launch/prompts.py score` writes the table and this figure of it.

  python -m analysis replies --table prompts/replies.csv --run runs/phase
"""

import pathlib
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis import frame
from analysis.drawing import style
from anchorjax import cli
from anchorjax.errors import UserError
from anchorjax.grid import axis_label, short_name
from anchorjax.storage.reader import Run, open_run
from anchorjax.tasks.anchors import MAPPINGS

TITLE = 'Replies of language models'
PAPER = 'P1 slides'
CAPTION = 'What language models answer to the anchor task, beside our networks.'
ANSWERS = ('inferential', 'symmetric', 'neither', 'unparsable')
_COLOURS = {
    'inferential': style.COLOURS['inferential'],
    'symmetric': style.COLOURS['symmetric'],
    'neither': '#CCCCCC',
    'unparsable': '#FFFFFF',
}


class Result(NamedTuple):
    """Means over seeds, by setting Y of the task and network X."""

    setting_Y: np.ndarray  # 'num_anchors=8', or 'all'
    network_X: np.ndarray  # names of language models, then gammas of our members
    share_YXA: np.ndarray  # of ANSWERS to the unseen pair; NaN: not asked or trained
    heldout_YX: np.ndarray  # right answers to seen pairs with new key items
    seeds_YX: np.ndarray  # how many count


def compute(table: pd.DataFrame, run: Run | None = None) -> Result:
    """The bars of all models of a table, and of the members of a sweep.

    Args:
      table: rows of `scores.score_replies` with the column `model`. A cell counts if
        all of its prompts have a reply.
      run: its members that are trained and converged count, averaged over learning
        rates and weight decays too. Its settings must be those of the table.

    Raises:
      UserError: the task has no unseen pair, or the run is of another task or has
        other settings.
    """
    if 'unseen' not in set(table.probe):
        raise UserError('replies: this task has no unseen pair')
    settings, models = table.cohort.unique(), list(table.model.unique())
    cells = table[table.replies == table.prompts]
    if run is not None:
        members = tabulate_members(run, set(settings))
        models += list(members.model.unique())
        cells = pd.concat([cells, members[members.is_counted]])
    index = pd.MultiIndex.from_product([settings, models])
    shape = (len(settings), len(models))
    by_probe = cells.groupby(['probe', 'cohort', 'model'])
    unseen = by_probe[list(ANSWERS)].mean().loc['unseen'].reindex(index)
    heldout = by_probe.assigned.mean().get('seen_heldout').reindex(index)
    seeds = by_probe.seed.nunique().loc['unseen'].reindex(index, fill_value=0)
    return Result(
        setting_Y=np.array(settings, str),
        network_X=np.array(models, str),
        share_YXA=unseen.to_numpy().reshape(*shape, len(ANSWERS)),
        heldout_YX=heldout.to_numpy().reshape(shape),
        seeds_YX=seeds.to_numpy().reshape(shape),
    )


def tabulate_members(run: Run, settings: set[str]) -> pd.DataFrame:
    """The members of a sweep as rows of the table, and whether each one counts.

    Raises:
      UserError: as `compute`.
    """
    task = run.experiment.task.name
    if task != 'anchors':
        raise UserError(f"--run: its task is {task!r}, the prompts are of 'anchors'")
    if 'unseen' not in run.results.probe.values:
        raise UserError('--run: its task has no unseen pair, the prompts have one')
    cohorts = run.experiment.cohorts()
    found = {cohort.name for cohort in cohorts}
    if found != settings:
        raise UserError(
            f'--run: its settings are {sorted(found)}, the prompts {sorted(settings)}'
        )
    tables = []
    for cohort in cohorts:
        point = {short_name(path): axis_label(value) for path, value in cohort.static}
        results = run.results.sel(point)
        table = results.agreement.to_dataset('mapping').to_dataframe()
        is_counted = results.trained & results.converged
        table = table[[*MAPPINGS]].join(is_counted.to_dataframe('is_counted'))
        tables.append(table.reset_index().assign(cohort=cohort.name))
    members = pd.concat(tables)
    width = frame.find_width(run)
    members['model'] = [frame.name_gamma(gamma, width) for gamma in members.gamma]
    members['unparsable'] = 0.0
    members['neither'] = 1 - members.inferential - members.symmetric
    return members


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [setting, 1]."""
    for y, axis in enumerate(axes[:, 0]):
        _draw_bars(axis, result, y)
        axis.set_title(str(result.setting_Y[y]))
    axes[-1, 0].set_xlabel('share of answers to the unseen pair')
    axes[0, 0].legend(loc='upper left', bbox_to_anchor=(1, 1))


def layout(result: Result) -> style.Layout:
    rows, networks = result.heldout_YX.shape
    return style.Layout(rows, 1, width=6, height=rows * (0.7 + 0.22 * networks))


def _draw_bars(axis: Axes, result: Result, y: int) -> None:
    place_X = np.arange(len(result.network_X))
    left_X = np.zeros(len(place_X))
    for a, answer in enumerate(ANSWERS):
        share_X = np.nan_to_num(result.share_YXA[y, :, a])
        axis.barh(
            place_X,
            share_X,
            left=left_X,
            label=answer,
            color=_COLOURS[answer],
            edgecolor='#888888',
            linewidth=0.5,
        )
        left_X = left_X + share_X
    axis.plot(result.heldout_YX[y], place_X, 'k|', label='seen pairs, new keys')
    labels = []
    for name, seeds in zip(result.network_X, result.seeds_YX[y], strict=True):
        labels.append(f'{name} ({seeds})')
    axis.set_yticks(place_X, labels)
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
    result = compute(pd.read_csv(flags.table), run)
    print(*style.write_figure(result, draw, layout, flags.out / 'replies'), sep='\n')
