"""The members of a sweep of P4's tasks: their windows of decay and their answers."""

from typing import NamedTuple

import numpy as np

from analysis.members.point import name_setting
from analysis.members.selection import list_usable_points
from analysis.windows.nulls import score_null
from anchorjax.grid import WINDOWS
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
POOLED = ('gamma', 'weight_decay', WINDOWS, 'seed')  # the rest is the setting


class Members(NamedTuple):
    """The trained members that did not diverge, [M] each, and their curves.

    Accuracy is the share of right tokens, each asked for after the right ones before
    it. An answer of SCAN has many tokens, of the other tasks one.
    """

    setting: np.ndarray  # 'depth=4': the axes that vary, but POOLED; '' if none
    gamma: np.ndarray
    decay: np.ndarray  # mean weight decay, per unit of learning rate
    window: np.ndarray  # its name: shares of training, NONE or ALL
    bounds: np.ndarray  # [M, 2] share of training at which decay first, last acts
    width: np.ndarray  # share of training in which it acts
    seed: np.ndarray
    train_loss: np.ndarray  # at the end, nats
    seen: np.ndarray  # accuracy on the training examples, at the end
    unseen: np.ndarray  # on what was never trained
    asked: np.ndarray  # what that is
    whole: np.ndarray  # share of right whole answers to what was never trained
    null: np.ndarray  # accuracy on it of a network that does not compose (nulls.py)
    moment: np.ndarray  # step at which it reaches LEARNED; NaN: never
    step_S: np.ndarray
    unseen_MS: np.ndarray


def collect_members(run: Run) -> Members:
    """All members of a sweep.

    Raises:
      UserError: another task, or no trained member.
    """
    allowed = ', '.join(map(repr, HELDOUT))
    points = list_usable_points(run, HELDOUT, f'tasks {allowed}')
    asked = HELDOUT[run.experiment.task.name]
    num_steps = run.experiment.train.num_steps
    step_S = run.curves.step.values
    rows = []
    for point in points:
        member = run.curves.sel(run.labels(**point))
        accuracy = member.token_agreement.sel(mapping='assigned')
        whole = member.agreement.sel(mapping='assigned', probe=asked.probe)
        task = run.experiment_of(**point).task
        unseen_S = accuracy.sel(probe=asked.probe).values
        bounds = point.get(WINDOWS, ())
        rows.append(
            Members(
                setting=name_setting(run, point, POOLED),
                gamma=point['gamma'],
                decay=point['weight_decay'],
                window=name_window(bounds, num_steps),
                bounds=find_ends(bounds, num_steps),
                width=measure_width(bounds, num_steps),
                seed=point['seed'],
                train_loss=float(member.train_loss[-1]),
                seen=float(accuracy.sel(probe='seen_train')[-1]),
                unseen=float(unseen_S[-1]),
                asked=asked.words,
                whole=float(whole[-1]),
                null=score_null(task, point['seed']),
                moment=find_moment(step_S, unseen_S),
                step_S=step_S,
                unseen_MS=unseen_S,
            )
        )
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return Members(*columns)._replace(step_S=step_S)


def name_window(bounds: tuple[int, ...], num_steps: int) -> str:
    """'0.25–0.5' or '0–0.125, 0.25–0.375': shares of training; NONE or ALL."""
    if measure_width(bounds, num_steps) == 0:
        return NONE
    if measure_width(bounds, num_steps) == 1:
        return ALL
    pieces = []
    for start, end in zip(bounds[0::2], bounds[1::2], strict=True):
        pieces.append(f'{start / num_steps:.3g}–{end / num_steps:.3g}')
    return ', '.join(pieces)


def measure_width(bounds: tuple[int, ...], num_steps: int) -> float:
    """The share of training in which decay acts; () is all of it."""
    if not bounds:
        return 1.0
    return float(sum(bounds[1::2]) - sum(bounds[0::2])) / num_steps


def find_ends(bounds: tuple[int, ...], num_steps: int) -> tuple[float, float]:
    """(share at which decay first acts, share at which it stops for good)."""
    if measure_width(bounds, num_steps) == 0:
        return np.nan, np.nan
    if not bounds:
        return 0.0, 1.0
    return bounds[0] / num_steps, bounds[-1] / num_steps


def find_moment(step_S: np.ndarray, accuracy_S: np.ndarray) -> float:
    """The first recorded step with accuracy of at least LEARNED; NaN: none."""
    is_learned_S = accuracy_S >= LEARNED
    return float(step_S[is_learned_S.argmax()]) if is_learned_S.any() else np.nan


def list_windows(members: Members, is_chosen_M: np.ndarray) -> list[str]:
    """The names of the windows of some members: none, all, then by start and end."""
    order = {}
    for m in np.flatnonzero(is_chosen_M):
        name = str(members.window[m])
        rank = {NONE: 0, ALL: 1}.get(name, 2)
        order[name] = (rank, name.count(','), *np.nan_to_num(members.bounds[m]))
    return sorted(order, key=order.__getitem__)


class Cell(NamedTuple):
    """Members that differ in window and seed alone."""

    setting: str
    gamma: float
    decay: float
    is_here_M: np.ndarray


def list_cells(members: Members) -> list[Cell]:
    """The cells in the order of the sweep."""
    cells = {}
    keys = zip(members.setting, members.gamma, members.decay, strict=True)
    for setting, gamma, decay in keys:
        key = (str(setting), float(gamma), float(decay))
        if key not in cells:
            is_here_M = members.setting == setting
            is_here_M &= (members.gamma == gamma) & (members.decay == decay)
            cells[key] = Cell(*key, is_here_M)
    return list(cells.values())


def name_cells(cells: list[Cell]) -> list[str]:
    """Of every cell what tells it apart: 'γ 0.8, decay 0.333', '' if alone."""
    names = []
    for cell in cells:
        parts = []
        if len({other.gamma for other in cells}) > 1:
            parts.append(f'γ {cell.gamma:g}')
        if len({other.decay for other in cells}) > 1:
            parts.append(f'decay {cell.decay:.3g}')
        if cell.setting:
            parts.append(cell.setting)
        names.append(', '.join(parts))
    return names
