"""Does a network separate a pair of anchors from its reverse? (P1 Fig 3 b; P3 Fig 4 C)

The paper shows that a symmetric network puts (a, b) and (b, a) together. A map distorts
distances, so the numbers count neighbours, in the full space and in the map. They are
compared with chance and, in the full space, with the same network before training. P1
gives neither the token nor the settings of its map: we take the last token and the
defaults.

  python -m analysis tsne --run runs/phase --gamma=2.04 --depth=3 --seed=0

  --map_number=500 maps the first 500 sequences only, which is faster: the page does
  --of=output --perplexity=12 maps the output while no position reads the key, as P3
"""

import sys
from typing import Annotated, Literal

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from sklearn.manifold import TSNE
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from analysis.circuits import sequences
from analysis.drawing import style
from analysis.members.untrained import find_untrained
from analysis.vectors import extract
from anchorjax.errors import require
from anchorjax.limits import at_least, at_most
from anchorjax.network import Network

TITLE = 'Map of the pairs'
PAPER = 'P1 Fig 3 (b), P3 Fig 4 C'
CAPTION = (
    'The map shows what the last token holds after the first attention: similar '
    'sequences lie close (t-SNE). A pair and its reverse share a hue: where they mix,'
    ' the network does not tell them apart.'
)

SPACES = ('full space', 'map')
KINDS = ('same pair', 'symmetric pair', 'other pair')  # of neighbours
LABELS = ('same pair', 'its reverse', 'other pairs')
KIND_COLOURS = ('#0072B2', '#E69F00', '#999999')
_SLOW = 2_000  # sequences in a map that takes long enough to say so
GREY = (0.8, 0.8, 0.8, 1)
HUES = 14  # of 'tab20', dark and light in turn, before its greys 14 and 15
MOST_LISTED = 16  # pairs in a legend: of four anchors, as in the paper


def compute(
    member: Network,
    layer: Annotated[int, at_least(1), 'layer whose X_ao is taken, from 1'] = 1,
    number: Annotated[
        int, at_least(2), at_most(100_000), 'different random sequences'
    ] = 10_000,
    neighbours: Annotated[
        int, at_least(1), at_most(1_000), 'nearest neighbours to count'
    ] = 10,
    perplexity: Annotated[
        float, at_least(1), 'perplexity of t-SNE: about the neighbours of a point'
    ] = 30,
    map_number: Annotated[
        int | None, at_least(2), 'sequences in the map; default: all'
    ] = None,
    of: Annotated[
        Literal['attention', 'output'],
        'attention (P1), or output: logits, key hidden (P3)',
    ] = 'attention',
) -> xr.Dataset:
    """Vectors at the last token of `number` random sequences, the first of them mapped.

    All sequences differ: a copy would be the nearest neighbour of its original. A task
    with few different sequences gives fewer than `number`, and fewer than `map_number`;
    the result has the actual number.

      place     [sequence, axis] on the map, of the first `map_number` sequences
      pair      [sequence, anchor] their pairs
      share     [space, kind] of the neighbours of sequences of pairs (a, b), a != b
      chance    [space, kind] of neighbours drawn at random
      untrained [kind] shares in the full space before training; NaN if not known

    Args:
      of: 'attention', X_ao of `layer` (P1), or 'output', the logits when no position
        reads the key (P3). For 'output' the sequences differ in more than the key.

    Raises:
      UserError: no such layer, or too few sequences for neighbours or perplexity.
    """
    tokens_BT, pair_B2 = _sample_different(member, number, ignore_key=of == 'output')
    mapped = min(map_number or number, len(tokens_BT))
    allowed = f'fewer than the {mapped} sequences in the map'
    require(neighbours < mapped, 'neighbours', neighbours, allowed)
    require(perplexity < mapped, 'perplexity', perplexity, allowed)
    X_BD = _read_vectors(member, tokens_BT, layer, of)
    map_B2 = _map_vectors(X_BD[:mapped], perplexity)
    in_space = count_neighbours(X_BD, pair_B2, neighbours)
    in_map = count_neighbours(map_B2, pair_B2[:mapped], neighbours)
    untrained = xr.full_like(in_space.share, np.nan)
    start = find_untrained(member)
    if start is not None:
        X_BD = _read_vectors(start, tokens_BT, layer, of)
        untrained = count_neighbours(X_BD, pair_B2, neighbours).share
    found = xr.concat([in_space, in_map], 'space').assign_coords(space=list(SPACES))
    return found.assign(
        place=(('sequence', 'axis'), map_B2),
        pair=(('sequence', 'anchor'), pair_B2[:mapped]),
        untrained=untrained,
        of=of,
        layer=layer,
        number=len(tokens_BT),
        neighbours=neighbours,
        perplexity=perplexity,
    )


def _read_vectors(
    member: Network, tokens_BT: np.ndarray, layer: int, of: str
) -> np.ndarray:
    """The vectors [B, D] of these sequences."""
    if of == 'output':
        return extract.compute_logits_without_key(member, tokens_BT)
    return extract.read_vectors(member, tokens_BT, layer, 'X_ao')


def _sample_different(
    member: Network, number: int, ignore_key: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Tokens [B, T] and pairs [B, 2] of different sequences, at most `number`.

    They are the first different ones of twice as many draws. With `ignore_key` they
    differ in other tokens than the key.
    """
    drawn = sequences.sample(member, 2 * number)
    compared_BT = drawn.tokens_BT.copy()
    if ignore_key:
        compared_BT[np.arange(2 * number), drawn.position_B] = 0
    _, first_draws = np.unique(compared_BT, axis=0, return_index=True)
    kept = np.sort(first_draws)[:number]
    return drawn.tokens_BT[kept], drawn.pair_B2[kept]


def _map_vectors(X_BD: np.ndarray, perplexity: float) -> np.ndarray:
    """t-SNE map [B, 2], in one thread: 3 s instead of 70 s with many."""
    count = len(X_BD)
    if count >= _SLOW:
        message = f't-SNE of {count:,} sequences: 1 to 2 minutes per 10,000'
        print(message, file=sys.stderr)
    all_equal = not np.ptp(X_BD, axis=0).any()
    init = 'random' if all_equal else 'pca'  # equal vectors have no components
    model = TSNE(perplexity=perplexity, init=init, random_state=0)
    with threadpool_limits(1):
        return model.fit_transform(X_BD)


def count_neighbours(points_BD: np.ndarray, pair_B2: np.ndarray, k: int) -> xr.Dataset:
    """Which pairs the k nearest neighbours of the vectors carry, by KINDS.

      share  [kind] of the neighbours
      chance [kind] of neighbours drawn at random

    Both are of the vectors of pairs (a, b) with a != b.
    """
    with threadpool_limits(1):
        search = NearestNeighbors(n_neighbors=k).fit(points_BD)
        # Called without points, it leaves a vector out of its own neighbours.
        neighbour_BK = search.kneighbors(return_distance=False)
    differs_B = pair_B2[:, 0] != pair_B2[:, 1]
    pair_of_neighbour_BK2 = pair_B2[neighbour_BK][differs_B]
    is_kind = _compare_pairs(pair_B2[differs_B, None], pair_of_neighbour_BK2)

    pairs_A2, size_A = np.unique(pair_B2, axis=0, return_counts=True)
    differs_A = pairs_A2[:, 0] != pairs_A2[:, 1]
    # A vector is not its own neighbour, so its own pair has one candidate fewer.
    expected_AA = size_A[:, None] * (size_A - np.eye(len(size_A)))
    expected_AA = expected_AA[differs_A]
    could_be_kind = _compare_pairs(pairs_A2[differs_A, None], pairs_A2)
    chance = (could_be_kind * expected_AA).sum((1, 2)) / expected_AA.sum()
    return xr.Dataset(
        {'share': ('kind', is_kind.mean((1, 2))), 'chance': ('kind', chance)},
        {'kind': list(KINDS)},
    )


def _compare_pairs(own_B2: np.ndarray, others_B2: np.ndarray) -> np.ndarray:
    """Whether the others are of each of KINDS, beside pairs (a, b): [kind, ...]."""
    is_same = (own_B2 == others_B2).all(-1)
    is_symmetric = (own_B2 == others_B2[..., ::-1]).all(-1)
    return np.stack([is_same, is_symmetric, ~(is_same | is_symmetric)])


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [1, 2]: the map, and the kinds of neighbours."""
    _draw_map(axes[0, 0], result)
    _draw_bars(axes[0, 1], result)


layout = style.Layout(1, 2, 7.4, 3.8)


def _draw_map(axis: Axes, result: xr.Dataset) -> None:
    pairs_A2, pair_B = np.unique(result.pair, axis=0, return_inverse=True)
    size = min(300 / len(pair_B) ** 0.5, 12)
    colours_B4 = _colour_pairs(pairs_A2)[pair_B]
    axis.scatter(*result.place.values.T, s=size, lw=0, rasterized=True, c=colours_B4)
    title = 'output, key hidden'
    if result.of == 'attention':
        title = f'X_ao of layer {result.layer.item()} at the last token (t-SNE)'
    axis.set(xticks=[], yticks=[], title=title)
    axis.spines[['left', 'bottom']].set_visible(False)
    _draw_legend(axis, pairs_A2)


def _colour_pairs(pairs_A2: np.ndarray) -> np.ndarray:
    """RGBA of ordered pairs [A, 4]: a pair dark, its reverse light; (a, a) is grey."""
    first_A, second_A = pairs_A2.T
    differs_A = first_A != second_A
    unordered = np.sort(pairs_A2[differs_A], axis=1)
    _, hue = np.unique(unordered, axis=0, return_inverse=True)
    is_light = (first_A > second_A)[differs_A]
    index = (2 * hue + is_light) % HUES
    colours_A4 = np.tile(GREY, (len(pairs_A2), 1))
    colours_A4[differs_A] = matplotlib.colormaps['tab20'](index)
    return colours_A4


def _draw_legend(axis: Axes, pairs_A2: np.ndarray) -> None:
    """Below the axis every pair above its reverse; words where they are too many."""
    if len(pairs_A2) > MOST_LISTED:
        axis.set_xlabel('a hue: a pair, light: its reverse;\nhues repeat; grey: a,a')
        return
    colours_A4 = _colour_pairs(pairs_A2)
    handles = []
    for i in np.lexsort((pairs_A2[:, 0], pairs_A2.max(1), pairs_A2.min(1))):
        first, second = pairs_A2[i]
        if first != second:
            handles.append(_make_dot(colours_A4[i], f'{first},{second}'))
    handles.append(_make_dot(np.array(GREY), 'a,a'))
    axis.legend(
        handles=handles,
        ncols=(len(handles) + 1) // 2,
        title='pair (above, dark) and its reverse (below, light)',
        title_fontsize=7,
        loc='upper center',
        bbox_to_anchor=(0.5, 0),
        handletextpad=0,
        columnspacing=0.8,
    )


def _make_dot(rgba: np.ndarray, label: str) -> Line2D:
    return Line2D([], [], marker='o', ls='', ms=4, color=tuple(rgba), label=label)


def _draw_bars(axis: Axes, result: xr.Dataset) -> None:
    """Draws the share of every kind of neighbour in both spaces, with its chance.

    Dotted, in the full space: the same share before training.
    """
    spaces = np.arange(len(SPACES))
    half = 0.11  # of the width of a bar
    for i, kind in enumerate(KINDS):
        here = result.sel(kind=kind)
        x = spaces + (i - 1) / 4
        bars = axis.bar(x, here.share, 2 * half, color=KIND_COLOURS[i])
        bars.set_label(LABELS[i])
        axis.hlines(here.chance, x - half, x + half, color='k', lw=1.2)
        ends = (x[0] - half, x[0] + half)
        axis.hlines(here.untrained, *ends, color='k', lw=1.2, ls=':')
    axis.plot([], [], color='k', lw=1.2, label='chance')
    axis.plot([], [], color='k', lw=1.2, ls=':', label='untrained')
    mapped = result.sizes['sequence']
    labels = (
        f'in all dimensions,\n{result.number.item():,} sequences',
        f'on the map,\n{mapped:,} of them',
    )
    axis.set_xticks(spaces, labels)
    title = f'pairs of the {result.neighbours.item()} nearest neighbours'
    axis.set(ylim=(0, 1), title=title, ylabel='share of the neighbours')
    below = (0.5, -0.18)
    axis.legend(loc='upper center', bbox_to_anchor=below, ncols=3, columnspacing=1)
