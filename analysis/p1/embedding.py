"""Are the embeddings of the key items in numerical order? (P1 Fig 5 c, d; P3 Fig 5B)

PCA (P1 v1, P3) and t-SNE (P1) of the rows of the key items. Two chains start at the
first item: a red one in steps of 3 and a blue one in steps of 4, the differences of the
shifts 5, 1 and -2. The numbers are compared with those of the same rows in random order
(`null`).

  python -m analysis embedding --run runs/phase --gamma=1.7 --seed=0

  --items=40,80 takes these tokens instead of the task's keys
"""

import itertools
from typing import Annotated, NamedTuple

import numpy as np
import threadpoolctl
from matplotlib.axes import Axes

from analysis.drawing import style
from analysis.drawing.items import draw_items
from analysis.drawing.steps import draw_similarity, draw_spectrum
from analysis.members.member import Member
from analysis.vectors import order, random_orders
from anchorjax.errors import UserError, require
from anchorjax.limits import above, at_least, at_most
from anchorjax.tasks import TaskConfig

TITLE = 'Embedding'
PAPER = 'P1 Fig 5 (c, d), P3 Fig 5 B'
CAPTION = 'Does the embedding of a number x contain its value?'


MATRIX = 'W_embed'
_TASKS_WITH_KEYS = ('anchors', 'memory_reasoning')


class Result(NamedTuple):
    """Order in the rows of the items; no component falls with the value."""

    items: np.ndarray  # [item] tokens
    scores: np.ndarray  # [item, component]
    explained: np.ndarray  # [component] share of the variance
    explained_null: np.ndarray  # [component] every column in a random order of its own
    tsne: np.ndarray  # [item, 2]
    periods: np.ndarray  # [frequency] in items
    power: np.ndarray  # [frequency] share of the rows' variance
    similarity: np.ndarray  # [step] mean cosine of centred rows 1, 2, .. apart
    similarity_null: np.ndarray  # [2, step] 5% and 95% quantiles
    power_null: np.ndarray  # [frequency] 95% quantile
    differences: tuple[int, ...]  # steps at which two items can share an answer
    numbers: dict[str, float]  # see `order.measure_order`
    null: dict[str, np.ndarray]  # the same, [permutation]


# One thread gives the same bits on every machine, and is faster for small matrices.
@threadpoolctl.threadpool_limits.wrap(limits=1)
def compute(
    member: Member,
    matrix: Annotated[str, 'path of a matrix [tokens, D]'] = MATRIX,
    items: Annotated[
        tuple[int, int] | None, 'tokens FROM,TO, without TO; default: the keys'
    ] = None,
    perplexity: Annotated[float, above(0), 'perplexity of t-SNE'] = 15,
    permutations: Annotated[
        int, at_least(1), at_most(100_000), 'random orders to compare with'
    ] = 200,
) -> Result:
    """Order in the rows of `matrix`.

    Args:
      items: tokens items[0] to items[1] - 1; by default the task's range of keys.

    Raises:
      UserError: no such matrix, no such rows, too few rows, or all rows are the same.
    """
    W = member.matrix(matrix)
    task = member.experiment.task
    items = check_items(task, W, items)
    rows = W[items]
    scores, explained = order.pca(rows)
    null = random_orders.measure_random_orders(rows, permutations)
    count = len(items)
    frequencies = np.arange(1, count // 2 + 1)
    return Result(
        items=items,
        scores=scores,
        explained=explained,
        explained_null=null.explained,
        tsne=order.tsne(rows, perplexity),
        periods=count / frequencies,
        power=order.power_spectrum(rows),
        similarity=order.similarity_by_step(rows),
        similarity_null=null.similarity,
        power_null=null.power,
        differences=_list_differences(task),
        numbers=order.measure_order(rows),
        null=null.numbers,
    )


def check_items(
    task: TaskConfig,
    W: np.ndarray,
    items: tuple[int, int] | None,
) -> np.ndarray:
    """The tokens items[0] to items[1] - 1 as an array.

    Raises:
      UserError: no such rows in W, fewer than six, or all of them are the same.
    """
    if items is None:
        if task.name not in _TASKS_WITH_KEYS:
            raise UserError(f'task {task.name!r} has no keys: give --items=FROM,TO')
        items = task.keys
    items = tuple(items)
    tokens = len(W)
    allowed = f'FROM,TO in [0, {tokens}], at least 6 apart'
    require(len(items) == 2, 'items', items, allowed)
    first, end = items
    require(first >= 0 and end <= tokens, 'items', items, allowed)
    require(end - first >= 6, 'items', items, allowed)
    spread = np.ptp(W[first:end], axis=0)
    if not spread.any():
        raise UserError(f'items = {items}: all their rows are the same, choose others')
    return np.arange(first, end)


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [2, 2]: PCA and t-SNE with the chains, power and similarity."""
    pca_axis, tsne_axis, spectrum_axis, similarity_axis = axes.flat
    _draw_pca(pca_axis, result)
    draw_items(tsne_axis, result.items, result.tsne, labelled=True)
    tsne_axis.set_title('t-SNE; red: steps of 3, blue: steps of 4', fontsize=7)
    draw_spectrum(spectrum_axis, result.periods, result.power, result.power_null)
    strongest = result.numbers['strongest period']
    share = result.numbers['strongest']
    title = f'strongest: period {strongest:.3g}, {share:.0%}'
    spectrum_axis.set_title(title, fontsize=7)
    draw_similarity(
        similarity_axis,
        result.similarity,
        result.similarity_null,
        marked=result.differences,
    )
    similarity_axis.set_title('dotted: differences of two shifts', fontsize=7)


def _list_differences(task: TaskConfig) -> tuple[int, ...]:
    """Differences of two shifts of the task."""
    if task.name != 'anchors':
        return ()
    differences = set()
    for shift, other in itertools.combinations(task.shift_of.values(), 2):
        differences.add(abs(shift - other))
    return tuple(sorted(differences - {0}))


def _draw_pca(axis: Axes, result: Result) -> None:
    numbers = result.numbers
    line_chance = np.quantile(result.null['line'], 0.95)
    curve_chance = np.quantile(result.null['curve'], 0.95)
    draw_items(axis, result.items, result.scores, labelled=True)
    first = numbers['rho 1']
    second = numbers['rho 2']
    line = numbers['line']
    curve = numbers['curve']
    title = (
        f'PCA: |ρ| {first:.2f}, {second:.2f}; '
        f'R² of line {line:.2f} (< {line_chance:.2f}), '
        f'curve {curve:.2f} (< {curve_chance:.2f})'
    )
    axis.set_title(title, fontsize=7)
    axis.set_xlabel(_label_component(result, 0))
    axis.set_ylabel(_label_component(result, 1))


def _label_component(result: Result, i: int) -> str:
    share = result.explained[i]
    chance = result.explained_null[i]
    return f'component {i + 1}: {share:.1%} (chance {chance:.1%})'


layout = style.Layout(2, 2, 7.0, 5.4)
