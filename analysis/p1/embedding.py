"""Are the embeddings of the key items in numerical order? (P1 Fig 5 c, d; P3 Fig 5B)

PCA (P1 v1, P3) and t-SNE (P1) of the rows of the key items. Two chains start at the
first item: a red one in steps of 3 and a blue one in steps of 4, the differences of the
shifts 5, 1 and -2. The numbers are compared with those of the same rows in random order
(`null`).

  python -m analysis embedding --run runs/phase --gamma=2.04 --depth=3 --seed=0

  --items=40,80 takes these tokens instead of the task's keys
"""

import itertools
import math
from typing import Annotated

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.lines import Line2D

from analysis.drawing import style
from analysis.names import name_matrix
from analysis.spectra import single_thread
from analysis.vectors import order
from anchorjax.errors import UserError, require
from anchorjax.limits import above, at_least, at_most
from anchorjax.network import Network
from anchorjax.tasks import TaskConfig
from anchorjax.tasks.anchors import AnchorsConfig

TITLE = 'Embedding'
PAPER = 'P1 Fig 5 (c, d), P3 Fig 5 B'
CAPTION = (
    'Does the embedding of a number x contain its value? Above: the numbers in the '
    'plane in which they differ most (PCA), and a map of neighbours (t-SNE); arrows '
    'are steps of 3 (red) and of 4 (blue). Below: periods of the embedding along x, '
    'and the mean cosine of two numbers by their distance. Grey: random orders.'
)
GRID_PAPER = 'P1 Fig 11'
GRID_CAPTION = (
    'Do networks place the numbers x in their order? The embeddings of the numbers '
    'are drawn in the plane in which they differ most (first two principal '
    'components; P1 draws t-SNE). Colour: the value of x. Lines: steps of 3 (red) and '
    'of 4 (blue). Above each: the largest rank correlation of a component with x, and '
    'R² of x regressed on both.'
)
MATRIX = 'W_embed'
NO_ORDER = 'all rows are equal'
# P1's red and blue, for chains of steps 3 and 4.
STEP_COLOURS = dict(zip(order.STEPS, ('#D62728', '#1F77B4'), strict=True))
# From the first number to the last: viridis without its palest yellow.
COLOURS = ListedColormap(matplotlib.colormaps['viridis'](np.linspace(0, 0.9, 256)))
_PERIODS = np.array([20, 10, 5, 4, 3, 2])  # named on the axis, if the items cover them
_GREY = style.COLOURS['memorizing']
_BLUE = style.COLOURS['composed']
Items = Annotated[
    tuple[int, int] | None, 'tokens FROM,TO, without TO; default: the keys'
]
Permutations = Annotated[
    int, at_least(1), at_most(100_000), 'random orders to compare with'
]


@single_thread
def compute(
    member: Network,
    matrix: Annotated[str, 'path of a matrix [tokens, D]'] = MATRIX,
    items: Items = None,
    perplexity: Annotated[float, above(0), 'perplexity of t-SNE'] = 15,
    permutations: Permutations = 200,
) -> xr.Dataset:
    """Order in the rows of `matrix`, beside that of the same rows in random order.

    Returns:
      What `compute_cell` does, and tsne [item, axis]; power [period], a share of the
      variance; similarity [step], the mean cosine of centred rows 1, 2, .. apart. Of
      random orders explained_null, power_null, similarity_null [(5 %, 95 % quantile),
      step] and chance [number].

    Raises:
      UserError: as `compute_cell`.
    """
    cell = compute_cell(member, matrix, items)
    rows = member.matrix(matrix)[cell['item'].values]
    null = order.measure_random_orders(rows, permutations)
    similarity = order.similarity_by_step(rows)
    count = len(rows)
    task = member.experiment.task
    shifts = list(task.shift_of.values()) if isinstance(task, AnchorsConfig) else [0]
    differences = np.unique(np.abs(np.subtract.outer(shifts, shifts)))
    return cell.assign(
        explained_null=('component', null.explained),
        tsne=(('item', 'axis'), order.tsne(rows, perplexity)),
        power=('period', order.power_spectrum(rows)),
        power_null=('period', null.power),
        similarity=('step', similarity),
        similarity_null=(('bound', 'step'), null.similarity),
        chance=('number', list(null.numbers.values())),
        period=count / np.arange(1, count // 2 + 1),
        step=np.arange(1, len(similarity) + 1),
    ).assign_attrs(
        differences=differences[1:]  # above 0: at which items share an answer
    )


@single_thread
def compute_cell(
    member: Network,
    matrix: Annotated[str, 'path of a matrix [tokens, D]'] = MATRIX,
    items: Items = None,
) -> xr.Dataset:
    """What a panel of the grid shows: the plane of the rows, and numbers of its order.

    Returns:
      scores [item, component] (no component falls with the value), the share of the
      variance `explained` by each, and value [number] of `order.measure_order`.

    Raises:
      UserError: no such matrix, no such rows, too few rows, or all rows are the same.
    """
    W = member.matrix(matrix)
    tokens = check_items(member.experiment.task, W, items)
    rows = W[tokens]
    if are_equal(rows):
        raise UserError(f'{matrix}: {NO_ORDER}')
    scores, explained = order.pca(rows)
    numbers = order.measure_order(rows)
    return xr.Dataset(
        {
            'scores': (('item', 'component'), scores),
            'explained': ('component', explained),
            'value': ('number', list(numbers.values())),
        },
        {'item': tokens, 'number': list(numbers)},
        {'matrix': matrix},
    )


def check_items(task: TaskConfig, W: np.ndarray, items: Items) -> np.ndarray:
    """The tokens items[0] to items[1] - 1 as an array.

    Raises:
      UserError: no such rows in W, or fewer than six.
    """
    if items is None:
        items = getattr(task, 'keys', None)
    if items is None:
        raise UserError(f'task {task.name!r} has no keys: give --items=FROM,TO')
    first, end = items
    tokens = len(W)
    allowed = f'FROM,TO in [0, {tokens}], at least 6 apart'
    is_range = first >= 0 and end <= tokens and end - first >= 6
    require(is_range, 'items', items, allowed)
    return np.arange(first, end)


def are_equal(rows: np.ndarray) -> bool:
    """Whether all rows [item, D] are the same, so that they have no order."""
    return not np.ptp(rows, axis=0).any()


def correlate_with_value(member: Network) -> float:
    """|Rank correlation| of a key and the component that has most of its order.

    NaN if all keys have the same row.

    Raises:
      UserError: as `check_items`, of the task's keys.
    """
    W_embed = member.matrix(MATRIX)
    keys = check_items(member.experiment.task, W_embed, None)
    rows = W_embed[keys]
    return math.nan if are_equal(rows) else order.measure_order(rows)['rho']


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [2, 2]: PCA and t-SNE with the chains, power and similarity."""
    pca_axis, tsne_axis, power_axis, similarity_axis = axes.flat
    _draw_pca(pca_axis, result)
    draw_items(tsne_axis, result['item'].values, result.tsne.values, labelled=True)
    tsne_axis.set_title('t-SNE; red: steps of 3, blue: steps of 4', fontsize=7)
    _draw_power(power_axis, result)
    _draw_similarity(similarity_axis, result)


def draw_items(
    axis: Axes, items: np.ndarray, points: np.ndarray, labelled: bool
) -> None:
    """Draws items as points, dark blue to yellow by value, and the chains of steps.

    Args:
      points: [item, 2 or more]; the first two coordinates are drawn.
      labelled: larger points with their item beside them, and arrows for lines.
    """
    points = points[:, :2]
    chain = {'arrowstyle': '->' if labelled else '-', 'shrinkA': 2, 'shrinkB': 2}
    chain |= {'lw': 0.6, 'alpha': 0.6}
    for step, colour in STEP_COLOURS.items():
        for start, end in itertools.pairwise(points[::step]):
            axis.annotate(
                '', end, start, arrowprops=chain | {'color': colour}, zorder=1
            )
    colours = COLOURS(np.linspace(0, 1, len(items)))
    size = 10 if labelled else 4
    axis.scatter(points[:, 0], points[:, 1], s=size, c=colours, lw=0, zorder=2)
    if labelled:
        beside = {'xytext': (1.5, 1.5), 'textcoords': 'offset points', 'fontsize': 5}
        for item, point, colour in zip(items, points, colours, strict=True):
            axis.annotate(str(item), point, color=colour, **beside)
    axis.set(xticks=[], yticks=[])


def draw_cell(axis: Axes, result: xr.Dataset) -> None:
    """Draws the plane of one network among others."""
    draw_items(axis, result['item'].values, result.scores.values, labelled=False)
    number = result.value.to_series()
    words = f'|ρ| {number["rho"]:.2f}, R² {number["line"]:.2f}'
    axis.set_title(words, fontsize=6, pad=2)


def draw_key(result: xr.Dataset, axes: np.ndarray) -> None:
    """Draws the colours of items and of the chains, and names the matrix."""
    figure = axes[0, 0].figure
    figure.suptitle(name_matrix(result.matrix))
    items = result['item'].values
    key = ScalarMappable(Normalize(items[0], items[-1]), COLOURS)
    figure.colorbar(key, label='number x', ax=axes[:, -1], **style.KEY)
    handles = []
    for step, colour in STEP_COLOURS.items():
        handles.append(Line2D([], [], color=colour, label=f'from x to x + {step}'))
    figure.legend(handles=handles, loc='outside lower center', ncols=2)


def _draw_pca(axis: Axes, result: xr.Dataset) -> None:
    numbers = result.value.to_series()
    chance = result.chance.to_series()
    items = result['item'].values
    draw_items(axis, items, result.scores.values, labelled=True)
    axis.set_title(
        f'PCA: |ρ| {numbers["rho 1"]:.2f}, {numbers["rho 2"]:.2f}; '
        f'R² of line {numbers["line"]:.2f} (< {chance["line"]:.2f}), '
        f'curve {numbers["curve"]:.2f} (< {chance["curve"]:.2f})',
        fontsize=7,
    )
    axis.set_xlabel(_label_component(result, 0))
    axis.set_ylabel(_label_component(result, 1))


def _label_component(result: xr.Dataset, i: int) -> str:
    share = result.explained.values[i]
    chance = result.explained_null.values[i]
    return f'component {i + 1}: {share:.1%} (chance {chance:.1%})'


def _draw_power(axis: Axes, result: xr.Dataset) -> None:
    """Power by period, over what random orders seldom pass."""
    frequencies = 1 / result.period
    axis.fill_between(frequencies, result.power_null, color=_GREY, alpha=0.4)
    axis.plot(frequencies, result.power, '.-', ms=3, lw=0.8, color=_BLUE)
    for step, colour in STEP_COLOURS.items():
        axis.axvline(1 / step, color=colour, lw=0.8, ls=':')
    ticks = _PERIODS[result.sizes['item'] >= _PERIODS]
    axis.set_xticks(1 / ticks, ticks)
    axis.set(yscale='log', xlim=(0, 0.51))
    axis.set(xlabel='period [items]', ylabel='share of power')
    period = result.value.sel(number='strongest period')
    share = result.value.sel(number='strongest')
    axis.set_title(f'strongest: period {period:.3g}, {share:.0%}', fontsize=7)


def _draw_similarity(axis: Axes, result: xr.Dataset) -> None:
    """The mean cosine by step, over the range of random orders."""
    steps = result.step.values
    low, high = result.similarity_null.values
    axis.fill_between(steps, low, high, color=_GREY, alpha=0.4, label='random order')
    axis.plot(steps, result.similarity, '.-', ms=4, color=_BLUE)
    for step in result.differences:
        axis.axvline(step, color=STEP_COLOURS.get(step, 'black'), lw=0.8, ls=':')
    axis.axhline(0, color='black', lw=0.5)
    axis.set_xlim(0, len(steps) + 1)
    axis.set(xlabel='step between two items', ylabel='mean cosine')
    axis.set_xticks(steps[::2])
    axis.legend(loc='upper right')
    axis.set_title('dotted: differences of two shifts', fontsize=7)


layout = style.Layout(2, 2, 7.0, 5.4)
