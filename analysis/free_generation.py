"""Does a network judge by its own proof? PrOntoQA by free generation (P1 Fig 7).

Training scores True or False after the right proof, which needs only its last sentence.
Here every network continues new questions by its most likely tokens, and is judged by
what it writes; the shares are MEASURES of analysis/real/writing.py.

  python analysis/free_generation.py --run runs/prontoqa
"""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from analysis.drawing import command, style
from analysis.members.convergence import describe_criterion
from analysis.members.member import member_of
from analysis.members.selection import count_diverged, report_progress
from analysis.members.statistics import mean_interval
from analysis.real import corners
from analysis.real.members import Table, list_points, tabulate_members
from analysis.real.writing import MEASURES, let_write, measure
from anchorjax.errors import UserError, require
from anchorjax.experiment import Experiment
from anchorjax.storage.reader import Run

NUMBER = 200  # questions
COLOURS = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#999999')


class Result(NamedTuple):
    """Shares of new questions, of every member."""

    members: Table
    criterion: str  # of convergence
    diverged: int
    questions: int
    share_MK: np.ndarray  # along MEASURES


def compute(run: Run, number: int = NUMBER) -> Result:
    """What all trained members write at the end of their training.

    Args:
      number: of questions, of those of the probe; all of them if it has fewer.

    Raises:
      UserError: no trained member, or another task, or one without proofs.
      StoreError: a snapshot is missing or damaged.
    """
    points = list_points(run)
    _require_proofs(run.experiment)
    require(number >= 1, 'number', number, 'at least 1')
    shares = []
    for point in report_progress(points, 'free_generation'):
        shares.append(measure(let_write(member_of(run, **point), number)))
    return Result(
        members=tabulate_members(run, points),
        criterion=describe_criterion(run.experiment),
        diverged=count_diverged(run),
        questions=min(number, run.experiment.task.probe_examples),
        share_MK=np.array(shares),
    )


def _require_proofs(experiment: Experiment) -> None:
    task = experiment.task
    if task.name != 'prontoqa':
        raise UserError(f"task {task.name!r}: this figure is about the task 'prontoqa'")
    if not task.chain_of_thought:
        line = 'task.chain_of_thought = False: there is no proof to write'
        raise UserError(line)


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [setting, cell]: shares by size, mean of seeds and all of them."""
    members = result.members
    settings = dict.fromkeys(members['setting'].tolist())
    for row, setting in enumerate(settings):
        is_here_M = members['setting'] == setting
        for column, cell in enumerate(corners.list_cells(members)):
            axis = axes[row, column]
            _draw_cell(axis, result, is_here_M & corners.is_at(members, cell))
            axis.set_title(' '.join([cell.title, setting]).strip(), fontsize=7)
            axis.set(ylim=(-0.03, 1.03), xlabel='training examples')
        axes[row, 0].set_ylabel(f'share of {result.questions} new questions')
    axes[0, 0].legend(fontsize=5)


def _draw_cell(axis: Axes, result: Result, is_here_M: np.ndarray) -> None:
    size_M = result.members['size']
    sizes = np.unique(size_M[is_here_M])
    for k, name in enumerate(MEASURES):
        means = []
        for x, size in enumerate(sizes):
            shares = result.share_MK[is_here_M & (size_M == size), k]
            means.append(mean_interval(shares).mean)
            axis.plot(np.full(len(shares), x), shares, '.', ms=3, color=COLOURS[k])
        axis.plot(range(len(sizes)), means, '-', lw=1, color=COLOURS[k], label=name)
    axis.set_xticks(range(len(sizes)), [f'{size:,}' for size in sizes], fontsize=6)


def layout(result: Result) -> style.Layout:
    rows = len(dict.fromkeys(result.members['setting'].tolist()))
    columns = len(corners.list_cells(result.members))
    return style.Layout(rows, columns, 0.6 + 2.2 * columns, 0.4 + 2.4 * rows)


if __name__ == '__main__':
    command.run_sweep_figure(
        __doc__,
        'free_generation',
        compute,
        draw,
        layout,
        number=command.Flag(int, NUMBER, 'of new questions'),
    )
