"""Does a network keep a pair of anchors apart from its reverse? t-SNE of layer 1 (P1 Fig 3 b).

The paper shows that a symmetric network puts (a, b) and (b, a) together. A map may join and tear
what it likes, so the numbers count neighbours, in the full space and in the map, against chance.
P1 gives neither the token nor the settings of its map: we take the last token and the defaults.

  python analysis/tsne.py --run runs/phase --depth=2 --gamma=0.9 --seed=1 --map_number=2000
"""

import pathlib
import sys
from typing import NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.lines import Line2D
from sklearn.manifold import TSNE
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from analysis import command, sequences, style
from analysis.member import Member
from anchorjax.errors import require

KINDS = ('same pair', 'symmetric pair', 'other pair')
SPACES = ('full space', 'map')


class Result(NamedTuple):
    """Vectors of sequences and what their neighbours carry; A counts ordered pairs of anchors."""

    map_B2: np.ndarray  # of the first `map_number` sequences
    pair_B: np.ndarray  # their pairs, index into pairs_A2
    pairs_A2: np.ndarray
    shares: np.ndarray  # [space, kind], mean over the sequences of a pair (a, b) with a != b
    chance: np.ndarray  # [space, kind], of neighbours drawn at random
    counts: np.ndarray  # [space, A, A] neighbours: of sequences of a pair, carrying another
    layer: int
    number: int
    neighbours: int
    perplexity: float


def compute(
    member: Member,
    layer: int = 1,
    number: int = 10_000,
    neighbours: int = 10,
    perplexity: float = 30,
    map_number: int | None = None,
) -> Result:
    """X_ao of `layer` at the last token of `number` random sequences, the first of them mapped.

    The full space holds all of them. A sequence drawn twice counts as a neighbour of itself.

    Raises:
      UserError: no such layer, or too few sequences for the neighbours or the perplexity.
    """
    mapped = number if map_number is None else map_number
    _check(number, mapped, neighbours, perplexity)
    drawn = sequences.random(member, number)
    pairs_A2, pair_B = np.unique(drawn.pair_B2, axis=0, return_inverse=True)
    X_BD = vectors(member, drawn.tokens_BT, layer)
    map_B2 = _map(X_BD[:mapped], perplexity)
    counts = [_neighbours(points, pair_B, len(pairs_A2), neighbours) for points in (X_BD, map_B2)]
    expected = [_at_random(pair_B[:n], len(pairs_A2)) for n in (number, mapped)]
    return Result(
        map_B2=map_B2,
        pair_B=pair_B[:mapped],
        pairs_A2=pairs_A2,
        shares=np.stack([_shares(c, pairs_A2) for c in counts]),
        chance=np.stack([_shares(c, pairs_A2) for c in expected]),
        counts=np.stack(counts),
        layer=layer,
        number=number,
        neighbours=neighbours,
        perplexity=perplexity,
    )


def draw(result: Result, axes) -> None:
    """Fills axes [1, 2]: the map, one hue for a pair and its reverse; what neighbours carry."""
    colours = _colours(result.pairs_A2)
    size = min(300 / len(result.map_B2) ** 0.5, 12)
    axes[0, 0].scatter(*result.map_B2.T, s=size, lw=0, rasterized=True, c=colours[result.pair_B])
    axes[0, 0].set(xticks=[], yticks=[], title=f'layer {result.layer}, last token')
    axes[0, 0].spines[['left', 'bottom']].set_visible(False)
    _legend(axes[0, 0], result.pairs_A2, colours)
    _bars(axes[0, 1], result)


def vectors(member: Member, tokens_BT, layer: int) -> np.ndarray:
    """X_ao of a layer (from 1) at the last token [B, D], in parts that fit into memory."""
    found = []
    for start in range(0, len(tokens_BT), 2_000):
        blocks = member.forward(tokens_BT[start : start + 2_000]).blocks
        require(1 <= layer <= len(blocks), 'layer', layer, f'from 1 to {len(blocks)}')
        found.append(blocks[layer - 1].X_ao[:, -1])
    return np.concatenate(found)


def _check(number: int, mapped: int, neighbours: int, perplexity: float) -> None:
    require(1 <= mapped <= number, 'map_number', mapped, f'from 1 to number = {number}')
    require(1 <= neighbours < mapped, 'neighbours', neighbours, f'from 1 to {mapped - 1}, {_FEW}')
    require(1 <= perplexity < mapped, 'perplexity', perplexity, f'in [1, {mapped}), {_FEW}')


_FEW = 'fewer than the sequences in the map'


def _map(X_BD, perplexity: float) -> np.ndarray:
    """[B, 2]. More threads than cores slow it twentyfold; vectors all equal have no direction."""
    if len(X_BD) >= 2_000:
        print(f't-SNE of {len(X_BD):,} sequences: 1 to 2 minutes per 10,000', file=sys.stderr)
    start = 'pca' if np.ptp(X_BD, axis=0).any() else 'random'
    with threadpool_limits(1):
        return TSNE(perplexity=perplexity, init=start, random_state=0).fit_transform(X_BD)


def _neighbours(points, pair_B, pairs: int, k: int) -> np.ndarray:
    """[A, A]: how many of the k nearest of the sequences of a pair carry each pair."""
    with threadpool_limits(1):
        near_BK = NearestNeighbors(n_neighbors=k).fit(points).kneighbors(return_distance=False)
    counts = np.zeros((pairs, pairs), int)
    np.add.at(counts, (pair_B[: len(points), None], pair_B[near_BK]), 1)
    return counts


def _at_random(pair_B, pairs: int) -> np.ndarray:
    """What to expect in `_neighbours`, up to a factor: one's own pair has one fewer to offer."""
    size_A = np.bincount(pair_B, minlength=pairs)
    return size_A[:, None] * (size_A - np.eye(pairs))


def _shares(counts, pairs_A2) -> np.ndarray:
    """Along KINDS, of the neighbours of pairs of two different anchors."""
    apart_A = pairs_A2[:, 0] != pairs_A2[:, 1]
    same_AA, mirrored_AA = (
        (pairs_A2[:, None] == other).all(-1) for other in (pairs_A2, pairs_A2[:, ::-1])
    )
    kinds = (same_AA, mirrored_AA, ~(same_AA | mirrored_AA))
    return np.array([(counts * kind)[apart_A].sum() for kind in kinds]) / counts[apart_A].sum()


def _hues(pairs_A2) -> np.ndarray:
    """Number of the unordered pair; -1 for a pair (a, a)."""
    apart_A = pairs_A2[:, 0] != pairs_A2[:, 1]
    hues_A = np.full(len(pairs_A2), -1)
    unordered = np.sort(pairs_A2[apart_A], axis=1)
    hues_A[apart_A] = np.unique(unordered, axis=0, return_inverse=True)[1]
    return hues_A


def _colours(pairs_A2) -> np.ndarray:
    """Dark and light of a hue for (a, b) and (b, a), grey for (a, a)."""
    light_A, hues_A = pairs_A2[:, 0] > pairs_A2[:, 1], _hues(pairs_A2)
    colours = plt.get_cmap('tab20')((2 * hues_A + light_A) % 14)  # 14 and 15 are its greys
    colours[hues_A < 0] = (0.8, 0.8, 0.8, 1)
    return colours


def _legend(axis, pairs_A2, colours) -> None:
    """A pair stands above its reverse; the pairs (a, a) share one entry."""
    order = sorted(np.flatnonzero(_hues(pairs_A2) >= 0), key=lambda i: (_hues(pairs_A2)[i], i))
    dots = [(colours[i], '{},{}'.format(*pairs_A2[i])) for i in order] + [((0.8,) * 3, 'a,a')]
    handles = [Line2D([], [], marker='o', ls='', ms=4, color=c, label=name) for c, name in dots]
    axis.legend(
        handles=handles,
        ncols=(len(handles) + 1) // 2,
        loc='upper center',
        bbox_to_anchor=(0.5, 0),
        handletextpad=0,
        columnspacing=0.8,
    )


def _bars(axis, result: Result) -> None:
    for i, (kind, colour) in enumerate(zip(KINDS, ('#0072B2', '#E69F00', '#999999'), strict=True)):
        place = np.arange(len(SPACES)) + (i - 1) / 4
        axis.bar(place, result.shares[:, i], 0.22, label=kind, color=colour)
        axis.hlines(result.chance[:, i], place - 0.11, place + 0.11, color='k', lw=1.2)
    axis.plot([], [], color='k', lw=1.2, label='chance')
    axis.set_xticks(
        range(len(SPACES)), [f'{result.number:,} sequences', f'map of {len(result.pair_B):,}']
    )
    title = f'share of the {result.neighbours} nearest'
    axis.set(ylim=(0, 1), title=title, ylabel='share')
    axis.legend(loc='upper center', bbox_to_anchor=(0.5, -0.1), ncols=4, columnspacing=1)


layout = style.Layout(1, 2, 7.0, 3.4)

if __name__ == '__main__':
    command.member(
        __doc__,
        'tsne',
        compute,
        draw,
        layout,
        layer=command.Flag(int, 1, 'layer whose X_ao is taken, from 1'),
        number=command.Flag(int, 10_000, 'random sequences'),
        neighbours=command.Flag(int, 10, 'nearest neighbours to count'),
        perplexity=command.Flag(float, 30.0, 'of t-SNE: about how many neighbours a point has'),
        map_number=command.Flag(int, None, 'sequences in the map; default all'),
    )
