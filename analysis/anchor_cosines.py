"""Which anchors have parallel embeddings, early and late? (P2 Figs 4 A, 5 A, 14)

P2 says: at a small start the cosine of two reasoning anchors falls with the distance
of their numbers, and memory anchors are all alike; at a large start all anchors are
orthogonal. Here two numbers say that for every member and kind: the rank correlation of
cosine and distance, beside random orders of the same anchors, and the mean cosine; both
also before training.

  python analysis/anchor_cosines.py --run runs/memory_reasoning
  python analysis/anchor_cosines.py --run runs/memory_reasoning --early=52 --late=4465

`analysis/bias/snapshots.py` says which snapshots are early and late by default.
"""

from typing import NamedTuple

import numpy as np
import threadpoolctl
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

from analysis.bias.cosines import PERMUTATIONS, compare_rows, measure_order
from analysis.bias.snapshots import find_common_steps, find_early, find_late
from analysis.bias.tokens import TASK, list_tokens
from analysis.drawing import command, style
from analysis.drawing.bands import draw_band, scale_steps
from analysis.members.member import member_of
from analysis.members.table import (
    Panel,
    Table,
    list_panels,
    list_points,
    tabulate_members,
)
from analysis.members.untrained import make_untrained
from anchorjax.errors import require
from anchorjax.storage.reader import Run

ANCHORS = ('memory', 'reasoning')
UNTRAINED = 0  # the first step


class Result(NamedTuple):
    """Axes: member M, snapshot S (0 is before training), kind (ANCHORS); A anchors."""

    members: Table
    step_S: np.ndarray
    early: int
    late: int
    anchors_A: np.ndarray  # tokens, memory's first
    is_reasoning_A: np.ndarray
    cosine: np.ndarray  # [M, S, A, A]
    rho: np.ndarray  # [M, S, kind] rank correlation of cosine and distance
    rho_bound: np.ndarray  # [M, S, kind] 5 % quantile of random orders
    mean: np.ndarray  # [M, S, kind] mean cosine of two anchors of a kind
    mean_abs: np.ndarray  # [M, S, kind]

    def find_index(self, step: int) -> int:
        """Where a step is along S."""
        return self.step_S.tolist().index(step)


# One thread gives the same bits on every machine, and is faster for small matrices.
@threadpoolctl.threadpool_limits.wrap(limits=1)
def compute(
    run: Run,
    early: int | None = None,
    late: int | None = None,
    permutations: int = PERMUTATIONS,
) -> Result:
    """Cosines of the anchors' embeddings in every trained member.

    Raises:
      UserError: another task, no trained member, or no such snapshot.
    """
    require(permutations >= 1, 'permutations', permutations, 'at least 1')
    points = list_points(run, TASK)
    snapshots_S = find_common_steps(run, points)
    step_S = np.union1d([0], snapshots_S)
    tokens = list_tokens(run.experiment.task)
    anchors_A = np.concatenate([tokens[kind] for kind in ANCHORS])
    is_reasoning_A = np.isin(anchors_A, tokens['reasoning'])
    cosines, numbers = [], []
    for point in points:
        start = make_untrained(member_of(run, int(snapshots_S[-1]), **point))
        for step in step_S:
            W_embed = start.matrix('W_embed')
            if step > 0:
                W_embed = run.parameter('W_embed', int(step), **point)
            cosine_AA = compare_rows(W_embed, anchors_A)
            cosines.append(cosine_AA)
            for is_kind_A in (~is_reasoning_A, is_reasoning_A):
                of_kind = cosine_AA[np.ix_(is_kind_A, is_kind_A)]
                order = measure_order(of_kind, anchors_A[is_kind_A], permutations)
                numbers.append(order)
    shape = (len(points), len(step_S))
    numbers_MSKN = np.reshape(numbers, (*shape, len(ANCHORS), -1))
    rho, bound, mean, mean_abs = np.moveaxis(numbers_MSKN, -1, 0)
    return Result(
        members=tabulate_members(run, points),
        step_S=step_S,
        early=find_early(run, points, snapshots_S, early),
        late=find_late(run, snapshots_S, late),
        anchors_A=anchors_A,
        is_reasoning_A=is_reasoning_A,
        cosine=np.reshape(cosines, (*shape, *cosines[0].shape)),
        rho=rho,
        rho_bound=bound,
        mean=mean,
        mean_abs=mean_abs,
    )


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [panel and kind, 4]: heat-maps of the seeds' mean, and lines by step.

    Two rows for every panel: memory anchors above reasoning anchors, as in the paper.
    """
    times = {'untrained': 0, 'early': result.early, 'late': result.late}
    rows = iter(axes)
    image = None
    for panel in list_panels(result.members):
        for k, kind in enumerate(ANCHORS):
            *heatmaps, lines = next(rows)
            for axis, (time, step) in zip(heatmaps, times.items(), strict=True):
                image = _draw_cosines(axis, result, panel, step, k)
                axis.set_title(f'{time}, {axis.get_title()}', fontsize=6)
            heatmaps[0].set_ylabel(f'{panel.title}\n{kind}', fontsize=7)
            _draw_lines(lines, result, panel, k)
    figure = axes[0, 0].figure
    figure.colorbar(image, ax=axes, shrink=0.4, label='cosine', location='bottom')
    axes[0, -1].legend(fontsize=5)


def _draw_cosines(
    axis: Axes, result: Result, panel: Panel, step: int, k: int
) -> AxesImage:
    s = result.find_index(step)
    is_kind_A = result.is_reasoning_A == (ANCHORS[k] == 'reasoning')
    mean_AA = result.cosine[panel.is_here_M, s].mean(0)
    of_kind = mean_AA[np.ix_(is_kind_A, is_kind_A)]
    image = axis.imshow(of_kind, cmap='RdBu_r', vmin=-1, vmax=1)
    anchors = result.anchors_A[is_kind_A]
    ticks = np.array([0, len(anchors) - 1])
    axis.set_xticks(ticks, anchors[ticks])
    axis.set_yticks(ticks, anchors[ticks])
    rho = result.rho[panel.is_here_M, s, k].mean()
    mean = result.mean[panel.is_here_M, s, k].mean()
    axis.set_title(f'step {step:,}\nmean {mean:.2f}, ρ {rho:.2f}')
    return image


def _draw_lines(axis: Axes, result: Result, panel: Panel, k: int) -> None:
    """Mean cosine and rank correlation by step; dotted: 5 % of random orders."""
    here = panel.is_here_M
    draw_band(axis, result.step_S, result.mean[here, :, k], '#D55E00', 'mean cosine')
    draw_band(axis, result.step_S, result.rho[here, :, k], '#0072B2', 'ρ')
    bound_S = result.rho_bound[here, :, k].mean(0)
    axis.plot(result.step_S, bound_S, ':', color='#0072B2', lw=0.7)
    axis.set_ylim(-1.05, 1.05)
    scale_steps(axis)


def layout(result: Result) -> style.Layout:
    rows = len(ANCHORS) * len(list_panels(result.members))
    return style.Layout(rows, 4, 7.0, 0.6 + 1.5 * rows)


if __name__ == '__main__':
    command.run_sweep_figure(
        __doc__,
        'anchor_cosines',
        compute,
        draw,
        layout,
        early=command.Flag(
            command.parse_count, None, 'snapshot; default: the last before reasoning'
        ),
        late=command.Flag(
            command.parse_count, None, 'snapshot; default: near 90 %% of training'
        ),
        permutations=command.Flag(
            command.parse_count, PERMUTATIONS, 'random orders to compare with'
        ),
    )
