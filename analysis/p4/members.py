"""The networks of a sweep of P4's tasks: their windows of decay and their answers.

Accuracy is the share of right tokens, each asked for after the right ones before it. An
answer of SCAN has many tokens, of the other tasks one.
"""

import numpy as np
import pandas as pd

from analysis import frame
from analysis.changes.crossings import find_first
from analysis.p4.nulls import score_null
from anchorjax.errors import UserError
from anchorjax.grid import WINDOWS, axis_label
from anchorjax.storage.reader import Run

# What each task asks that was never trained: the eval set, and words for it.
HELDOUT = {
    'anchor_permutations': ('unseen', 'unseen pairs'),
    'modular_addition': ('seen_heldout', 'unseen sums'),
    'scan': ('test', 'tokens of unseen commands'),
}
NONE, ALL = 'none', 'all steps'
LEARNED = 0.95  # accuracy at which an eval set counts as learned, as in E4 of P4
RELEASE = 0.125  # share of training after a window
POOLED = ('gamma', 'weight_decay', WINDOWS, 'seed')  # the rest is the setting

COLUMNS = (
    'setting',  # 'depth=4': the axes that vary, but POOLED; '' if none
    'gamma',
    'decay',  # mean weight decay, per unit of learning rate
    'window',  # its name: shares of training, NONE or ALL
    'seed',  # the last of the axes
    'start',  # share of training at which decay first acts
    'end',  # and at which it stops for good; NaN without decay
    'window_share',  # of training, in which it acts
    'num_steps',  # of training
    'train_loss',  # at the end, nats
    'converged',
    'seen',  # accuracy on the training examples, at the end
    'unseen',  # on what was never trained
    'asked',  # what that is
    'whole',  # share of right whole answers to what was never trained
    'null_unseen',  # `unseen` of a network that does not compose (nulls.py)
    'moment',  # step at which it reaches LEARNED; NaN: never
    'unseen_third',  # accuracy on it after a third of training
    'rise_inside',  # by how much it rises from the start of the window to its end
    'rise_after',  # and in RELEASE of training after it; both NaN: it ends too late
)


def tabulate(run: Run) -> pd.DataFrame:
    """A row per trained network that did not diverge, with COLUMNS.

    The index is the place of the network in the sweep, last axis fastest.

    Raises:
      UserError: another task, or no trained network.
    """
    table = frame.list_usable(run, *HELDOUT)
    eval_set, asked = HELDOUT[run.experiment.task.name]
    if WINDOWS not in table:
        table[WINDOWS] = axis_label(())
    table = table.join(describe_windows(run), on=WINDOWS)
    table = table.rename(columns={'weight_decay': 'decay'})
    curves = read_curves(run, 'seen_train', table)
    table['seen'] = curves.iloc[:, -1]
    curves = read_curves(run, eval_set, table)
    table['unseen'] = curves.iloc[:, -1]
    table['asked'] = asked
    table['whole'] = table[f'{eval_set}_assigned']
    steps = curves.columns.values
    table['moment'] = find_first(steps, curves.values.T >= LEARNED)
    table['unseen_third'] = curves.iloc[:, np.abs(steps - steps[-1] / 3).argmin()]
    table = table.assign(**measure_rises(table, curves))
    table['setting'] = frame.name_settings(run, table, POOLED)
    nulls = []
    for point in frame.find_points(run, table):
        nulls.append(score_null(run.experiment_of(**point).task, point['seed']))
    table['null_unseen'] = nulls
    table['num_steps'] = run.experiment.train.num_steps
    return table[list(COLUMNS)]


def read_curves(run: Run, eval_set: str, members: pd.DataFrame) -> pd.DataFrame:
    """Accuracy on an eval set: a row per network, a column per recorded step."""
    accuracy = run.curves.token_agreement.sel(mapping='assigned', eval_set=eval_set)
    curves = frame.select_members(run, members, accuracy).transpose('member', 'step')
    return pd.DataFrame(curves.values, members.index, curves.step.values)


def describe_windows(run: Run) -> pd.DataFrame:
    """Name, start, end and share of training of every window, by its label."""
    pieces = tabulate_pieces(run)
    pieces['share'] = pieces.end - pieces.start
    by_label = pieces.groupby('label')
    table = by_label[['window', 'start']].first()
    return table.assign(end=by_label.end.last(), window_share=by_label.share.sum())


def tabulate_pieces(run: Run) -> pd.DataFrame:
    """A row per stretch of decay of every window; without decay its ends are NaN."""
    rows = []
    for bounds in run.experiment.axes.get(WINDOWS, ((),)):
        pieces = list_pieces(bounds, run.experiment.train.num_steps)
        name = name_window(pieces)
        for piece, (start, end) in enumerate(pieces or [(np.nan, np.nan)]):
            rows.append((axis_label(bounds), name, piece, start, end))
    table = pd.DataFrame(rows, columns=['label', 'window', 'piece', 'start', 'end'])
    for name, labels in table.groupby('window').label:
        if labels.nunique() > 1:
            alike = ' and '.join(labels.unique())
            raise UserError(f'grid.decay_window = {alike}: are both called {name!r}')
    return table


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


def measure_rises(table: pd.DataFrame, curves: pd.DataFrame) -> dict[str, np.ndarray]:
    """The rise inside the window, and in RELEASE of training after it, [M] each."""
    last = curves.columns.to_numpy()[-1]
    end_M = table.end.where(table.end <= 1 - RELEASE).to_numpy()
    at_start_M = read_at(curves, table.start.to_numpy() * last)
    at_end_M = read_at(curves, end_M * last)
    later_M = read_at(curves, (end_M + RELEASE) * last)
    return {'rise_inside': at_end_M - at_start_M, 'rise_after': later_M - at_end_M}


def read_at(curves: pd.DataFrame, wanted_M: np.ndarray) -> np.ndarray:
    """Every member's last record up to its step, [M]; NaN at a step of NaN.

    Before the first record it is the first.
    """
    step_M = np.round(np.nan_to_num(wanted_M))
    place_M = np.searchsorted(curves.columns, step_M, 'right') - 1
    found_M = curves.values[np.arange(len(curves)), place_M.clip(0)]
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
