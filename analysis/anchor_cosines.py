"""Which anchors have parallel embeddings, early and late? (P2 Figs 4 A, 5 A, 14)

P2 says: at a small start the cosine of two reasoning anchors falls with the distance
of their numbers, and memory anchors are all alike; at a large start all anchors are
orthogonal. Here two numbers say that for every member and kind: the rank correlation of
cosine and distance, beside random orders of the same anchors, and the mean cosine; both
also before training.

  python analysis/anchor_cosines.py --run runs/memory_reasoning
  python analysis/anchor_cosines.py --run runs/memory_reasoning --early=50 --late=4000

`analysis/bias/snapshots.py` says which snapshots are early and late by default.
"""

from typing import NamedTuple

import numpy as np
import threadpoolctl
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

from analysis.bias.cosines import PERMUTATIONS, compare_rows, measure_order
from analysis.bias.members import (
    Panel,
    Table,
    list_panels,
    list_points,
    tabulate_members,
)
from analysis.bias.snapshots import find_common_steps, find_early, find_late
from analysis.bias.tokens import list_tokens
from analysis.drawing import command, style
from analysis.members.member import member_of
from analysis.members.untrained import make_untrained
from anchorjax.errors import require
from anchorjax.storage.reader import Run

ANCHORS = ('memory', 'reasoning')
TIMES = ('untrained', 'early', 'late')
UNTRAINED, EARLY_TIME, LATE_TIME = range(3)


class Result(NamedTuple):
    """Axes: member M, time (TIMES), kind (ANCHORS); A anchors, memory's first."""

    members: Table
    steps: np.ndarray  # [time]
    anchors_A: np.ndarray  # tokens
    is_reasoning_A: np.ndarray
    cosine: np.ndarray  # [M, time, A, A]
    rho: np.ndarray  # [M, time, kind] rank correlation of cosine and distance
    rho_bound: np.ndarray  # [M, time, kind] 5 % quantile of random orders
    mean: np.ndarray  # [M, time, kind] mean cosine of two anchors of a kind
    mean_abs: np.ndarray  # [M, time, kind]


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
    points = list_points(run)
    steps_S = find_common_steps(run, points)
    early = find_early(run, points, steps_S, early)
    late = find_late(run, steps_S, late)
    tokens = list_tokens(run.experiment.task)
    anchors_A = np.concatenate([tokens[kind] for kind in ANCHORS])
    is_reasoning_A = np.isin(anchors_A, tokens['reasoning'])
    cosines, numbers = [], []
    for point in points:
        members = [member_of(run, step, **point) for step in (early, late)]
        members.insert(UNTRAINED, make_untrained(members[0]))
        cosine_of_time = []
        for member in members:
            W_embed = member.matrix('W_embed')
            cosine_of_time.append(compare_rows(W_embed, anchors_A))
        cosines.append(cosine_of_time)
        for cosine_AA in cosine_of_time:
            for is_kind_A in (~is_reasoning_A, is_reasoning_A):
                of_kind = cosine_AA[np.ix_(is_kind_A, is_kind_A)]
                order = measure_order(of_kind, anchors_A[is_kind_A], permutations)
                numbers.append(order)
    shape = (len(points), len(TIMES), len(ANCHORS), -1)
    rho, bound, mean, mean_abs = np.moveaxis(np.reshape(numbers, shape), -1, 0)
    return Result(
        members=tabulate_members(run, points),
        steps=np.array([0, early, late]),
        anchors_A=anchors_A,
        is_reasoning_A=is_reasoning_A,
        cosine=np.array(cosines),
        rho=rho,
        rho_bound=bound,
        mean=mean,
        mean_abs=mean_abs,
    )


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [panel and kind, time]: the mean cosines of the seeds as heat-maps.

    Two rows for every panel: memory anchors above reasoning anchors, as in the paper.
    """
    rows = iter(axes)
    image = None
    for panel in list_panels(result.members):
        for k, kind in enumerate(ANCHORS):
            row = next(rows)
            for time, axis in enumerate(row):
                image = _draw_cosines(axis, result, panel, time, k)
            row[0].set_ylabel(f'{panel.title}\n{kind}', fontsize=7)
    axes[0, 0].figure.colorbar(image, ax=axes, shrink=0.5, label='cosine')


def _draw_cosines(
    axis: Axes, result: Result, panel: Panel, time: int, k: int
) -> AxesImage:
    is_kind_A = result.is_reasoning_A == (ANCHORS[k] == 'reasoning')
    mean_AA = result.cosine[panel.is_here_M, time].mean(0)
    of_kind = mean_AA[np.ix_(is_kind_A, is_kind_A)]
    image = axis.imshow(of_kind, cmap='RdBu_r', vmin=-1, vmax=1)
    anchors = result.anchors_A[is_kind_A]
    ticks = np.array([0, len(anchors) - 1])
    axis.set_xticks(ticks, anchors[ticks])
    axis.set_yticks(ticks, anchors[ticks])
    rho = result.rho[panel.is_here_M, time, k].mean()
    mean = result.mean[panel.is_here_M, time, k].mean()
    title = f'{TIMES[time]}, step {result.steps[time]:,}\nmean {mean:.2f}, ρ {rho:.2f}'
    axis.set_title(title, fontsize=6)
    return image


def layout(result: Result) -> style.Layout:
    rows = len(ANCHORS) * len(list_panels(result.members))
    return style.Layout(rows, len(TIMES), 5.0, 0.4 + 1.5 * rows)


if __name__ == '__main__':
    command.run_sweep_figure(
        __doc__,
        'anchor_cosines',
        compute,
        draw,
        layout,
        early=command.Flag(int, None, 'snapshot; default: the last before reasoning'),
        late=command.Flag(int, None, 'snapshot; default: near 90 %% of training'),
        permutations=command.Flag(int, PERMUTATIONS, 'random orders to compare with'),
    )
