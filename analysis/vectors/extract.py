"""Vectors inside a member that may carry the pair or the answer (P1 Fig 3 b, Fig 4; P3 Fig 4 C)."""

import numpy as np

from analysis.circuits import interventions, sequences
from analysis.members.member import Member
from anchorjax.errors import require

LAYER = 2  # of v and u
_PART = 2_000  # sequences in one forward pass


def after_attention(member: Member, tokens_BT, layer: int) -> np.ndarray:
    """X_ao of a layer (from 1) at the last token [B, D]."""
    return _of_layer(member, tokens_BT, layer, lambda block: block.X_ao[:, -1])


def without_key(member: Member, tokens_BT) -> np.ndarray:
    """Logits [B, V] at the last token when no position reads the key (P3 Fig 4 C).

    The other weights of attention stay what they were. With weights that sum to one again a
    network would read anchors instead of the key, which it never did.
    """
    roles = member.task.role_names
    allowed_NJJ = np.ones((member.depth, len(roles), len(roles)), bool)
    allowed_NJJ[:, roles.index('key')] = False
    return interventions.logits(member, tokens_BT, allowed_NJJ)


def v(member: Member, keys_X, pairs_S2, noise_CT) -> np.ndarray:
    """v(x; a1, a2) [C, S, X, D]: X_ao of layer 2 at the last token.

    A context c is one draw of the noise; every key and pair is put into it, at one position.
    """
    tokens_CSXT, _ = _asked(member, keys_X, pairs_S2, noise_CT)
    *shape, length = tokens_CSXT.shape
    found_BD = after_attention(member, tokens_CSXT.reshape(-1, length), LAYER)
    return found_BD.reshape(*shape, -1)


def u(member: Member, keys_X, anchors_S, noise_CT) -> np.ndarray:
    """u(x; a1) [C, S, X, .]: V of layer 2 at the first anchor, its heads side by side.

    It does not see the second anchor, which stands later: here the same as the first.
    """
    tokens_CSXT, first = _asked(
        member, keys_X, np.stack([anchors_S] * 2, axis=-1), noise_CT
    )
    *shape, length = tokens_CSXT.shape
    pick = lambda block: block.V[:, first]
    return _of_layer(member, tokens_CSXT.reshape(-1, length), LAYER, pick).reshape(
        *shape, -1
    )


def _of_layer(member: Member, tokens_BT, layer: int, pick) -> np.ndarray:
    """pick(activations of a layer), in parts that fit into memory."""
    found = []
    for start in range(0, len(tokens_BT), _PART):
        blocks = member.forward(tokens_BT[start : start + _PART]).blocks
        require(
            1 <= layer <= len(blocks),
            'layer',
            layer,
            f'from 1 to {len(blocks)}, the depth',
        )
        found.append(pick(blocks[layer - 1]))
    return np.concatenate(found)


def _asked(member: Member, keys_X, pairs_S2, noise_CT) -> tuple[np.ndarray, int]:
    """(tokens [C, S, X, T], position of the first anchor): as in the paper's sequence."""
    first = int(
        np.isin(sequences.paper(member), member.experiment.task.anchors).argmax()
    )
    shape = (len(noise_CT), len(pairs_S2), len(keys_X))
    c, s, x = (i.ravel() for i in np.indices(shape))
    asked = sequences.place(
        noise_CT[c], np.full(len(c), first - 1), keys_X[x], pairs_S2[s]
    )
    return asked.tokens_BT.reshape(*shape, -1), first
