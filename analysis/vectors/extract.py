"""Vectors that may carry the pair or the answer (P1 Fig 3 b, Fig 4; P3 Fig 4 C)."""

import numpy as np

from analysis.circuits import sequences
from analysis.circuits.interventions import make_silence_edit, run_edited
from anchorjax.errors import require
from anchorjax.network import Network

_PART = 2_000  # sequences in one forward pass


def read_vectors(
    member: Network, tokens_BT: np.ndarray, layer: int, field: str, position: int = -1
) -> np.ndarray:
    """An activation of one layer at one position, [B, ...].

    Args:
      layer: counted from 1.
      field: of `BlockActivations`: 'X_ao', 'V', ...

    Raises:
      UserError: no such layer.
    """
    parts = []
    for start in range(0, len(tokens_BT), _PART):  # of a size that fits into memory
        blocks = member.activations(tokens_BT[start : start + _PART]).blocks
        depth = len(blocks)
        allowed = f'from 1 to {depth}, the depth'
        require(1 <= layer <= depth, 'layer', layer, allowed)
        parts.append(getattr(blocks[layer - 1], field)[:, position])
    return np.concatenate(parts)


def compute_logits_without_key(member: Network, tokens_BT: np.ndarray) -> np.ndarray:
    """Logits [B, V] at the last token when no position reads the key (P3 Fig 4 C).

    The other attention weights keep their values. If they were rescaled to sum to one,
    the network would read anchors instead of the key, which it never did in training.
    """
    roles = member.task.role_names
    allowed_NJJ = np.ones((member.depth, len(roles), len(roles)), bool)
    allowed_NJJ[:, roles.index('key')] = False
    edit = (allowed_NJJ, member.roles(tokens_BT))
    return run_edited(member, tokens_BT, make_silence_edit, *edit)


def compute_v(
    member: Network,
    keys_X: np.ndarray,
    pairs_S2: np.ndarray,
    noise_CT: np.ndarray,
    layer: int,
) -> np.ndarray:
    """v(x; a1, a2) [C, S, X, D]: X_ao of a layer (2 of 2 in P1) at the last token.

    A context c is one draw of the noise. Every key and pair is written into it, always
    at the same position.
    """
    tokens_BT, _ = _fill_contexts(member, keys_X, pairs_S2, noise_CT)
    v_BD = read_vectors(member, tokens_BT, layer, 'X_ao')
    return v_BD.reshape(len(noise_CT), len(pairs_S2), len(keys_X), -1)


def compute_u(
    member: Network,
    keys_X: np.ndarray,
    anchors_S: np.ndarray,
    noise_CT: np.ndarray,
    layer: int,
) -> np.ndarray:
    """u(x; a1) [C, S, X, H * K]: V of a layer at the first anchor, heads side by side.

    The first anchor cannot attend to the second one, which comes later. The second is
    therefore set to the same anchor.
    """
    pairs_S2 = np.stack([anchors_S, anchors_S], axis=-1)
    tokens_BT, first_anchor = _fill_contexts(member, keys_X, pairs_S2, noise_CT)
    u_BHK = read_vectors(member, tokens_BT, layer, 'V', first_anchor)
    return u_BHK.reshape(len(noise_CT), len(pairs_S2), len(keys_X), -1)


def _fill_contexts(
    member: Network, keys_X: np.ndarray, pairs_S2: np.ndarray, noise_CT: np.ndarray
) -> tuple[np.ndarray, int]:
    """Every key and pair in every context [C * S * X, T]; where the first anchor is.

    The anchor stands where it does in the paper's example.
    """
    task = sequences.require_anchor_task(member)
    allowed = "'key_first': u is read at an anchor that follows the key"
    require(task.order == 'key_first', 'task.order', task.order, allowed)
    paper_T = sequences.fit_paper_sequence(member)
    first_anchor = int(np.isin(paper_T, (4, 3)).argmax())  # the pair of the example
    shape_CSX = (len(noise_CT), len(pairs_S2), len(keys_X))
    context_B, pair_B, key_B = np.indices(shape_CSX).reshape(3, -1)
    first_B = np.full(len(key_B), first_anchor - 1)
    placed = sequences.place(
        noise_CT[context_B], first_B, keys_X[key_B], pairs_S2[pair_B]
    )
    return placed.tokens_BT, first_anchor
