"""The members of a sweep that can be analyzed, and what each of them ends at."""

import sys
import time
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import xarray as xr

from analysis.members.point import (
    Point,
    complete_point,
    name_point,
)
from anchorjax.errors import UserError
from anchorjax.grid import TRACED_AXES
from anchorjax.storage.reader import Run

_SECONDS_BETWEEN_LINES = 5.0

Index = tuple[int, ...]  # of a member, along the axes of the sweep


class Span(NamedTuple):
    """The part of a member's training to look at, between two of its snapshots."""

    point: Point
    first: int  # step
    last: int


def iterate_points(run: Run) -> Iterator[tuple[Index, Point]]:
    """(index along the axes, point) of every member, the last axis fastest."""
    axes = run.experiment.axes
    shape = map(len, axes.values())
    for index in np.ndindex(*shape):
        point = {}
        for axis, i in zip(axes, index, strict=True):
            point[axis] = axes[axis][i]
        yield index, point


def iterate_members(run: Run) -> Iterator[tuple[Index, Point]]:
    """(index along the axes, point) of every member that can be analyzed."""
    return _iterate_chosen(run, find_usable(run))


def require_task(run: Run, tasks: Collection[str], described: str) -> None:
    """Requires a run of one of these tasks.

    Args:
      described: the tasks in the words of the error: "task 'scan'".

    Raises:
      UserError: another task.
    """
    task = run.experiment.task.name
    if task not in tasks:
        raise UserError(f'task {task!r}: this figure is about the {described}')


def find_usable(run: Run) -> xr.DataArray:
    """Whether each member can be analyzed: trained, and not diverged; bool [axes]."""
    return run.results.trained & (run.results.diverged < 0)


def count_diverged(run: Run) -> int:
    """How many trained members diverged: no figure shows them."""
    return int(run.results.trained.sum()) - int(find_usable(run).sum())


def find_converged(run: Run) -> xr.DataArray:
    """Whether each member can be analyzed and has converged; bool [axes].

    A claim counts these members only.
    """
    return find_usable(run) & run.results.converged


def iterate_converged(run: Run) -> Iterator[tuple[Index, Point]]:
    """(index along the axes, point) of every member that has converged."""
    return _iterate_chosen(run, find_converged(run))


def _iterate_chosen(run: Run, is_chosen: xr.DataArray) -> Iterator[tuple[Index, Point]]:
    for index, point in iterate_points(run):
        if is_chosen.values[index]:
            yield index, point


def explain_missing(run: Run, point: Point) -> str:
    """Why the member at a complete point cannot be analyzed; '' if it can."""
    results = run.results.sel(run.labels(**point))
    if not results.trained:
        return 'not trained yet'
    return 'diverged' if results.diverged >= 0 else ''


def find_spans(run: Run, start: int) -> tuple[list[Span], list[str]]:
    """(spans from the first snapshot at or after `start`, a line per member without).

    Raises:
      UserError: no member has two snapshots.
    """
    spans = []
    left_out = []
    for _, point in iterate_points(run):
        steps = [step for step in run.steps(**point) if step >= start]
        reason = explain_missing(run, point)
        if not reason and len(steps) < 2:
            reason = 'a single snapshot'
        if reason:
            where = name_point(run, point) or 'the only member'
            left_out.append(f'{where}: {reason}')
        else:
            spans.append(Span(point, steps[0], steps[-1]))
    if not spans:
        raise UserError(
            f'no member has a snapshot of its start and of its end: {left_out[0]}'
        )
    return spans, left_out


def find_common_steps(run: Run, points: list[Point]) -> np.ndarray:
    """The snapshot steps that all these members have, in order.

    Raises:
      UserError: there is none.
    """
    common = set(run.steps(**points[0]))
    for point in points[1:]:
        common &= set(run.steps(**point))
    if not common:
        raise UserError(f'{run.folder.workdir}: its members share no snapshot step')
    return np.array(sorted(common))


def find_trained_gammas(run: Run, rest: Point) -> tuple[list[float], list[str]]:
    """(gammas with a member at `rest`, the other axes; a line for every other gamma).

    Raises:
      UserError: there is no such axis or value, or none of the members is trained.
    """
    gammas = []
    left_out = []
    for gamma in sorted(run.experiment.axes['gamma']):
        point = complete_point(run, rest | {'gamma': gamma})
        reason = explain_missing(run, point)
        if reason:
            left_out.append(f'γ {gamma:g} {reason}')
        else:
            gammas.append(gamma)
    if not gammas:
        where = name_point(run, rest) or 'any gamma'
        raise UserError(f'no member at {where} is trained: {", ".join(left_out)}')
    return gammas, left_out


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


def require_heldout_probe(run: Run) -> None:
    """Raises UserError for a task without held-out questions that have one answer."""
    has_probe = 'seen_heldout' in run.results.probe.values
    if not has_probe or 'assigned' not in run.results.mapping.values:
        raise UserError(
            f'task {run.experiment.task.name!r}: this figure needs a probe '
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
