"""Vectors that may carry the pair or the answer (P1 Fig 3 b, Fig 4; P3 Fig 4 C)."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from analysis.circuits import interventions, sequences
from analysis.members.member import Member
from anchorjax.errors import require
from anchorjax.model import BlockActivations

LAYER = 2  # of v and u
_PART = 2_000  # sequences in one forward pass


def read_after_attention(
    member: Member,
    tokens_BT: np.ndarray,
    layer: int,
) -> np.ndarray:
    """X_ao of a layer (counted from 1) at the last token [B, D]."""
    parts = []
    for block in _run_in_parts(member, tokens_BT, layer):
        parts.append(block.X_ao[:, -1])
    return np.concatenate(parts)


def compute_logits_without_key(member: Member, tokens_BT: np.ndarray) -> np.ndarray:
    """Logits [B, V] at the last token when no position reads the key (P3 Fig 4 C).

    The other attention weights keep their values. If they were rescaled to sum to one,
    the network would read anchors instead of the key, which it never did in training.
    """
    roles = member.task.role_names
    key = roles.index('key')
    shape = (member.depth, len(roles), len(roles))
    allowed_NJJ = np.ones(shape, bool)
    allowed_NJJ[:, key] = False
    return interventions.compute_logits(member, tokens_BT, allowed_NJJ)


def compute_v(
    member: Member,
    keys_X: np.ndarray,
    pairs_S2: np.ndarray,
    noise_CT: np.ndarray,
) -> np.ndarray:
    """v(x; a1, a2) [C, S, X, D]: X_ao of layer 2 at the last token.

    A context c is one draw of the noise. Every key and pair is written into it, always
    at the same position.
    """
    contexts = _fill_contexts(member, keys_X, pairs_S2, noise_CT)
    v_BD = read_after_attention(member, contexts.tokens_BT, LAYER)
    return v_BD.reshape(*contexts.shape_CSX, -1)


def compute_u(
    member: Member,
    keys_X: np.ndarray,
    anchors_S: np.ndarray,
    noise_CT: np.ndarray,
) -> np.ndarray:
    """u(x; a1) [C, S, X, H * K]: V of layer 2 at the first anchor, heads side by side.

    The first anchor cannot attend to the second one, which comes later. The second is
    therefore set to the same anchor.
    """
    pairs_S2 = np.stack([anchors_S, anchors_S], axis=-1)
    contexts = _fill_contexts(member, keys_X, pairs_S2, noise_CT)
    parts = []
    for block in _run_in_parts(member, contexts.tokens_BT, LAYER):
        parts.append(block.V[:, contexts.first_anchor])
    u_BHK = np.concatenate(parts)
    return u_BHK.reshape(*contexts.shape_CSX, -1)


class _Contexts(NamedTuple):
    """Every key and pair of anchors in every context; B = C * S * X."""

    tokens_BT: np.ndarray
    shape_CSX: tuple[int, int, int]
    first_anchor: int  # its position


def _run_in_parts(
    member: Member,
    tokens_BT: np.ndarray,
    layer: int,
) -> Iterator[BlockActivations]:
    """Activations of one layer, for parts of the sequences that fit into memory."""
    for start in range(0, len(tokens_BT), _PART):
        part_BT = tokens_BT[start : start + _PART]
        blocks = member.forward(part_BT).blocks
        depth = len(blocks)
        allowed = f'from 1 to {depth}, the depth'
        require(1 <= layer <= depth, 'layer', layer, allowed)
        yield blocks[layer - 1]


def _fill_contexts(
    member: Member,
    keys_X: np.ndarray,
    pairs_S2: np.ndarray,
    noise_CT: np.ndarray,
) -> _Contexts:
    """Writes keys and pairs into contexts, at their place in the paper's sequence."""
    task = member.experiment.task
    allowed = "'key_first': u is read at an anchor that follows the key"
    require(task.order == 'key_first', 'task.order', task.order, allowed)
    paper_T = sequences.fit_paper_sequence(member)
    is_anchor_T = np.isin(paper_T, list(task.shift_of))
    first_anchor = int(is_anchor_T.argmax())
    shape_CSX = (len(noise_CT), len(pairs_S2), len(keys_X))
    context_B, pair_B, key_B = np.indices(shape_CSX).reshape(3, -1)
    placed = sequences.place(
        noise_CT[context_B],
        np.full(len(key_B), first_anchor - 1),
        keys_X[key_B],
        pairs_S2[pair_B],
    )
    return _Contexts(placed.tokens_BT, shape_CSX, first_anchor)
