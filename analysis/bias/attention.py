"""Where a member attends: how far layer 1 is from the mean, and layer 2 to the key."""

import numpy as np

from analysis.members.member import Member

_DRAWS = 2_000  # random rows for the null of random attention


def measure_distance(Attn_BTT: np.ndarray) -> float:
    """Mean total variation distance of the rows from 1/i, in [0, 1).

    The first position is left out: it can only read itself.
    """
    length = Attn_BTT.shape[-1]
    mean_TT = np.tri(length) / np.arange(1, length + 1)[:, None]
    distance_BT = np.abs(Attn_BTT - mean_TT).sum(-1) / 2
    return float(distance_BT[:, 1:].mean())


def expect_random_distance(length: int) -> float:
    """`measure_distance` of rows drawn uniformly from all that sum to 1."""
    rng = np.random.default_rng(0)
    Attn_BTT = np.zeros((_DRAWS, length, length))
    for t in range(length):
        Attn_BTT[:, t, : t + 1] = rng.dirichlet(np.ones(t + 1), _DRAWS)
    return measure_distance(Attn_BTT)


def average_first_attention(member: Member, tokens_BT: np.ndarray) -> np.ndarray:
    """Attention of layer 1, mean over heads, [B, T, T]."""
    return member.forward(tokens_BT).blocks[0].Attn.mean(1)


def attend_to_key(member: Member, tokens_BT: np.ndarray) -> np.ndarray:
    """Attention that the last position of layer 2 pays to the key, mean over heads [B].

    NaN for a model of one layer.
    """
    blocks = member.forward(tokens_BT).blocks
    if len(blocks) < 2:
        return np.full(len(tokens_BT), np.nan)
    from_last_BT = blocks[1].Attn.mean(1)[:, -1]
    row_B = np.arange(len(tokens_BT))
    return from_last_BT[row_B, find_keys(member, tokens_BT)]


def find_keys(member: Member, tokens_BT: np.ndarray) -> np.ndarray:
    """The position of the key in every sequence, [B]."""
    key = member.task.role_names.index('key')
    return (member.roles(tokens_BT) == key).argmax(-1)


def average_by_position(
    values_B: np.ndarray, position_B: np.ndarray, count: int
) -> np.ndarray:
    """The mean at each of so many positions; NaN where none is."""
    means = np.full(count, np.nan)
    for position in range(count):
        is_here_B = position_B == position
        if is_here_B.any():
            means[position] = values_B[is_here_B].mean()
    return means


def remove_positions(member: Member) -> Member:
    """The member with the same position embedding, its mean, at every position."""
    W_pos = member.params['W_pos']
    same = np.broadcast_to(W_pos.mean(0), W_pos.shape)
    return member._replace(params=member.params | {'W_pos': same})
