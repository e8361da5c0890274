"""Where a member attends and what its W_V reads, beside the same of chance (P2 Fig 6).

`distance` says how far layer 1 is from the mean; layer 2 may find the key.
"""

import numpy as np

from analysis.members.member import Member
from analysis.spectra import measures

VECTORS = 3  # leading singular vectors
_ROWS = 2_000  # random rows of attention
_DIRECTIONS = 20_000  # random directions


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
    Attn_BTT = np.zeros((_ROWS, length, length))
    for t in range(length):
        Attn_BTT[:, t, : t + 1] = rng.dirichlet(np.ones(t + 1), _ROWS)
    return measure_distance(Attn_BTT)


def attend_to_key(member: Member, tokens_BT: np.ndarray) -> float:
    """Mean attention that the last position of layer 2 pays to the key.

    NaN for a model of one layer.
    """
    blocks = member.forward(tokens_BT).blocks
    if len(blocks) < 2:
        return np.nan
    from_last_BT = blocks[1].Attn.mean(1)[:, -1]
    row_B = np.arange(len(tokens_BT))
    return float(from_last_BT[row_B, find_keys(member, tokens_BT)].mean())


def find_keys(member: Member, tokens_BT: np.ndarray) -> np.ndarray:
    """The position of the key in every sequence, [B]."""
    key = member.task.role_names.index('key')
    return (member.roles(tokens_BT) == key).argmax(-1)


def remove_positions(member: Member) -> Member:
    """The member with the same position embedding, its mean, at every position."""
    W_pos = member.params['W_pos']
    same = np.broadcast_to(W_pos.mean(0), W_pos.shape)
    return member._replace(params=member.params | {'W_pos': same})


def measure_values(
    W_V: np.ndarray, W_embed: np.ndarray, tokens: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The singular values of W_V [D, K], and what its leading vectors read.

    It is read from the left: its input directions are in the stream.

    Args:
      tokens: of each kind.

    Returns:
      (sigma [D or K], |cosine| [kind, VECTORS] of the embeddings of a kind with the
      vectors, mean over its tokens).
    """
    U, sigma, _ = np.linalg.svd(np.asarray(W_V, np.float64))
    directions = U[:, :VECTORS].T
    alignment = []
    for tokens_A in tokens:
        cosine_AI = measures.cosines(W_embed[tokens_A], directions)
        alignment.append(np.abs(cosine_AI).mean(0))
    return sigma, np.array(alignment)


def expect_random_alignment(width: int) -> tuple[float, float]:
    """(mean, 95 % quantile) of |cosine| of a vector with a random direction."""
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(_DIRECTIONS, width))
    lengths = np.linalg.norm(directions, axis=1)
    cosines = np.abs(directions[:, 0]) / lengths
    return float(cosines.mean()), float(np.quantile(cosines, 0.95))
