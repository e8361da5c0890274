"""From memory to inference: which level explains a member's answers, and when?

P1 Sec 5 and its slides (PAPERS 1.1). Four predictors, `p1/predictors.py`, are scored
on the member's own answers: over training, and at the end over the number of training
examples where the sweep has an axis task.num_examples. What a line shows

  trained_as_data          answers to trained questions, by the table of them
  heldout_as_function      to untrained questions of trained pairs, by one function a
                           pair
  unseen_as_reverse        to the unseen pairs, by one function an unordered pair
  unseen_as_composed       to the unseen pairs, by composed anchors

They are of all questions that there are, not of an eval set, so that the last two are
near the shares of `phase`, but not the same numbers.

The null of a line is what the level before would score: a table of the data explains
no other question, a function of each pair no unseen pair.

  python -m analysis levels --run runs/levels
"""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis import frame
from analysis.drawing import style
from analysis.drawing.bands import draw_band
from analysis.members.columns import name_gamma
from analysis.members.selection import (
    find_common_steps,
    report_progress,
    require_task,
)
from analysis.names import name_setting
from analysis.p1.predictors import explain_member, score_tables
from anchorjax.storage.reader import Run
from anchorjax.tasks.anchors import AnchorsConfig

TITLE = 'Levels of a solution'
PAPER = 'P1 Sec 5'
CAPTION = 'Which table or function explains what a network answers, over training.'


# Line: (kind of question, level that explains the answers). These shares are not those
# of the eval sets that other figures show, and so have other colours.
LINES = {
    'trained_as_data': ('trained', 'datum'),
    'heldout_as_function': ('held-out', 'ordered pair'),
    'unseen_as_reverse': ('unseen', 'unordered pair'),
    'unseen_as_composed': ('unseen', 'composed'),
}
# Its colour, and what it says, in the legend.
LOOKS = {
    'trained_as_data': ('#999999', 'trained: as trained'),
    'heldout_as_function': ('#009E73', 'held-out: a function of the pair'),
    'unseen_as_reverse': ('#CC79A7', 'unseen: a function of the unordered pair'),
    'unseen_as_composed': ('#56B4E9', 'unseen: composed'),
}
# The last level before those that explain answers of a kind.
BEFORE = {'held-out': 'datum', 'unseen': 'ordered pair'}


def compute(run: Run) -> pd.DataFrame:
    """Asks every trained member all questions, at every snapshot that all have.

    Returns:
      A row per member and `step`: the axes, `setting`, `num_train` (its training
      examples), a share of the member's answers for each of LINES, and the null of
      each, `null_LINE`. NaN where a task has no such questions.

    Raises:
      UserError: another task, no trained member, or no snapshot.
    """
    members = frame.list_usable(run, 'anchors')
    points = frame.find_points(run, members)
    steps = find_common_steps(run, points).tolist()
    settings = frame.name_settings(run, members, ('gamma', 'seed'))
    members = members[[*run.experiment.axes, 'converged', 'train_loss']]
    members.insert(0, 'setting', settings)
    rows = []
    for point in report_progress(points, 'levels'):
        task = require_task(run.experiment_of(**point).task, AnchorsConfig)
        of_tables = score_tables(task, point['seed'])
        of_task: dict[str, Any] = {'num_train': task.make().num_train}
        for name, (kind, level) in LINES.items():
            if kind in BEFORE:
                null = of_tables[BEFORE[kind]].loc[kind, level]
                of_task[f'null_{name}'] = null
        for step in steps:
            explained = explain_member(run.network(step, **point))
            row = {'step': step, **of_task}
            for name, (kind, level) in LINES.items():
                row[name] = explained.loc[kind, level]
            rows.append(row)
    answers = pd.DataFrame(rows, np.repeat(members.index, len(steps)))
    return frame.add_width(run, members.join(answers))


def draw(answers: pd.DataFrame, axes: np.ndarray) -> None:
    """Fills axes [gamma, settings + 1 with several sizes]: over training, over sizes.

    A single setting has a panel for each way in which its networks end. A line is the
    mean of the seeds, its band goes from the lowest to the highest.
    """
    answers = answers.assign(column=_name_columns(answers))
    columns = answers.column.unique().tolist()
    at_end = answers[answers.step == answers.step.max()]
    gammas = sorted(answers.gamma.unique())
    for row, gamma in zip(axes, gammas, strict=True):
        of_gamma = answers[answers.gamma == gamma]
        name = name_gamma(gamma, *answers.width.unique())
        for column, here in of_gamma.groupby('column'):
            axis = row[columns.index(column)]
            _draw_lines(axis, here, 'step')
            loss = here.train_loss[here.step == here.step.max()].mean()
            is_one = answers.setting.nunique() == 1
            count = f'{here.seed.nunique()} ' if is_one else ''
            lines = filter(None, (name, f'{count}{column}', f'train loss {loss:.2g}'))
            axis.set_title('\n'.join(lines), fontsize=6)
            axis.set_xlabel('step')
        if _has_sizes(answers):
            _draw_lines(row[-1], at_end[at_end.gamma == gamma], 'num_train')
            row[-1].set_title(f'{name}, at the end', fontsize=6)
            row[-1].set(xscale='log', xlabel='training examples')
        row[0].set_ylabel('share of the answers')
    for axis in axes.flat:  # no network of this gamma ends so
        axis.set_visible(bool(axis.lines))
    first = next(axis for axis in axes.flat if axis.lines)
    lines, names = first.get_legend_handles_labels()
    first.figure.legend(lines, names, loc='outside lower center', ncols=2)


def layout(answers: pd.DataFrame) -> style.Layout:
    rows = answers.gamma.nunique()
    columns = _name_columns(answers).nunique() + _has_sizes(answers)
    return style.Layout(rows, columns, 0.6 + 1.9 * columns, 0.9 + 1.7 * rows)


def _name_columns(answers: pd.DataFrame) -> pd.Series:
    """What is apart in a row: settings, or of a single one how a network ends."""
    if answers.setting.nunique() > 1:
        return answers.setting.map(name_setting)
    at_end = answers[answers.step == answers.step.max()].set_index(['gamma', 'seed'])
    is_most = [at_end.unseen_as_composed > 0.5, at_end.unseen_as_reverse > 0.5]
    words = np.select(is_most, ['mostly composed', 'mostly symmetric'], 'neither')
    ends = pd.Series(words, at_end.index, name='end')
    return answers.join(ends, on=['gamma', 'seed']).end


def _has_sizes(answers: pd.DataFrame) -> bool:
    """Whether the sweep varies the number of training examples."""
    return 'num_examples' in answers and answers.num_examples.nunique() > 1


def _draw_lines(axis: Axes, here: pd.DataFrame, across: str) -> None:
    """The lines of the members of one gamma, by step or by number of examples."""
    for name, (colour, label) in LOOKS.items():
        values = here.pivot_table(name, 'seed', across)
        draw_band(axis, values.columns.to_numpy(), values.values, colour, label)
    axis.set_ylim(-0.03, 1.03)
