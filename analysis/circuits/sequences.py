"""Sequences of the anchor task to run a network on: random, or the paper's example."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from analysis.members.selection import require_task
from anchorjax.errors import UserError, require
from anchorjax.network import Network
from anchorjax.tasks import anchors
from anchorjax.tasks.anchors import AnchorsConfig

# P1 Fig 3's test sequence (v1, notebook; PAPERS 1.4): key 99 at position 2, pair (4,
# 3).
PAPER = (35, 63, 99, 4, 3, 38, 42, 36, 62)
# How far the key item stands from the first of the three tokens.
_KEY_OFFSET = {'key_first': 0, 'anchors_first': 2}


class Sequences(NamedTuple):
    """B sequences, with what was placed in each and where."""

    tokens_BT: np.ndarray
    x_B: np.ndarray  # key items
    pair_B2: np.ndarray  # (a1, a2)
    position_B: np.ndarray  # of the key item


def sample(member: Network, number: int, pairs: np.ndarray | None = None) -> Sequences:
    """Sequences with uniform keys, pairs, positions and noise.

    The last token is noise if the task has sequences of that kind.

    Args:
      pairs: the pairs of anchors to choose from, [A, 2]; all of them by default.

    Raises:
      UserError: the member's task is not the anchor task.
    """
    config = require_anchor_task(member)
    if pairs is None:
        pairs = anchors.list_pairs(config)
    before_noise = [p for p in config.positions if p + 3 < config.seq_len]
    positions = before_noise or list(config.positions)

    rng = np.random.default_rng(0)  # a new order of the draws gives new sequences
    noise_BT = rng.integers(*config.keys, (number, config.seq_len))
    first_B = positions[0] + rng.integers(0, len(positions), number)
    x_B = rng.integers(*config.keys, number)
    index_B = rng.integers(0, len(pairs), number)
    return place(noise_BT, first_B, x_B, pairs[index_B], config.order)


def fit_paper_sequence(member: Network) -> np.ndarray:
    """P1 Fig 3's sequence as the tokens [T] of the member's task.

    A shorter task gets the part around the key and the pair, a longer one repeats the
    last token. If the pair always comes last, so it does here.
    """
    config = require_anchor_task(member)
    length = config.seq_len
    padding = PAPER[-1:] * max(length - len(PAPER), 0)
    if config.last_token == 'pair':
        end = PAPER.index(3) + 1
        tokens = padding + PAPER[end:] + PAPER[:end]
        return np.array(tokens[-length:])
    tokens = PAPER + padding
    # From six tokens on, the part starts where the paper's sequence does. A shorter
    # part gives up the noise before the key, which stands at position 2.
    missing = max(6 - length, 0)
    start = min(missing, 2)
    end = start + length
    return np.array(tokens[start:end])


def select_eval_sets(member: Network, most: int) -> tuple[np.ndarray, np.ndarray]:
    """(tokens [B, T], labels [P, R, B / P]) of the member's own eval sets.

    Only sequences that end in noise are taken: in the others the last token is also an
    anchor (or the key), and the edges of the two cannot be told apart. If none does,
    the last token has one role in all of them, and all count. As many of each eval set
    are taken as the largest power of two up to `most`, so that members share compiled
    programs.

    Raises:
      UserError: one eval set alone has no sequence that ends in noise.
    """
    tokens_PBT, labels_PRB = member.eval_sets
    last = member.task.role_names.index('last')
    ends_in_noise_PB = np.array([member.roles(x)[:, -1] == last for x in tokens_PBT])
    if not ends_in_noise_PB.any():
        ends_in_noise_PB[:] = True
    ends_in_noise_PB &= member.is_asked_PB
    fewest = ends_in_noise_PB.sum(1).min()
    if fewest == 0:
        raise UserError(
            'an eval set has no sequence that ends in noise, and so no last token '
            'apart from the key and its anchors'
        )
    number = min(most, 2 ** int(np.log2(fewest)))
    tokens = []
    labels = []
    for eval_set, ends_in_noise_B in enumerate(ends_in_noise_PB):
        taken_B = np.flatnonzero(ends_in_noise_B)[:number]
        tokens.append(tokens_PBT[eval_set, taken_B])
        labels.append(labels_PRB[eval_set][:, taken_B])
    return np.concatenate(tokens), np.stack(labels)


def place(
    noise_BT: np.ndarray,
    first_B: np.ndarray,
    x_B: np.ndarray,
    pair_B2: np.ndarray,
    order: str = 'key_first',
) -> Sequences:
    """Writes a key item and its pair of anchors, side by side, into each row of noise.

    Args:
      first_B: position of the first of the three tokens.
      order: what comes first, as in `AnchorsConfig.order`.
    """
    tokens_BT = np.asarray(anchors.place(noise_BT, first_B, x_B, pair_B2, order))
    return Sequences(tokens_BT, x_B, pair_B2, first_B + _KEY_OFFSET[order])


def replace_items(
    member: Network, base: Sequences, x_B: np.ndarray, pair_B2: np.ndarray
) -> Sequences:
    """The same noise and positions with other key items or pairs of anchors."""
    order = require_anchor_task(member).order
    first_B = base.position_B - _KEY_OFFSET[order]
    return place(base.tokens_BT, first_B, x_B, pair_B2, order)


def check_tokens(member: Network, tokens_T: ArrayLike) -> np.ndarray:
    """The tokens [T] of a sequence that a user gave, as an array.

    Raises:
      UserError: a wrong length, a token outside the vocabulary, or not exactly one pair
        of anchors next to a key item.
    """
    config = require_anchor_task(member)
    tokens_T = np.asarray(tokens_T)
    length = config.seq_len
    shown = tuple(tokens_T.tolist())
    require(tokens_T.shape == (length,), 'tokens', shown, f'{length} tokens')

    in_vocab = tokens_T.min() >= 0 and tokens_T.max() < config.vocab
    require(in_vocab, 'tokens', shown, f'in [0, {config.vocab})')

    is_anchor_T = np.isin(tokens_T, list(config.shift_of))
    positions = np.flatnonzero(is_anchor_T).tolist()
    first = min(positions, default=0)
    is_pair = positions == [first, first + 1]
    side = 'before'
    has_key = first > 0
    if config.order == 'anchors_first':
        side = 'after'
        has_key = first + 2 < length
    allowed = f'a sequence with one pair of anchors and a key item right {side} it'
    require(is_pair and has_key, 'tokens', shown, allowed)
    return tokens_T


def require_anchor_task(member: Network) -> AnchorsConfig:
    """The config of the member's task; UserError unless it is the anchor task."""
    return require_task(member.experiment.task, AnchorsConfig)


def require_unseen_pair(member: Network) -> None:
    """UserError unless the member's task is the anchor task, with an unseen pair."""
    config = require_anchor_task(member)
    if not config.unseen_pairs:
        raise UserError('task.unseen = (): this figure needs an unseen pair')
