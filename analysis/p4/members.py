"""The networks of a sweep of P4's tasks: their windows of decay and their answers.

Accuracy is the share of right tokens, each asked for after the right ones before it. An
answer of SCAN has many tokens, of the other tasks one.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from analysis.frame import find_points, find_usable
from analysis.members.point import name_setting
from analysis.members.selection import require_task
from analysis.p4.nulls import score_null
from anchorjax.errors import UserError
from anchorjax.grid import WINDOWS, axis_label
from anchorjax.storage.reader import Run


class Question(NamedTuple):
    """What a task asks that was never trained."""

    probe: str
    words: str


HELDOUT = {
    'anchor_permutations': Question('unseen', 'unseen pairs'),
    'modular_addition': Question('seen_heldout', 'unseen sums'),
    'scan': Question('test', 'tokens of unseen commands'),
}
NONE, ALL = 'none', 'all steps'
LEARNED = 0.95  # accuracy at which a probe counts as learned, as in E4 of P4
RELEASE = 0.125  # share of training after a window
POOLED = ('gamma', 'weight_decay', WINDOWS, 'seed')  # the rest is the setting

COLUMNS = (
    'setting',  # 'depth=4': the axes that vary, but POOLED; '' if none
    'gamma',
    'decay',  # mean weight decay, per unit of learning rate
    'window',  # its name: shares of training, NONE or ALL
    'start',  # share of training at which decay first acts
    'end',  # and at which it stops for good; NaN without decay
    'width',  # share of training in which it acts
    'seed',
    'num_steps',  # of training
    'train_loss',  # at the end, nats
    'converged',
    'seen',  # accuracy on the training examples, at the end
    'unseen',  # on what was never trained
    'asked',  # what that is
    'whole',  # share of right whole answers to what was never trained
    'null',  # accuracy on it of a network that does not compose (nulls.py)
    'moment',  # step at which it reaches LEARNED; NaN: never
    'unseen_third',  # accuracy on it after a third of training
    'rise_inside',  # by how much it rises from the start of the window to its end
    'rise_after',  # and in RELEASE of training after it; NaN: the window ends too late
)


def tabulate(run: Run) -> pd.DataFrame:
    """A row per trained network that did not diverge, with COLUMNS.

    The index is the place of the network in the sweep, last axis fastest.

    Raises:
      UserError: another task, or no trained network.
    """
    unseen_MS, step_S = read_curves(run)
    table = read_ends(run)
    table = table.merge(describe_windows(run), 'left', on=WINDOWS)
    table['moment'] = find_moments(unseen_MS, step_S)
    third = np.abs(step_S - step_S[-1] / 3).argmin()
    table['unseen_third'] = unseen_MS[:, third]
    inside_M, after_M = measure_rises(table, unseen_MS, step_S)
    table = table.assign(rise_inside=inside_M, rise_after=after_M)

    table = find_usable(table).rename(columns={'weight_decay': 'decay'})
    if not len(table):
        raise UserError(f'{run.folder.workdir}: no member is trained yet')
    settings = []
    nulls = []
    for point in find_points(run, table):
        settings.append(name_setting(run, point, POOLED))
        nulls.append(score_null(run.experiment_of(**point).task, point['seed']))
    table = table.assign(setting=settings, null=nulls)
    table['asked'] = find_question(run).words
    table['num_steps'] = run.experiment.train.num_steps
    return table[list(COLUMNS)]


def find_question(run: Run) -> Question:
    """What the task of a run asks that was never trained.

    Raises:
      UserError: it is none of P4's tasks.
    """
    require_task(run, HELDOUT, f'tasks {", ".join(map(repr, HELDOUT))}')
    return HELDOUT[run.experiment.task.name]


def read_curves(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """(accuracy on what was never trained [M, S], steps [S]) of all of a sweep."""
    probe = find_question(run).probe
    accuracy = run.curves.token_agreement.sel(mapping='assigned', probe=probe)
    accuracy = accuracy.transpose(*run.experiment.axes, 'step')
    return accuracy.values.reshape(-1, accuracy.sizes['step']), accuracy.step.values


def read_ends(run: Run) -> pd.DataFrame:
    """The axes of every member of a sweep, and its numbers at the last step."""
    results = run.results.sel(mapping='assigned').drop_vars(['mapping', 'step'])
    probe = find_question(run).probe
    heldout = results.sel(probe=probe, drop=True)
    trained = results.sel(probe='seen_train', drop=True)
    columns = {
        'trained': results.trained,
        'diverged': results.diverged,
        'converged': results.converged,
        'train_loss': results.train_loss,
        'seen': trained.token_agreement,
        'unseen': heldout.token_agreement,
        'whole': heldout.agreement,
    }
    axes = list(run.experiment.axes)
    table = xr.Dataset(columns).to_dataframe(axes).reset_index()
    if WINDOWS not in table:
        table[WINDOWS] = axis_label(())
    return table


def describe_windows(run: Run) -> pd.DataFrame:
    """A row per window of a sweep: its label on the axis, name, start, end, width."""
    rows = []
    for bounds in run.experiment.axes.get(WINDOWS, ((),)):
        pieces = list_pieces(bounds, run.experiment.train.num_steps)
        starts, ends = np.array(pieces or [(np.nan, np.nan)]).T
        width = np.nansum(ends - starts)
        name = name_window(pieces)
        rows.append((axis_label(bounds), name, starts[0], ends[-1], width))
    return pd.DataFrame(rows, columns=[WINDOWS, 'window', 'start', 'end', 'width'])


def list_pieces(bounds: tuple[int, ...], num_steps: int) -> list[tuple[float, float]]:
    """(start, end) of each stretch of decay, as shares of training; () is all of it."""
    if not bounds:
        return [(0.0, 1.0)]
    pieces = []
    for start, end in zip(bounds[0::2], bounds[1::2], strict=True):
        if start < end:
            pieces.append((start / num_steps, end / num_steps))
    return pieces


def name_window(pieces: list[tuple[float, float]]) -> str:
    """'0.25–0.5' or '0–0.125, 0.25–0.375': shares of training; NONE or ALL."""
    if not pieces:
        return NONE
    if pieces == [(0.0, 1.0)]:
        return ALL
    return ', '.join(f'{start:.3g}–{end:.3g}' for start, end in pieces)


def find_moments(unseen_MS: np.ndarray, step_S: np.ndarray) -> np.ndarray:
    """The first recorded step with an accuracy of at least LEARNED, [M]; NaN: none."""
    is_learned_MS = unseen_MS >= LEARNED
    first_M = step_S[is_learned_MS.argmax(-1)].astype(float)
    return np.where(is_learned_MS.any(-1), first_M, np.nan)


def measure_rises(
    table: pd.DataFrame, unseen_MS: np.ndarray, step_S: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(rise inside the window, rise in RELEASE of training after it), [M] each."""
    last = step_S[-1]
    end_M = table.end.where(table.end <= 1 - RELEASE)
    at_start_M = read_at(unseen_MS, step_S, table.start * last)
    at_end_M = read_at(unseen_MS, step_S, end_M * last)
    later_M = read_at(unseen_MS, step_S, (end_M + RELEASE) * last)
    return at_end_M - at_start_M, later_M - at_end_M


def read_at(
    curve_MS: np.ndarray, step_S: np.ndarray, wanted_M: np.ndarray
) -> np.ndarray:
    """Every member's last record up to its step, [M]; NaN at a step of NaN.

    Before the first record it is the first.
    """
    step_M = np.round(np.nan_to_num(wanted_M))
    place_M = np.searchsorted(step_S, step_M, 'right') - 1
    found_M = curve_MS[np.arange(len(curve_MS)), place_M.clip(0)]
    return np.where(np.isnan(wanted_M), np.nan, found_M)


def list_windows(members: pd.DataFrame) -> list[str]:
    """The names of windows in order: none, all, one piece by its ends, then several."""
    windows = members.drop_duplicates('window')
    rank = windows.window.map({NONE: 0, ALL: 1}).fillna(2)
    pieces = windows.window.str.count(',')
    order = windows.assign(rank=rank, pieces=pieces)
    return order.sort_values(['rank', 'pieces', 'start', 'end']).window.tolist()


def name_cells(members: pd.DataFrame) -> pd.Series:
    """What tells rows apart besides window and seed: 'γ 0.8, decay 0.333'."""
    names = pd.Series('', members.index)
    columns = {'gamma': 'γ {:g}', 'decay': 'decay {:.3g}', 'setting': '{}'}
    for column, words in columns.items():
        if members[column].nunique() > 1:
            names += ', ' + members[column].map(words.format)
    return names.str.removeprefix(', ')
