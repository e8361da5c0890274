"""Which members of a sweep can be shown, and along which of its axes."""

import sys
import time
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

import numpy as np
import pandas as pd

from analysis.members.point import Point
from anchorjax.errors import UserError
from anchorjax.grid import TRACED_AXES
from anchorjax.storage.reader import Run
from anchorjax.tasks import TaskConfig

Kind = TypeVar('Kind', bound=TaskConfig)

TIE_BREAK = 1e-3  # weight of held-out agreement where two members score alike
_SECONDS_BETWEEN_LINES = 5.0


def explain_missing(run: Run, point: Point) -> str:
    """Why the member at a complete point cannot be analyzed; '' if it can."""
    results = run.results.sel(run.labels(**point))
    if not results.trained:
        return 'not trained yet'
    return 'diverged' if results.diverged >= 0 else ''


def find_common_steps(run: Run, points: list[Point]) -> np.ndarray:
    """The snapshot steps that all these members have, in order.

    Raises:
      UserError: there is none.
    """
    steps = [set(run.steps(**point)) for point in points]
    common = set.intersection(*steps)
    if not common:
        raise UserError(f'{run.folder.workdir}: its members share no snapshot step')
    return np.array(sorted(common))


def find_row_axis(axes: Iterable[Hashable]) -> str:
    """The axis to show beside gamma: the first static one, else the weight decay."""
    for axis in axes:
        if axis not in TRACED_AXES:
            return str(axis)
    return 'weight_decay'


def find_column_axis(axes: Mapping[str, tuple]) -> str:
    """The axis to show across: gamma, or the learning rate if there is one gamma."""
    has_one_gamma = len(axes['gamma']) == 1
    has_rates = len(axes['learning_rate']) > 1
    return 'learning_rate' if has_one_gamma and has_rates else 'gamma'


def choose_axis(axes: dict[str, tuple]) -> str:
    """Gamma if it varies, else the first axis that does, but for the seed."""
    varying = list_varying(axes)
    if 'gamma' in varying or not varying:
        return 'gamma'
    return varying[0]


def list_varying(axes: dict[str, tuple]) -> list[str]:
    """The axes with several values, but for the seed: what makes a setting."""
    varying = []
    for axis, values in axes.items():
        if axis != 'seed' and len(values) > 1:
            varying.append(axis)
    return varying


def rank_towards(members: pd.DataFrame, mapping: str) -> pd.DataFrame:
    """How near each network is to a solution, by columns that count in this order.

    at     it has converged at the solution
    score  the share of its answers to the unseen pair that are those of the mapping;
           held-out questions decide between equal shares
    """
    heldout = members.seen_heldout_assigned.fillna(0.0)
    score = members[f'unseen_{mapping}'] + TIE_BREAK * heldout
    return pd.DataFrame({'at': members.solution == mapping, 'score': score})


def require_task(config: TaskConfig, kind: type[Kind]) -> Kind:
    """The config of a task of this kind.

    Raises:
      UserError: it is another task.
    """
    if not isinstance(config, kind):
        raise UserError(f'task {config.name!r}: this is about the task {kind().name!r}')
    return config


def require_heldout_eval_set(run: Run) -> None:
    """Raises UserError for a task without held-out questions that have one answer."""
    has_eval_set = 'seen_heldout' in run.results.eval_set.values
    if not has_eval_set or 'assigned' not in run.results.mapping.values:
        raise UserError(
            f'task {run.experiment.task.name!r}: this figure needs an eval set '
            "'seen_heldout' with the mapping 'assigned', as the task 'anchors' has"
        )


def report_progress(items: list, name: str) -> Iterator:
    """Yields the items; every five seconds prints to stderr how many are done."""
    last_line = time.monotonic()
    for i, item in enumerate(items):
        yield item
        if time.monotonic() - last_line > _SECONDS_BETWEEN_LINES:
            last_line = time.monotonic()
            print(f'{name}: {i + 1} of {len(items)} members', file=sys.stderr)
