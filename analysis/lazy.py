"""Did a network learn features, or stay near its start? Its tangent kernel tells.

A lazy network moves its parameters, yet the gradients of its answers, and so its
tangent kernel, stay what they were: it is a kernel machine. Kernel distance as in Fort
et al. 2020 (arXiv 2010.15110): 0 is lazy, towards 1 the kernel was learnt. Beside it:
how far the parameters moved, and how many neurons of the MLPs switched.

  python analysis/lazy.py --run runs/phase
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.changes.distances import measure_change
from analysis.drawing import command, style
from analysis.members.member import member_of
from analysis.members.selection import (
    Span,
    collect_outcomes,
    find_row_axis,
    find_spans,
    report_progress,
)
from analysis.members.solution import SOLUTIONS, classify_solution
from anchorjax.storage.reader import Run


class Result(NamedTuple):
    """One row per member that is trained and has two snapshots."""

    points: dict[str, np.ndarray]  # [M] labels along each axis of the sweep
    row_name: str  # the axis that markers tell apart
    start_M: np.ndarray  # steps: 0, or the first snapshot (the figure says which)
    end_M: np.ndarray
    lazy_M: np.ndarray  # distance of the tangent kernels, in [0, 1]; 0: kernel regime
    pattern_M: np.ndarray  # share of neurons x positions x sequences that switched
    movement_M: np.ndarray  # |theta_T - theta_0| / |theta_0|
    group_names: tuple[str, ...]
    movement_MG: np.ndarray  # of parameters of one name; NaN if absent or zero at start
    outcome_M3: np.ndarray  # inferential and symmetric on the unseen pair, held-out
    solution_M: np.ndarray  # SOLUTIONS
    left_out: tuple[str, ...]
    number: int  # sequences


def compute(run: Run, number: int = 48, start: int = 0) -> Result:
    """Compares every member with its own start, on `number` sequences of its probes.

    Args:
      start: compare with the first snapshot from this step on. At a very small
        initialization the kernel of step 0 shows only which sequences share an answer;
        a later start shows more.

    Raises:
      UserError: no member has two snapshots.
    """
    spans, left_out = find_spans(run, start)
    kernel = []
    pattern = []
    movement = []
    for point, first, last in report_progress(spans, 'lazy'):
        first_state = member_of(run, first, **point)
        last_state = member_of(run, last, **point)
        change = measure_change(first_state, last_state, number)
        kernel.append(change.kernel)
        pattern.append(change.pattern)
        movement.append(change.movement)

    movements = pd.DataFrame(movement)
    of_groups = movements.drop(columns='all')
    outcome_M3 = _collect_outcomes_of(run, spans)
    solutions = [classify_solution(*outcome_3) for outcome_3 in outcome_M3]
    return Result(
        points=_collect_labels(run, spans),
        row_name=find_row_axis(run.experiment.axes),
        start_M=np.array([span.first for span in spans]),
        end_M=np.array([span.last for span in spans]),
        lazy_M=np.array(kernel),
        pattern_M=np.array(pattern),
        movement_M=movements['all'].to_numpy(),
        group_names=tuple(of_groups),
        movement_MG=np.ascontiguousarray(of_groups),
        outcome_M3=outcome_M3,
        solution_M=np.array(solutions),
        left_out=tuple(left_out),
        number=number,
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
        axis.set(title=title, xlabel='γ', ylim=(0, top))
    _draw_legend(axes[0, 0], result, rows)


layout = style.Layout(1, 3, 7.0, 2.7)
_MARKERS = 'osD^v'  # one per row


def _collect_labels(run: Run, spans: list[Span]) -> dict[str, np.ndarray]:
    """Labels [M] along every axis of the sweep."""
    rows = [run.labels(**span.point) for span in spans]
    labels = {}
    for axis in run.experiment.axes:
        labels[axis] = np.array([row[axis] for row in rows])
    return labels


def _collect_outcomes_of(run: Run, spans: list[Span]) -> np.ndarray:
    """`selection.OUTCOMES` of these members, [M, 3]."""
    outcomes = collect_outcomes(run.results)
    rows = []
    for span in spans:
        outcome_3 = outcomes.sel(run.labels(**span.point))
        rows.append(outcome_3.values.astype(float))
    return np.array(rows)


def _draw_members(
    axis: Axes, result: Result, rows: list[Any], values_M: np.ndarray
) -> None:
    """One marker a member: colour by solution, shape by row, rows side by side."""
    gamma_M = result.points['gamma']
    row_M = result.points[result.row_name]
    spacing = 0.02 * np.ptp(gamma_M)
    middle = (len(rows) - 1) / 2
    for i, row in enumerate(rows):
        place_M = gamma_M + spacing * (i - middle)
        for solution in SOLUTIONS:
            chosen = (row_M == row) & (result.solution_M == solution)
            axis.plot(
                place_M[chosen],
                values_M[chosen],
                ls='',
                ms=4,
                mew=0,
                marker=_MARKERS[i % 5],
                color=style.COLOURS[solution],
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
    title = f'{number} members, from step {start} to {result.end_M.max():,}'
    axis.figure.legend(
        loc='outside lower center', ncols=6, title=title, title_fontsize=7
    )


if __name__ == '__main__':
    command.run_sweep_figure(
        __doc__,
        'lazy',
        compute,
        draw,
        layout,
        number=command.Flag(int, 48, 'sequences on which the kernels are compared'),
        start=command.Flag(int, 0, 'compare with the first snapshot from this step on'),
    )
