"""Did a network learn features, or stay near its start? Its tangent kernel before and after.

A lazy network moves its parameters, yet the gradients of its answers, so its tangent kernel, stay
what they were: it is a kernel machine. Kernel distance as in Fort et al. 2020 (arXiv 2010.15110):
0 is lazy, towards 1 the kernel was learnt. Beside it: how far the parameters moved, and how many
neurons of the MLPs switched.

  python analysis/lazy.py --run runs/phase
"""

from typing import NamedTuple

import numpy as np

from analysis.changes.distances import change
from analysis.drawing import command, style
from analysis.members.member import member_of
from analysis.members.selection import outcomes, row_axis, spans_from, told
from analysis.phase import SOLUTIONS, solution
from anchorjax.storage.reader import Run


class Result(NamedTuple):
    """One row per member that was trained and has two snapshots."""

    points: dict[str, np.ndarray]  # [M] each axis of the sweep
    row_name: str  # the axis told apart by markers
    start_M: np.ndarray  # steps: 0, or the first snapshot (the figure says so)
    end_M: np.ndarray
    lazy_M: (
        np.ndarray
    )  # distance of the tangent kernels, in [0, 1]: 0 is the kernel regime
    pattern_M: np.ndarray  # share of neurons x positions x sequences that switched
    movement_M: np.ndarray  # |theta_T - theta_0| / |theta_0|
    group_names: tuple[str, ...]
    movement_MG: (
        np.ndarray
    )  # the same of parameters of one name; NaN if absent or zero at start
    outcome_M3: np.ndarray  # inferential and symmetric on the unseen pair, held-out
    solution_M: np.ndarray  # name
    left_out: tuple[str, ...]
    number: int  # sequences


def compute(run: Run, number: int = 48, start: int = 0) -> Result:
    """Compares every member with its own start, on `number` sequences of its probes.

    Args:
      start: compare with the first snapshot from this step on. At a very small initialization the
        kernel of step 0 says only which sequences share an answer, and a later start tells more.

    Raises:
      UserError: no member has two snapshots.
    """
    spans, left_out = spans_from(run, start)
    found = [
        change(member_of(run, first, **point), member_of(run, last, **point), number)
        for point, first, last in told(spans, 'lazy')
    ]
    ended = outcomes(run.results)
    outcome_M3 = np.array(
        [ended.sel(point).values.astype(float) for point, _, _ in spans]
    )
    names = tuple(
        dict.fromkeys(name for c in found for name in c.movement if name != 'all')
    )
    return Result(
        points={
            a: np.array([point[a] for point, _, _ in spans])
            for a in run.experiment.axes
        },
        row_name=row_axis(run),
        start_M=np.array([first for _, first, _ in spans]),
        end_M=np.array([last for _, _, last in spans]),
        lazy_M=np.array([c.kernel for c in found]),
        pattern_M=np.array([c.pattern for c in found]),
        movement_M=np.array([c.movement['all'] for c in found]),
        group_names=names,
        movement_MG=np.array(
            [[c.movement.get(n, np.nan) for n in names] for c in found]
        ),
        outcome_M3=outcome_M3,
        solution_M=np.array([solution(*outcome_3) for outcome_3 in outcome_M3]),
        left_out=tuple(left_out),
        number=number,
    )


def draw(result: Result, axes) -> None:
    """Fills axes [1, 3]: kernel distance, movement and switched neurons over gamma."""
    panels = (
        ('distance of tangent kernels', result.lazy_M, 1),
        ('relative movement of parameters', result.movement_M, None),
        ('share of neurons switched', result.pattern_M, 1),
    )
    rows = sorted(set(result.points[result.row_name].tolist()))
    for axis, (title, values_M, top) in zip(axes[0], panels, strict=True):
        _points(axis, result, rows, values_M)
        axis.set(title=title, xlabel='γ', ylim=(0, top))
    _legend(axes[0, 0], result, rows)


layout = style.Layout(1, 3, 7.0, 2.7)
_MARKERS = 'osD^v'  # one per row


def _points(axis, result: Result, rows: list, values_M) -> None:
    """One marker a member: colour by solution, shape by row, rows side by side."""
    gamma_M = result.points['gamma']
    for i, name in np.ndindex(len(rows), len(SOLUTIONS)):
        here = result.points[result.row_name] == rows[i]
        chosen = here & (result.solution_M == SOLUTIONS[name])
        apart = 0.02 * np.ptp(gamma_M) * (i - (len(rows) - 1) / 2)
        look = {
            'marker': _MARKERS[i % 5],
            'color': style.COLOURS[SOLUTIONS[name]],
            'alpha': 0.8,
        }
        axis.plot(gamma_M[chosen] + apart, values_M[chosen], ls='', ms=4, mew=0, **look)


def _legend(axis, result: Result, rows: list) -> None:
    """Below all panels: colours, markers, and from which step the change counts."""
    for name in SOLUTIONS:
        axis.plot([], [], 'o', ms=4, color=style.COLOURS[name], label=name)
    for i, row in enumerate(rows):
        named = f'{result.row_name.replace("_", " ")} {row}'
        axis.plot([], [], _MARKERS[i % 5], ms=4, color='black', mfc='none', label=named)
    steps = '-'.join(
        f'{s:,}' for s in sorted({result.start_M.min(), result.start_M.max()})
    )
    title = f'{len(result.lazy_M)} members, from step {steps} to {result.end_M.max():,}'
    axis.figure.legend(
        loc='outside lower center', ncols=6, title=title, title_fontsize=7
    )


if __name__ == '__main__':
    command.sweep(
        __doc__,
        'lazy',
        compute,
        draw,
        layout,
        number=command.Flag(int, 48, 'sequences on which the kernels are compared'),
        start=command.Flag(int, 0, 'compare with the first snapshot from this step on'),
    )
