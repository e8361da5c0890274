"""Does a network judge by its own proof? PrOntoQA by free generation (P1 Fig 7).

Training scores True or False after the right proof, which needs only its last sentence.
Here every network continues new questions by its most likely tokens, and is judged by
what it writes; the names of the shares are in MEASURES.

  python analysis/free_generation.py --run runs/prontoqa
"""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from analysis.drawing import command, style
from analysis.members.decoding import make_predict, write_answers
from analysis.members.member import Member, draw_probes, member_of
from analysis.members.selection import report_progress
from analysis.members.statistics import mean_interval
from analysis.real import corners
from analysis.real.members import (
    Table,
    count_diverged,
    describe_criterion,
    list_points,
    tabulate_members,
)
from anchorjax.config import Experiment
from anchorjax.errors import UserError, require
from anchorjax.storage.reader import Run
from anchorjax.tasks.prontoqa.texts import COLON, END, FALSE, TRUE

NUMBER = 200  # questions
PROBE = 'seen_heldout_proof'
# Shares of the questions; of (*) those whose proof is wrong, NaN without any.
MEASURES = (
    'label after right proof',  # teacher forced: what training records
    'label after own proof',
    'own proof right',
    'proof and label right',  # exact match of the whole answer
    'label fits own proof',  # the label that its last sentence gives to the query
    'label after wrong proof',  # (*)
    'ended',  # has an END
)
COLOURS = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#999999')


class Written(NamedTuple):
    """What a network wrote after each question, and what is right."""

    text_BL: np.ndarray  # with the question
    right_BL: np.ndarray
    begin_B: np.ndarray  # where the answer begins
    label_after_right_proof_B: np.ndarray


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


def let_write(member: Member, number: int) -> Written:
    """What a member writes after the first questions of the probe."""
    probes = draw_probes(member.experiment.task, member.point['seed'])
    p = member.task.probe_names.index(PROBE)
    tokens_BT = np.asarray(probes.tokens_PBT[p, :number])
    right_BT = np.asarray(probes.targets_PRBQ[p, 0, :number])
    is_scored_BT = np.asarray(probes.weights_PBQ[p, :number]) > 0
    begin_B = is_scored_BT.argmax(-1) + 1
    predict = make_predict(member)
    right_BL = np.concatenate([tokens_BT[:, :1], right_BT], axis=1)
    return Written(
        text_BL=write_answers(predict, tokens_BT, begin_B, END),
        right_BL=right_BL,
        begin_B=begin_B,
        label_after_right_proof_B=_take(
            predict(tokens_BT), find_end(right_BL, begin_B) - 2
        ),
    )


def measure(written: Written) -> list[float]:
    """The shares of MEASURES."""
    end_B = find_end(written.text_BL, written.begin_B)
    right_end_B = find_end(written.right_BL, written.begin_B)
    has_ended_B = end_B < written.text_BL.shape[1]
    right_label_B = _take(written.right_BL, right_end_B - 1)
    label_B = np.where(has_ended_B, _take(written.text_BL, end_B - 1), END)
    is_label_right_B = label_B == right_label_B
    is_proof_right_B = _find_right_proofs(written, end_B, right_end_B)
    is_exact_B = (written.text_BL == written.right_BL).all(1)
    fits_B = _find_fitting(written, end_B, label_B)
    of_wrong = np.nan
    if not is_proof_right_B.all():
        of_wrong = is_label_right_B[~is_proof_right_B].mean()
    return [
        float((written.label_after_right_proof_B == right_label_B).mean()),
        float(is_label_right_B.mean()),
        float(is_proof_right_B.mean()),
        float(is_exact_B.mean()),
        float(fits_B.mean()),
        float(of_wrong),
        float(has_ended_B.mean()),
    ]


def find_end(text_BL: np.ndarray, begin_B: np.ndarray) -> np.ndarray:
    """The place of the first END of every answer; L where there is none."""
    length = text_BL.shape[1]
    is_answer_BL = np.arange(length) >= begin_B[:, None]
    is_end_BL = is_answer_BL & (text_BL == END)
    return np.where(is_end_BL.any(1), is_end_BL.argmax(1), length)


def _find_right_proofs(
    written: Written, end_B: np.ndarray, right_end_B: np.ndarray
) -> np.ndarray:
    """Whether all before the label is right, bool [B]."""
    is_proof_BL = np.arange(written.text_BL.shape[1]) < right_end_B[:, None] - 1
    is_same_BL = (written.text_BL == written.right_BL) | ~is_proof_BL
    return is_same_BL.all(1) & (end_B == right_end_B)


def _find_fitting(
    written: Written, end_B: np.ndarray, label_B: np.ndarray
) -> np.ndarray:
    """Whether the label is what the last sentence of the own proof says, bool [B].

    True if that sentence is the query, False if it is another one.
    """
    fits = []
    texts = zip(written.text_BL, written.begin_B, end_B, label_B, strict=True)
    for text_L, begin, end, label in texts:
        query = text_L[:begin].tolist()[:-2]  # without A :
        query = query[_find_last(query, COLON) + 1 :]
        answer = text_L[begin : max(begin, end - 1)].tolist()
        says_true = len(answer) >= len(query) and answer[-len(query) :] == query
        fits.append(label == (TRUE if says_true else FALSE))
    return np.array(fits)


def _find_last(tokens: list[int], token: int) -> int:
    return len(tokens) - 1 - tokens[::-1].index(token)


def _take(values_BL: np.ndarray, place_B: np.ndarray) -> np.ndarray:
    return values_BL[np.arange(len(values_BL)), place_B]


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
