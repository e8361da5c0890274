"""From memory to inference: which level explains a member's answers, and when?

P1 Sec 5 and its slides (PAPERS 1.1). Four predictors, `members/levels.py`, are scored
on the member's own answers: over training, and at the end over the number of training
examples where the sweep has an axis task.num_examples. What a line shows

  trained, as data           answers to trained questions, by the table of them
  held-out, as a function    to untrained questions of trained pairs, by one function
                             a pair
  unseen, as the reverse     to the unseen pairs, by one function an unordered pair
  unseen, composed           to the unseen pairs, by composed anchors

The null of a line is what the level before would score: a table of the data explains
no other question, a function of each pair no unseen pair (`Result.table_MLKL`). Grey
lines are the network before training.

  python -m analysis levels --run runs/levels
"""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from analysis.drawing import style
from analysis.drawing.bands import draw_band
from analysis.members.levels import (
    KINDS,
    LEVELS,
    explain_member,
    score_tables,
)
from analysis.members.member import member_of
from analysis.members.selection import find_common_steps, report_progress
from analysis.members.table import (
    Panel,
    Table,
    list_panels,
    list_points,
    tabulate_members,
)
from anchorjax.storage.reader import Run

TITLE = 'Levels of a solution'
PAPER = 'P1 Sec 5'
CAPTION = 'Which table or function explains what a network answers, over training.'


# (kind of question, level): what is drawn, and where each level first says more.
LINES = (
    ('trained', 'datum'),
    ('held-out', 'ordered pair'),
    ('unseen', 'unordered pair'),
    ('unseen', 'composed'),
)
LABELS = (
    'trained, as data',
    'held-out, as a function',
    'unseen, as the reverse',
    'unseen, composed',
)
_COLOURS = (
    style.COLOURS['memorizing'],
    style.COLOURS['third'],
    style.COLOURS['symmetric'],
    style.COLOURS['inferential'],
)


class Result(NamedTuple):
    """Of every member [M] at the snapshots [S] that all of them have.

    K: KINDS of questions, L: LEVELS. NaN where a task has no such questions.
    """

    members: Table
    num_train_M: np.ndarray  # training examples
    has_sizes: bool  # whether the sweep varies their number, and nothing with it
    step_S: np.ndarray
    share_MSKL: np.ndarray  # of the member's answers, explained by each level
    table_MLKL: np.ndarray  # the same of a predictor that is one level, [level, K, L]

    def line(self, i: int) -> np.ndarray:
        """What LINES[i] shows, [M, S]."""
        kind, level = LINES[i]
        return self.share_MSKL[..., KINDS.index(kind), LEVELS.index(level)]


def compute(run: Run) -> Result:
    """Asks every trained member all questions, at every snapshot that all have.

    Raises:
      UserError: another task, no trained member, or no snapshot.
    """
    points = list_points(run, 'anchors')
    step_S = find_common_steps(run, points)
    shares, tables, num_train = [], [], []
    for point in report_progress(points, 'levels'):
        of_member = []
        for step in step_S.tolist():
            member = member_of(run, step, **point)
            of_member.append(explain_member(member).share_KL)
        shares.append(of_member)
        task = run.experiment_of(**point).task
        tables.append(score_tables(task, point['seed']))
        num_train.append(task.make().num_train)
    return Result(
        members=tabulate_members(run, points),
        num_train_M=np.array(num_train),
        has_sizes=len(run.experiment.axes.get('num_examples', ())) > 1,
        step_S=step_S,
        share_MSKL=np.array(shares),
        table_MLKL=np.array(tables),
    )


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [gamma, settings + 1 with several sizes]: over training, over sizes.

    A line is the mean of the seeds, its band goes from the lowest to the highest.
    """
    gammas = np.unique(result.members['gamma'])
    settings = list(dict.fromkeys(result.members['setting'].tolist()))
    for panel in list_panels(result.members):
        row = int(np.flatnonzero(gammas == panel.gamma)[0])
        axis = axes[row, settings.index(panel.setting)]
        _draw_training(axis, result, panel)
    if result.has_sizes:
        for row, gamma in enumerate(gammas):
            _draw_sizes(axes[row, -1], result, gamma)
    for axis in axes[:, 0]:
        axis.set_ylabel('share of the answers')
    axes[0, 0].legend(fontsize=5)


def layout(result: Result) -> style.Layout:
    rows = len(np.unique(result.members['gamma']))
    columns = len(np.unique(result.members['setting'])) + result.has_sizes
    return style.Layout(rows, columns, 0.6 + 1.9 * columns, 0.4 + 1.7 * rows)


def _draw_training(axis: Axes, result: Result, panel: Panel) -> None:
    for i, label in enumerate(LABELS):
        values_MS = result.line(i)[panel.is_here_M]
        draw_band(axis, result.step_S, values_MS, _COLOURS[i], label)
    loss = result.members['train_loss'][panel.is_here_M].mean()
    axis.set_title(f'{panel.title}\ntrain loss {loss:.2g}', fontsize=6)
    axis.set(ylim=(-0.03, 1.03), xlabel='step')


def _draw_sizes(axis: Axes, result: Result, gamma: float) -> None:
    is_here_M = result.members['gamma'] == gamma
    sizes = np.unique(result.num_train_M)
    for i in range(len(LINES)):
        columns = []
        for size in sizes:
            is_size_M = is_here_M & (result.num_train_M == size)
            columns.append(result.line(i)[is_size_M, -1])
        lengths = {len(column) for column in columns}
        if len(lengths) == 1:
            draw_band(axis, sizes, np.stack(columns, -1), _COLOURS[i], None)
    axis.set_title(f'γ {gamma:g}, at the end', fontsize=6)
    axis.set(xscale='log', ylim=(-0.03, 1.03), xlabel='training examples')
