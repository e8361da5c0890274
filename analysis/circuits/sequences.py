"""Sequences of the anchor task to ask a network, drawn at random or by the paper's hand."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from analysis.members.member import Member
from anchorjax.errors import UserError, require
from anchorjax.tasks import anchors

# P1 Fig 3's test sequence (v1, notebook; PAPERS 1.4): key 99 at position 2, pair (4, 3).
PAPER = (35, 63, 99, 4, 3, 38, 42, 36, 62)


class Sequences(NamedTuple):
    """B sequences and what stands where."""

    tokens_BT: np.ndarray
    x_B: np.ndarray  # key items
    pair_B2: np.ndarray  # (a1, a2)
    position_B: np.ndarray  # of the key item


def random(member: Member, number: int, seed: int = 0, pairs=None) -> Sequences:
    """Keys, pairs, positions and noise, all uniform; noise always stands last.

    Args:
      pairs: pairs of anchors to choose from, [.., 2]; all of them by default.
    """
    config = _config(member)
    require(number >= 1, 'number', number, 'at least 1')
    rng = np.random.default_rng(seed)
    pairs = anchors.pairs(config) if pairs is None else np.asarray(pairs)
    apart = max(
        config.seq_len - 3, 1
    )  # three tokens: the second anchor is the last position
    return place(
        rng.integers(*config.keys, (number, config.seq_len)),
        rng.integers(0, apart, number),
        rng.integers(*config.keys, number),
        pairs[rng.integers(0, len(pairs), number)],
    )


def paper(member: Member) -> np.ndarray:
    """P1 Fig 3's sequence [T]; in a shorter task its part around the key and the pair."""
    length = _config(member).seq_len
    if length <= len(PAPER):
        start = min(max(6 - length, 0), 2)
        return np.array(PAPER[start : start + length])
    return np.array(PAPER + (PAPER[-1],) * (length - len(PAPER)))


def place(noise_BT, position_B, x_B, pair_B2) -> Sequences:
    """Key items and pairs written into noise."""
    arrays = (jnp.asarray(a, jnp.int32) for a in (noise_BT, position_B, x_B, pair_B2))
    tokens_BT = np.asarray(_place(*arrays))
    return Sequences(
        tokens_BT, np.asarray(x_B), np.asarray(pair_B2), np.asarray(position_B)
    )


def check(member: Member, tokens_T) -> np.ndarray:
    """A sequence given by hand, or a UserError: its length, tokens and the one pair in it."""
    config, tokens = _config(member), np.asarray(tokens_T)
    given = tuple(tokens.tolist())
    require(
        tokens.shape == (config.seq_len,), 'tokens', given, f'{config.seq_len} tokens'
    )
    inside = ((tokens >= 0) & (tokens < config.vocab)).all()
    require(inside, 'tokens', given, f'in [0, {config.vocab})')
    at = np.flatnonzero(np.isin(tokens, config.anchors))
    once = len(at) == 2 and at[1] == at[0] + 1 and at[0] > 0
    require(once, 'tokens', given, 'a sequence with a key and then two anchors, once')
    return tokens


def shifts(member: Member) -> dict[tuple[int, int], dict[str, int]]:
    """Answer minus key of every pair by every mapping."""
    config = _config(member)
    rows = anchors.mapping_shifts(config).tolist()
    named = [dict(zip(anchors.MAPPINGS, row, strict=True)) for row in rows]
    return dict(zip(map(tuple, anchors.pairs(config).tolist()), named, strict=True))


_place = jax.jit(anchors.place)


def _config(member: Member) -> anchors.AnchorsConfig:
    if member.experiment.task.name != 'anchors':
        raise UserError(
            f'task {member.experiment.task.name!r}: this figure needs the anchor task'
        )
    return member.experiment.task
