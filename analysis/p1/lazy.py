"""Did a network learn features, or stay near its start? Its tangent kernel tells.

A lazy network moves its parameters, yet the gradients of its answers, and so its
tangent kernel, stay what they were: it is a kernel machine. Kernel distance as in Fort
et al. 2020 (arXiv 2010.15110): 0 is lazy, towards 1 the kernel was learnt. The null is
the distance of two independent untrained networks of the same gamma: a lazy network is
much nearer to its own start than that. Beside it: how far the parameters moved, and how
many neurons of the MLPs switched.

  python -m analysis lazy --run runs/phase
"""

import math
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from analysis import frame
from analysis.changes.distances import measure_change, measure_kernel_distance
from analysis.drawing import style
from analysis.drawing.gammas import label_gamma
from analysis.members.member import Member, member_of
from analysis.members.point import Point
from analysis.members.selection import (
    collect_labels,
    collect_outcomes,
    find_converged,
    find_row_axis,
    find_spans,
    report_progress,
)
from analysis.members.solution import SOLUTIONS, find_solutions
from analysis.members.untrained import make_untrained
from anchorjax.errors import require
from anchorjax.limits import at_least, at_most
from anchorjax.storage.reader import Run

TITLE = 'Distance from the initialization'
PAPER = 'ours'
CAPTION = (
    'The panels show how far training moves a network from its start: its weights, '
    'which neurons are active, and its tangent kernel (how a step on one example '
    'changes the answers to others). Near 0 the network would hardly have learned '
    'features.'
)


_OTHER_START = 1_000_003  # added to a seed: an initialization that no member has


class Result(NamedTuple):
    """One row per member that is trained and has two snapshots."""

    points: dict[str, np.ndarray]  # [M] labels along each axis of the sweep
    row_name: str  # the axis that markers tell apart
    start_M: np.ndarray  # steps: 0, or the first snapshot (the figure says which)
    end_M: np.ndarray
    lazy_M: np.ndarray  # distance of the tangent kernels, in [0, 1]; 0: kernel regime
    null_M: np.ndarray  # the same of two independent untrained networks of its gamma
    pattern_M: np.ndarray  # share of neurons x positions x sequences that switched
    movement_M: np.ndarray  # |theta_T - theta_0| / |theta_0|
    group_names: tuple[str, ...]
    movement_MG: np.ndarray  # of parameters of one name; NaN if absent or zero at start
    outcome_M3: np.ndarray  # inferential and symmetric on the unseen pair, held-out
    solution_M: np.ndarray  # SOLUTIONS
    converged_M: np.ndarray  # bool; claims count these members only
    left_out: tuple[str, ...]
    number: int  # sequences
    width: float = math.nan  # of the networks; NaN: there are several


def compute(
    run: Run,
    number: Annotated[
        int, at_least(2), at_most(10_000), 'sequences to compare kernels on'
    ] = 48,
    start: Annotated[
        int, at_least(0), 'compare with the first snapshot from this step on'
    ] = 0,
) -> Result:
    """Compares every member with its own start, on `number` sequences of its probes.

    Args:
      start: compare with the first snapshot from this step on. At a very small
        initialization the kernel of step 0 shows only which sequences share an answer;
        a later start shows more.

    Raises:
      UserError: no member has two snapshots, the task has no held-out seen pairs, or
        `number` is below 2.
    """
    require(number >= 2, 'number', number, 'at least 2, to compare their gradients')
    outcomes = collect_outcomes(run)
    spans, left_out = find_spans(run, start)
    kernel = []
    pattern = []
    movement = []
    null = []
    measure_null = _make_null(number)
    for point, first, last in report_progress(spans, 'lazy'):
        first_state = member_of(run, first, **point)
        last_state = member_of(run, last, **point)
        change = measure_change(first_state, last_state, number)
        kernel.append(change.kernel)
        pattern.append(change.pattern)
        movement.append(change.movement)
        null.append(measure_null(first_state))

    movements = pd.DataFrame(movement)
    of_groups = movements.drop(columns='all')
    points = [span.point for span in spans]
    return Result(
        points=collect_labels(run, points),
        row_name=find_row_axis(run.experiment.axes),
        start_M=np.array([span.first for span in spans]),
        end_M=np.array([span.last for span in spans]),
        lazy_M=np.array(kernel),
        null_M=np.array(null),
        pattern_M=np.array(pattern),
        movement_M=movements['all'].to_numpy(),
        group_names=tuple(of_groups),
        movement_MG=np.ascontiguousarray(of_groups),
        outcome_M3=_select_members(run, outcomes, points).astype(float),
        solution_M=_select_members(run, find_solutions(run.results), points),
        converged_M=_select_members(run, find_converged(run), points),
        left_out=tuple(left_out),
        number=number,
        width=frame.find_width(run),
    )


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [1, 3]: kernel distance, movement and switched neurons over gamma."""
    panels = (
        ('distance of tangent kernels', result.lazy_M, 1),
        ('relative movement of parameters', result.movement_M, None),
        ('share of neurons switched', result.pattern_M, 1),
    )
    rows = np.unique(result.points[result.row_name]).tolist()
    for axis, (title, values_M, top) in zip(axes[0], panels, strict=True):
        _draw_members(axis, result, rows, values_M)
        axis.set(title=title, ylim=(0, top))
        label_gamma(axis, result.width)
    _draw_null(axes[0, 0], result)
    _draw_legend(axes[0, 0], result, rows)


layout = style.Layout(1, 3, 7.0, 3.0)
_MARKERS = 'osD^v'  # one per row


def _make_null(number: int) -> Callable[[Member], float]:
    """A function: the null of a member; members of one gamma and seed share it."""
    distances = {}

    def measure_null(member: Member) -> float:
        seed = member.point['seed']
        key = (member.experiment.model, member.point['gamma'], seed)
        if key not in distances:
            own = make_untrained(member)
            other = make_untrained(member, seed + _OTHER_START)
            distances[key] = measure_kernel_distance(own, other, number)
        return distances[key]

    return measure_null


def _select_members(run: Run, array: xr.DataArray, points: list[Point]) -> np.ndarray:
    """The values of some members, [M, ...]."""
    rows = []
    for point in points:
        values = array.sel(run.labels(**point))
        rows.append(values.values)
    return np.array(rows)


def _draw_null(axis: Axes, result: Result) -> None:
    """A line through the means of the null by gamma, and a band from least to most."""
    gamma_M = result.points['gamma']
    gammas = np.unique(gamma_M)
    means, lowest, highest = [], [], []
    for gamma in gammas:
        null_of_gamma = result.null_M[gamma_M == gamma]
        means.append(null_of_gamma.mean())
        lowest.append(null_of_gamma.min())
        highest.append(null_of_gamma.max())
    axis.fill_between(gammas, lowest, highest, color='black', alpha=0.15, lw=0)
    axis.plot(gammas, means, 'k--', lw=0.8, label='two untrained networks')


def _draw_members(
    axis: Axes, result: Result, rows: list[Any], values_M: np.ndarray
) -> None:
    """One marker a member: colour by solution, shape by row, rows side by side.

    Hollow: not converged.
    """
    gamma_M = result.points['gamma']
    row_M = result.points[result.row_name]
    spacing = 0.02 * np.ptp(gamma_M)
    middle = (len(rows) - 1) / 2
    for i, row in enumerate(rows):
        place_M = gamma_M + spacing * (i - middle)
        for solution in SOLUTIONS:
            colour = style.COLOURS[solution]
            chosen = (row_M == row) & (result.solution_M == solution)
            for is_full in (True, False):
                here = chosen & (result.converged_M == is_full)
                axis.plot(
                    place_M[here],
                    values_M[here],
                    ls='',
                    ms=4,
                    mew=0 if is_full else 0.6,
                    mfc=colour if is_full else 'none',
                    marker=_MARKERS[i % 5],
                    color=colour,
                    alpha=0.8,
                )


def _draw_legend(axis: Axes, result: Result, rows: list[Any]) -> None:
    """Below all panels: colours, markers, and from which step on the change counts."""
    for name in SOLUTIONS:
        axis.plot([], [], 'o', ms=4, color=style.COLOURS[name], label=name)
    row_name = result.row_name.replace('_', ' ')
    for i, row in enumerate(rows):
        marker = _MARKERS[i % 5]
        label = f'{row_name} {row}'
        axis.plot([], [], marker, ms=4, color='black', mfc='none', label=label)
    first = result.start_M.min()
    last = result.start_M.max()
    start = f'{first:,}' if first == last else f'{first:,}-{last:,}'
    number = len(result.lazy_M)
    converged = int(result.converged_M.sum())
    counts = f'{number} members, {converged} converged (others hollow)'
    title = f'{counts}, from step {start} to {result.end_M.max():,}'
    axis.figure.legend(
        loc='outside lower center', ncols=6, title=title, title_fontsize=7
    )
