"""Are the embeddings of the key items in the order of the numbers? (P1 Fig 5 c, d; P3 Fig 5B)

PCA (P1 v1, P3) and t-SNE (P1) of the rows of the key items, with one chain of step 3 in red and one
of step 4 in blue, both from the first item: the steps between the shifts 5, 1 and -2. Numbers are
read against the same rows in random order (`null`).

  python analysis/embedding.py --run runs/phase --depth=2 --gamma=1.5 --seed=0
  python analysis/embedding.py --run runs/phase --depth=2 --gamma=1.5 --seed=0 --items=40,80
"""

from typing import NamedTuple

import numpy as np
import threadpoolctl

from analysis.drawing import command, style
from analysis.members.member import Member
from analysis.vectors import order
from anchorjax.errors import UserError

MATRIX = 'W_embed'
STEPS = dict(zip(order.STEPS, ('#D62728', '#1F77B4'), strict=True))  # P1's red and blue


class Result(NamedTuple):
    """The rows of the items; components are turned so that none falls with the value."""

    items: np.ndarray  # [item] tokens
    scores: np.ndarray  # [item, component]
    explained: np.ndarray  # [component] share of the variance
    explained_null: np.ndarray  # [component] with every column in its own random order
    tsne: np.ndarray  # [item, 2]
    periods: np.ndarray  # [frequency] in items
    power: np.ndarray  # [frequency] share of the rows' variance
    similarity: np.ndarray  # [step] mean cosine of centred rows 1, 2, .. apart
    similarity_null: np.ndarray  # [2, step] 5 % and 95 % quantiles
    power_null: np.ndarray  # [frequency] 95 % quantile
    differences: tuple[
        int, ...
    ]  # of two shifts of the task: items that can share an answer
    numbers: dict[str, float]  # see `order.numbers`
    null: dict[str, np.ndarray]  # the same, [permutation]


@threadpoolctl.threadpool_limits.wrap(
    limits=1
)  # the same bits anywhere; faster for small matrices
def compute(
    member: Member,
    matrix: str = MATRIX,
    items=None,
    perplexity: float = 15,
    permutations: int = 200,
) -> Result:
    """Order in the rows of `matrix`, of tokens items[0] to items[1] - 1 (default: the key range).

    Raises:
      UserError: no such matrix, not such rows, too few of them or all the same.
    """
    W = member.matrix(matrix)
    items = check_items(member.experiment.task, W, items)
    if permutations < 1:
        raise UserError(f'permutations = {permutations}: must be at least 1')
    scores, explained = order.pca(W[items])
    rng = np.random.default_rng(0)
    shuffled = [W[rng.permutation(items)] for _ in range(permutations)]
    null = [order.numbers(rows) for rows in shuffled]
    independent = [order.pca(rng.permuted(W[items], axis=0))[1] for _ in range(20)]
    quantile = lambda q, of: np.quantile([of(rows) for rows in shuffled], q, axis=0)
    return Result(
        items=items,
        scores=scores,
        explained=explained,
        explained_null=np.mean(independent, axis=0),
        tsne=order.tsne(W[items], perplexity),
        periods=len(items) / np.arange(1, len(items) // 2 + 1),
        power=order.power(W[items]),
        similarity=order.similarity(W[items]),
        similarity_null=quantile((0.05, 0.95), order.similarity),
        power_null=quantile(0.95, order.power),
        differences=_differences(member.experiment.task),
        numbers=order.numbers(W[items]),
        null={name: np.array([one[name] for one in null]) for name in null[0]},
    )


def check_items(task, W, items) -> np.ndarray:
    """The tokens as an array, or a UserError."""
    if items is None and task.name != 'anchors':
        raise UserError(f'task {task.name!r} has no key items: give --items=FROM,TO')
    chosen = tuple(task.keys if items is None else items)
    first, end = chosen if len(chosen) == 2 else (-1, -1)
    if not 0 <= first <= end - 6 <= len(W) - 6:
        raise UserError(
            f'items = {chosen}: must be FROM,TO in [0, {len(W)}], at least 6 apart'
        )
    if not np.ptp(W[first:end], axis=0).any():
        raise UserError(f'items = {chosen}: all their rows are the same')
    return np.arange(first, end)


def _differences(task) -> tuple[int, ...]:
    shifts = task.shifts if task.name == 'anchors' else ()
    return tuple(sorted({abs(a - b) for a in shifts for b in shifts} - {0}))


def draw(result: Result, axes) -> None:
    """Fills axes [2, 2]: PCA and t-SNE with the chains, power by period, similarity by step."""
    n, null = result.numbers, result.null
    chance = {name: np.quantile(null[name], 0.95) for name in ('line', 'curve')}
    scatter(axes[0, 0], result.items, result.scores, labelled=True)
    axes[0, 0].set_title(
        f'PCA: |ρ| {n["rho 1"]:.2f}, {n["rho 2"]:.2f}; R² of line {n["line"]:.2f} '
        f'(< {chance["line"]:.2f}), curve {n["curve"]:.2f} (< {chance["curve"]:.2f})',
        fontsize=7,
    )
    for i, set_label in enumerate((axes[0, 0].set_xlabel, axes[0, 0].set_ylabel)):
        share, expected = result.explained[i], result.explained_null[i]
        set_label(f'component {i + 1}: {share:.1%} (chance {expected:.1%})')
    scatter(axes[0, 1], result.items, result.tsne, labelled=True)
    axes[0, 1].set_title('t-SNE; red: steps of 3, blue: steps of 4', fontsize=7)
    _spectrum(axes[1, 0], result)
    _similarity(axes[1, 1], result)


def scatter(axis, items, points, labelled: bool) -> None:
    """The items where they lie, dark blue to yellow by value, and the chains of STEPS."""
    for step, colour in STEPS.items():
        for start, end in zip(
            points[:-step:step, :2], points[step::step, :2], strict=True
        ):
            line = {'arrowstyle': '->' if labelled else '-', 'color': colour} | _THIN
            axis.annotate('', end, start, arrowprops=line, zorder=1)
    size, shade = (10 if labelled else 4), style.plt.get_cmap('viridis')
    colours = shade(np.linspace(0, 0.9, len(items)))
    axis.scatter(points[:, 0], points[:, 1], s=size, c=colours, lw=0, zorder=2)
    if labelled:
        for item, colour, point in zip(items, colours, points, strict=True):
            axis.annotate(
                str(item),
                point[:2],
                (1.5, 1.5),
                textcoords='offset points',
                fontsize=5,
                color=colour,
            )
    axis.set(xticks=[], yticks=[])


_THIN = {'lw': 0.6, 'alpha': 0.6, 'shrinkA': 2, 'shrinkB': 2}


def _spectrum(axis, result: Result) -> None:
    frequency = 1 / result.periods
    axis.fill_between(
        frequency, result.power_null, color=style.COLOURS['memorizing'], alpha=0.4
    )
    axis.plot(
        frequency, result.power, '.-', ms=3, lw=0.8, color=style.COLOURS['inferential']
    )
    for step, colour in STEPS.items():
        axis.axvline(1 / step, color=colour, lw=0.8, ls=':')
    ticks = [period for period in (20, 10, 5, 4, 3, 2) if period <= result.periods[0]]
    axis.set_xticks([1 / period for period in ticks], ticks)
    axis.set(
        yscale='log', xlim=(0, 0.51), xlabel='period [items]', ylabel='share of power'
    )
    strongest, share = result.numbers['strongest period'], result.numbers['strongest']
    axis.set_title(f'strongest: period {strongest:.3g}, {share:.0%}', fontsize=7)


def _similarity(axis, result: Result) -> None:
    steps, grey = np.arange(1, len(result.similarity) + 1), style.COLOURS['memorizing']
    axis.fill_between(
        steps, *result.similarity_null, color=grey, alpha=0.4, label='random order'
    )
    axis.plot(steps, result.similarity, '.-', ms=4, color=style.COLOURS['inferential'])
    for step in result.differences:
        axis.axvline(step, color=STEPS.get(step, 'black'), lw=0.8, ls=':')
    axis.axhline(0, color='black', lw=0.5)
    axis.set(
        xlim=(0, len(steps) + 1), xlabel='step between two items', ylabel='mean cosine'
    )
    axis.set_title('dotted: differences of two shifts', fontsize=7)
    axis.set_xticks(steps[::2])
    axis.legend(loc='upper right')


layout = style.Layout(2, 2, 7.0, 5.4)

if __name__ == '__main__':
    command.member(
        __doc__,
        'embedding',
        compute,
        draw,
        layout,
        matrix=command.Flag(str, MATRIX, 'path of a matrix [tokens, D]'),
        items=command.Flag(
            command.numbers, None, 'FROM,TO of the tokens, TO not among them'
        ),
        perplexity=command.Flag(float, 15, 'of t-SNE'),
        permutations=command.Flag(int, 200, 'random orders to compare with'),
    )
