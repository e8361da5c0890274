"""Does the law of labels predict the embedding? Cosines (P2 Figs 4 B, C, 5 C, D).

P2's theory: early embeddings are those that gradient flow makes of P_s, the labels that
occur together with a token. Three predictions of the cosine of two tokens, see
`analysis/theory/predictions.py`, against the measured ones, pair by pair. The
correlation over all pairs of a kind, at every snapshot from the first on, stands beside
that of random orders of the tokens and that of the untrained network.

Training is AdamW, the theory is gradient flow: that they differ is part of the answer.

  python analysis/label_law.py --run runs/memory_reasoning_emb_mlp
  python analysis/label_law.py --run runs/memory_reasoning_emb_mlp --early=52
"""

from typing import NamedTuple

import numpy as np
import threadpoolctl
from matplotlib.axes import Axes

from analysis.bias.cosines import (
    PERMUTATIONS,
    QUANTILE,
    Match,
    compare_rows,
    list_pairs,
    make_reference,
    match_reference,
)
from analysis.bias.snapshots import find_common_steps, find_early
from analysis.bias.tokens import COLOURS, KINDS, TASK, list_tokens
from analysis.drawing import command, style
from analysis.drawing.bands import draw_band, scale_steps
from analysis.members.member import member_of
from analysis.members.point import Point
from analysis.members.selection import report_progress
from analysis.members.table import (
    Panel,
    Table,
    list_panels,
    list_points,
    tabulate_members,
)
from analysis.members.untrained import make_untrained
from analysis.theory.predictions import PREDICTIONS, predict_all
from anchorjax.errors import require
from anchorjax.storage.reader import Run

_MARKERS = ('.', '+', 'x')  # of PREDICTIONS


class Result(NamedTuple):
    """Axes: member M, kind (KINDS), prediction (PREDICTIONS), snapshot S."""

    members: Table
    step_S: np.ndarray
    early: int
    correlation: np.ndarray  # [M, kind, prediction, S]; NaN without a prediction
    bound: np.ndarray  # [M, kind, prediction, S] 95 % quantile of random orders
    untrained: np.ndarray  # [M, kind, prediction] the same correlation before training
    # {kind: [M, 1 + prediction, pair]}: cosines at the early step, measured ones first.
    pairs: dict[str, np.ndarray]


# One thread gives the same bits on every machine, and is faster for small matrices.
@threadpoolctl.threadpool_limits.wrap(limits=1)
def compute(
    run: Run, early: int | None = None, permutations: int = PERMUTATIONS
) -> Result:
    """Predicted and measured cosines of every trained member.

    Args:
      early: the snapshot of the scatter plots.

    Raises:
      UserError: another task, no trained member, or no such snapshot.
    """
    require(permutations >= 1, 'permutations', permutations, 'at least 1')
    points = list_points(run, TASK)
    step_S = find_common_steps(run, points)
    early = find_early(run, points, step_S, early)
    shape = (len(points), len(KINDS), len(PREDICTIONS))
    correlation = np.full((*shape, len(step_S)), np.nan)
    bound = np.full_like(correlation, np.nan)
    untrained = np.full(shape, np.nan)
    pairs: dict[str, list[np.ndarray]] = {kind: [] for kind in KINDS}
    for m, point in enumerate(report_progress(points, 'label_law')):
        start = make_untrained(member_of(run, int(step_S[-1]), **point))
        embeddings = _read_embeddings(run, step_S, point)
        tokens = list_tokens(start.experiment.task)
        for k, (kind, tokens_A) in enumerate(tokens.items()):
            predicted = predict_all(start, tokens_A, kind)
            measured = [compare_rows(W, tokens_A) for W in embeddings]
            before = compare_rows(start.matrix('W_embed'), tokens_A)
            for p, name in enumerate(PREDICTIONS):
                if predicted[name] is None:
                    continue
                reference = make_reference(predicted[name], permutations)
                untrained[m, k, p] = match_reference(before, reference).correlation
                for s, cosine_AA in enumerate(measured):
                    match = match_reference(cosine_AA, reference)
                    correlation[m, k, p, s] = match.correlation
                    bound[m, k, p, s] = _bound_chance(match)
            at_early = measured[step_S.tolist().index(early)]
            pairs[kind].append(_stack_pairs(at_early, predicted))
    return Result(
        members=tabulate_members(run, points),
        step_S=step_S,
        early=early,
        correlation=correlation,
        bound=bound,
        untrained=untrained,
        pairs={kind: np.array(values) for kind, values in pairs.items()},
    )


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [panel, kind and one]: scatter plots, then correlation by step.

    The scatter plots are of the early snapshot and the first seed. The lines are the
    label law's correlations; dotted: 95 % of random orders are below.
    """
    for row, panel in zip(axes, list_panels(result.members), strict=True):
        for k in range(len(KINDS)):
            _draw_scatter(row[k], result, panel, k)
            row[k].set_title(_describe(result, panel, k), fontsize=6)
        _draw_correlations(row[-1], result, panel)
        row[0].set_ylabel(f'{panel.title}\nmeasured cosine', fontsize=7)
        row[-1].set_title(f'correlation with the {PREDICTIONS[0]}', fontsize=6)
    for k in range(len(KINDS)):
        axes[-1, k].set_xlabel('predicted cosine')
    axes[-1, -1].set_xlabel('step')
    axes[0, KINDS.index('reasoning')].legend(loc='upper left', fontsize=5)
    axes[0, -1].legend(loc='lower right', fontsize=5)


def _read_embeddings(run: Run, step_S: np.ndarray, point: Point) -> list[np.ndarray]:
    """W_embed at every snapshot."""
    return [run.parameter('W_embed', int(step), **point) for step in step_S]


def _bound_chance(match: Match) -> float:
    return float(np.quantile(match.by_chance, QUANTILE))


def _stack_pairs(
    measured: np.ndarray, predicted: dict[str, np.ndarray | None]
) -> np.ndarray:
    """[1 + prediction, pair]: measured, then predicted; NaN without a prediction."""
    rows = [list_pairs(measured)]
    for name in PREDICTIONS:
        cosine_AA = predicted[name]
        if cosine_AA is None:
            cosine_AA = np.full_like(measured, np.nan)
        rows.append(list_pairs(cosine_AA))
    return np.array(rows)


def _draw_scatter(axis: Axes, result: Result, panel: Panel, k: int) -> None:
    first = int(panel.is_here_M.argmax())
    measured, *predictions = result.pairs[KINDS[k]][first]
    for p, predicted in enumerate(predictions):
        if np.isfinite(predicted).any():
            look = {'marker': _MARKERS[p], 's': 5, 'lw': 0.5, 'alpha': 0.6}
            axis.scatter(predicted, measured, label=PREDICTIONS[p], **look)
    axis.axline((0, 0), slope=1, color='#BBBBBB', lw=0.6, zorder=0)
    axis.set(xlim=(-0.6, 1.05), ylim=(-1.05, 1.05))


def _describe(result: Result, panel: Panel, k: int) -> str:
    """'memory, step 200: r 0.31, 0.28, – (0.12 before training)'."""
    s = result.step_S.tolist().index(result.early)
    words = []
    for p in range(len(PREDICTIONS)):
        mean = result.correlation[panel.is_here_M, k, p, s].mean()
        words.append(f'{mean:.2f}' if np.isfinite(mean) else '–')
    before = result.untrained[panel.is_here_M, k, 0].mean()
    correlations = ', '.join(words)
    return (
        f'{KINDS[k]}, step {result.early:,}\nr {correlations} ({before:.2f} untrained)'
    )


def _draw_correlations(axis: Axes, result: Result, panel: Panel) -> None:
    for k, kind in enumerate(KINDS):
        values_MS = result.correlation[panel.is_here_M, k, 0]
        draw_band(axis, result.step_S, values_MS, COLOURS[kind], kind)
        bound_S = result.bound[panel.is_here_M, k, 0].mean(0)
        axis.plot(result.step_S, bound_S, ':', color=COLOURS[kind], lw=0.7)
    scale_steps(axis)
    axis.set_ylim(-0.6, 1.05)


def layout(result: Result) -> style.Layout:
    rows = len(list_panels(result.members))
    columns = len(KINDS) + 1
    return style.Layout(rows, columns, 1.7 * columns, 0.4 + 1.8 * rows)


if __name__ == '__main__':
    command.run_sweep_figure(
        __doc__,
        'label_law',
        compute,
        draw,
        layout,
        early=command.Flag(
            command.parse_count, None, 'snapshot; default: the last before reasoning'
        ),
        permutations=command.Flag(
            command.parse_count, PERMUTATIONS, 'random orders to compare with'
        ),
    )
