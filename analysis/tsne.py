"""Does a network keep a pair of anchors apart from its reverse? (P1 Fig 3 b; P3 Fig 4 C)

The paper shows that a symmetric network puts (a, b) and (b, a) together. A map may join and tear
what it likes, so the numbers count neighbours, in the full space and in the map, against chance.
P1 gives neither the token nor the settings of its map: we take the last token and the defaults.
P3 maps the output instead, the key hidden from all attention: --of=output --perplexity=12.

  python analysis/tsne.py --run runs/phase --depth=2 --gamma=0.9 --seed=1 --map_number=2000
"""

import sys
from typing import NamedTuple

import numpy as np
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from analysis.circuits import sequences
from analysis.drawing import command, hues, style
from analysis.members.member import Member
from analysis.vectors import extract
from analysis.vectors.nearest import KINDS, nearest
from anchorjax.errors import require

SPACES = ('full space', 'map')
SOURCES = ('attention', 'output')


class Result(NamedTuple):
    """Vectors of sequences and what their neighbours carry; A counts ordered pairs of anchors."""

    map_B2: np.ndarray  # of the first `map_number` sequences
    pair_B: np.ndarray  # their pairs, index into pairs_A2
    pairs_A2: np.ndarray
    shares: (
        np.ndarray
    )  # [space, kind], mean over the sequences of a pair (a, b) with a != b
    chance: np.ndarray  # [space, kind], of neighbours drawn at random
    counts: (
        np.ndarray
    )  # [space, A, A] neighbours: of sequences of a pair, carrying another
    of: str  # one of SOURCES
    layer: int
    number: int  # of different sequences
    neighbours: int
    perplexity: float


def compute(
    member: Member,
    layer: int = 1,
    number: int = 10_000,
    neighbours: int = 10,
    perplexity: float = 30,
    map_number: int | None = None,
    of: str = 'attention',
) -> Result:
    """Vectors at the last token of `number` random sequences, the first of them mapped.

    No two sequences are the same: a sequence would be its own neighbour. A task of few different
    ones gives fewer than `number`, and than `map_number`; the Result says how many.

    Args:
      of: 'attention', X_ao of `layer` (P1), or 'output', the logits when no position reads the
        key (P3); sequences then differ in more than the key.

    Raises:
      UserError: no such layer, or too few sequences for the neighbours or the perplexity.
    """
    mapped = number if map_number is None else map_number
    require(1 <= mapped <= number, 'map_number', mapped, f'from 1 to number = {number}')
    require(of in SOURCES, 'of', of, f'one of {SOURCES}')
    tokens_BT, pair_B2 = _different(member, number, but_key=of == 'output')
    _check(len(tokens_BT[:mapped]), neighbours, perplexity)
    pairs_A2, pair_B = np.unique(pair_B2, axis=0, return_inverse=True)
    look = {'attention': extract.after_attention, 'output': extract.without_key}[of]
    X_BD = look(member, tokens_BT, *([layer] if of == 'attention' else []))
    map_B2 = _map(X_BD[:mapped], perplexity)
    found = [nearest(x, pair_B[: len(x)], pairs_A2, neighbours) for x in (X_BD, map_B2)]
    return Result(
        map_B2=map_B2,
        pair_B=pair_B[:mapped],
        pairs_A2=pairs_A2,
        shares=np.stack([space.shares for space in found]),
        chance=np.stack([space.chance for space in found]),
        counts=np.stack([space.counts_AA for space in found]),
        of=of,
        layer=layer,
        number=len(tokens_BT),
        neighbours=neighbours,
        perplexity=perplexity,
    )


def draw(result: Result, axes) -> None:
    """Fills axes [1, 2]: the map, one hue for a pair and its reverse; what neighbours carry."""
    colours = hues.colours(result.pairs_A2)[result.pair_B]
    size = min(300 / len(result.map_B2) ** 0.5, 12)
    axes[0, 0].scatter(*result.map_B2.T, s=size, lw=0, rasterized=True, c=colours)
    attention = f'layer {result.layer}, last token'
    title = attention if result.of == 'attention' else 'output, key hidden'
    axes[0, 0].set(xticks=[], yticks=[], title=title)
    axes[0, 0].spines[['left', 'bottom']].set_visible(False)
    hues.legend(axes[0, 0], result.pairs_A2)
    _bars(axes[0, 1], result)


def _different(
    member: Member, number: int, but_key: bool
) -> tuple[np.ndarray, np.ndarray]:
    """(tokens_BT, pair_B2) of the first `number` different sequences in twice as many draws."""
    drawn = sequences.random(member, 2 * number)
    seen_BT = drawn.tokens_BT.copy()
    if but_key:
        seen_BT[np.arange(len(seen_BT)), drawn.position_B] = 0
    _, first = np.unique(seen_BT, axis=0, return_index=True)
    kept = np.sort(first)[:number]
    return drawn.tokens_BT[kept], drawn.pair_B2[kept]


def _check(mapped: int, neighbours: int, perplexity: float) -> None:
    few = 'fewer than the sequences in the map'
    require(
        1 <= neighbours < mapped,
        'neighbours',
        neighbours,
        f'from 1 to {mapped - 1}, {few}',
    )
    require(
        1 <= perplexity < mapped, 'perplexity', perplexity, f'in [1, {mapped}), {few}'
    )


def _map(X_BD, perplexity: float) -> np.ndarray:
    """[B, 2]. In one thread: without the limit it took 70 s here, with it 3 s (DESIGN 3)."""
    if len(X_BD) >= 2_000:
        print(
            f't-SNE of {len(X_BD):,} sequences: 1 to 2 minutes per 10,000',
            file=sys.stderr,
        )
    start = (
        'pca' if np.ptp(X_BD, axis=0).any() else 'random'
    )  # vectors all equal: no components
    with threadpool_limits(1):
        return TSNE(perplexity=perplexity, init=start, random_state=0).fit_transform(
            X_BD
        )


def _bars(axis, result: Result) -> None:
    spaces = (f'{result.number:,} sequences', f'map of {len(result.pair_B):,}')
    for i, (kind, colour) in enumerate(
        zip(KINDS, ('#0072B2', '#E69F00', '#999999'), strict=True)
    ):
        place = np.arange(len(SPACES)) + (i - 1) / 4
        axis.bar(place, result.shares[:, i], 0.22, label=kind, color=colour)
        axis.hlines(result.chance[:, i], place - 0.11, place + 0.11, color='k', lw=1.2)
    axis.plot([], [], color='k', lw=1.2, label='chance')
    axis.set_xticks(range(len(spaces)), spaces)
    title = f'share of the {result.neighbours} nearest'
    axis.set(ylim=(0, 1), title=title, ylabel='share')
    axis.legend(
        loc='upper center', bbox_to_anchor=(0.5, -0.1), ncols=4, columnspacing=1
    )


layout = style.Layout(1, 2, 7.0, 3.4)

if __name__ == '__main__':
    command.member(
        __doc__,
        'tsne',
        compute,
        draw,
        layout,
        layer=command.Flag(int, 1, 'layer whose X_ao is taken, from 1'),
        number=command.Flag(int, 10_000, 'different random sequences'),
        neighbours=command.Flag(int, 10, 'nearest neighbours to count'),
        perplexity=command.Flag(
            float, 30.0, 'of t-SNE: about how many neighbours a point has'
        ),
        map_number=command.Flag(int, None, 'sequences in the map; default all'),
        of=command.Flag(
            str, 'attention', 'attention (P1), or output: logits, key hidden (P3)'
        ),
    )
