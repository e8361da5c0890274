"""Are anchors and keys in numerical order in the embedding? PCA by kind (P2 Fig 5 B).

The rows of all anchors and keys in one PCA. P2 says that reasoning anchors and keys are
in order along it, and that memory anchors lie together. The number for every member:
the rank correlation of value and score, of the first two components, for each kind,
beside random orders and the untrained network. `analysis/p1/embedding.py` has more on
the keys of one member.

  python analysis/embedding_pca.py --run runs/memory_reasoning --step=4465
"""

from typing import NamedTuple

import numpy as np
import threadpoolctl
from matplotlib.axes import Axes
from scipy import stats

from analysis.bias.cosines import QUANTILE
from analysis.bias.tokens import COLOURS, SINGLE_KINDS, TASK, list_tokens
from analysis.drawing import command, style
from analysis.members.member import member_of
from analysis.members.table import (
    Panel,
    Table,
    list_panels,
    list_points,
    tabulate_members,
)
from analysis.members.untrained import make_untrained
from analysis.spectra import measures
from analysis.vectors import order
from anchorjax.errors import require
from anchorjax.storage.reader import Run

COMPONENTS = 2
ORDERS = 2_000  # random orders for the null


class Result(NamedTuple):
    """Axes: member M, kind (SINGLE_KINDS), component."""

    members: Table
    step: int
    tokens: np.ndarray  # [token] all anchors and keys
    kind: np.ndarray  # [token] index into SINGLE_KINDS
    scores: np.ndarray  # [M, token, component]
    explained: np.ndarray  # [M, component] share of the variance
    rho: np.ndarray  # [M, kind, component] |rank correlation| of value and score
    bound: np.ndarray  # [kind] 95 % of random orders are below, of the better component
    untrained: np.ndarray  # [M, kind, component] the same before training
    spread: np.ndarray  # [M, kind] see `measure_spread`
    untrained_spread: np.ndarray  # [M, kind]


# One thread gives the same bits on every machine, and is faster for small matrices.
@threadpoolctl.threadpool_limits.wrap(limits=1)
def compute(run: Run, step: int | None = None) -> Result:
    """The PCA of every trained member at a snapshot, the last one by default.

    Raises:
      UserError: another task, no trained member, or no such snapshot.
    """
    points = list_points(run, TASK)
    if step is None:
        step = run.steps(**points[0])[-1]
    known = run.steps(**points[0])
    require(step in known, 'step', step, f'a snapshot step, {known}')
    tokens_of = list_tokens(run.experiment.task)
    tokens = np.concatenate([tokens_of[kind] for kind in SINGLE_KINDS])
    sizes = [len(tokens_of[kind]) for kind in SINGLE_KINDS]
    kind = np.repeat(np.arange(len(SINGLE_KINDS)), sizes)
    scores, explained, rho, spread = [], [], [], []
    untrained, untrained_spread = [], []
    for point in points:
        member = member_of(run, step, **point)
        rows = member.matrix('W_embed')[tokens]
        scores_of_member, shares = order.pca(rows)
        scores.append(scores_of_member[:, :COMPONENTS])
        explained.append(shares[:COMPONENTS])
        rho.append(correlate_values(scores[-1], tokens, kind))
        spread.append(measure_spread(rows, kind))
        start = make_untrained(member).matrix('W_embed')[tokens]
        start_scores, _ = order.pca(start)
        untrained.append(correlate_values(start_scores[:, :COMPONENTS], tokens, kind))
        untrained_spread.append(measure_spread(start, kind))
    return Result(
        members=tabulate_members(run, points),
        step=step,
        tokens=tokens,
        kind=kind,
        scores=np.array(scores),
        explained=np.array(explained),
        rho=np.array(rho),
        bound=np.array(list(map(bound_random_orders, sizes))),
        untrained=np.array(untrained),
        spread=np.array(spread),
        untrained_spread=np.array(untrained_spread),
    )


def correlate_values(
    scores: np.ndarray, tokens: np.ndarray, kind: np.ndarray
) -> np.ndarray:
    """|Spearman's correlation| of value and score, [kind, component]."""
    found = np.zeros((len(SINGLE_KINDS), scores.shape[1]))
    for k, component in np.ndindex(found.shape):
        is_kind = kind == k
        of_kind = scores[is_kind, component]
        found[k, component] = abs(measures.rank_correlation(tokens[is_kind], of_kind))
    return found


def bound_random_orders(count: int) -> float:
    """95 % quantile of the larger |rank correlation| of two random orders."""
    rng = np.random.default_rng(0)
    value = stats.zscore(np.arange(count))
    largest = []
    for _ in range(ORDERS):
        pair = [abs(value @ rng.permutation(value)) / count for _ in range(COMPONENTS)]
        largest.append(max(pair))
    return float(np.quantile(largest, QUANTILE))


def measure_spread(rows: np.ndarray, kind: np.ndarray) -> np.ndarray:
    """Distance of the rows of a kind from their mean by that of all from theirs.

    Root mean squares, [kind]: small where a kind lies together.
    """
    total = np.sqrt(rows.var(0).sum())
    found = []
    for k in range(len(SINGLE_KINDS)):
        found.append(np.sqrt(rows[kind == k].var(0).sum()) / total)
    return np.array(found)


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [1, panel]: the first seed's tokens, coloured by kind."""
    for axis, panel in zip(axes[0], list_panels(result.members), strict=True):
        _draw_panel(axis, result, panel)
    axes[0, 0].legend(fontsize=5)


def _draw_panel(axis: Axes, result: Result, panel: Panel) -> None:
    first = int(panel.is_here_M.argmax())
    for k, kind in enumerate(SINGLE_KINDS):
        x, y = result.scores[first, result.kind == k].T
        if kind != 'keys':
            axis.plot(x, y, '-', lw=0.4, color=COLOURS[kind])
        axis.scatter(x, y, s=6, color=COLOURS[kind], label=kind)
        tokens = result.tokens[result.kind == k]
        for i in (0, len(tokens) - 1):
            axis.annotate(str(tokens[i]), (x[i], y[i]), fontsize=5)
    words = []
    for k, kind in enumerate(SINGLE_KINDS):
        best = result.rho[panel.is_here_M, k].max(-1).mean()
        words.append(f'{kind} {best:.2f} (< {result.bound[k]:.2f})')
    axis.set_title(f'{panel.title}, |ρ| with the value\n{", ".join(words)}', fontsize=5)
    share_1, share_2 = result.explained[first]
    axis.set(xticks=[], yticks=[])
    axis.set_xlabel(f'component 1: {share_1:.0%}')
    axis.set_ylabel(f'component 2: {share_2:.0%}')


def layout(result: Result) -> style.Layout:
    columns = len(list_panels(result.members))
    return style.Layout(1, columns, 0.4 + 2.5 * columns, 2.7)


if __name__ == '__main__':
    command.run_sweep_figure(
        __doc__,
        'embedding_pca',
        compute,
        draw,
        layout,
        step=command.Flag(command.parse_count, None, 'snapshot; default: the last'),
    )
