"""Mean attention between roles, and the three flows that tell two mechanisms apart."""

import numpy as np

from analysis.members.member import Member

# 'key → anchors' is the mean over both anchors as readers, 'anchors → last' the sum
# over both as sources.
FLOWS = ('key → anchors', 'anchors → last', 'key → last')


def average_attention(member: Member, tokens_BT: np.ndarray) -> np.ndarray:
    """mass [layer, source role, reader role].

    mass[n, r, q] is the attention that a position of role q pays in layer n to all
    positions of role r together, mean over all positions of role q. The sources of a
    reader sum to one. NaN for a reader that never occurs.
    """
    one_hot_BTJ = _mark_roles(member, tokens_BT)
    activations = member.forward(tokens_BT)
    mass = []
    for block in activations.blocks:
        mass.append(_average_by_role(block.Attn.mean(1), one_hot_BTJ))
    return np.stack(mass)


def average_uniform_attention(member: Member, tokens_BT: np.ndarray) -> np.ndarray:
    """The mass of `average_attention` [source role, reader role] without any choice.

    Every position reads itself and all positions before it equally.
    """
    size, length = tokens_BT.shape
    causal_TT = np.tri(length, dtype=np.float32)
    uniform_TT = causal_TT / causal_TT.sum(-1, keepdims=True)
    Attn_BTT = np.broadcast_to(uniform_TT, (size, length, length))
    return _average_by_role(Attn_BTT, _mark_roles(member, tokens_BT))


def measure_flows(mass_NJJ: np.ndarray, role_names: tuple[str, ...]) -> np.ndarray:
    """[layer, FLOWS] of the result of `average_attention`."""
    key = role_names.index('key')
    last = role_names.index('last')
    first = role_names.index('anchor_1')
    second = role_names.index('anchor_2')
    from_key_NJ = mass_NJJ[:, key]
    to_last_NJ = mass_NJJ[:, :, last]
    key_to_anchors_N2 = from_key_NJ[:, [first, second]]
    anchors_to_last_N2 = to_last_NJ[:, [first, second]]
    flows = [
        key_to_anchors_N2.mean(-1),
        anchors_to_last_N2.sum(-1),
        to_last_NJ[:, key],
    ]
    return np.stack(flows, axis=-1)


def _mark_roles(member: Member, tokens_BT: np.ndarray) -> np.ndarray:
    """1 where a position has a role, else 0 [B, T, J]."""
    roles_J = np.arange(len(member.task.role_names))
    roles_BT = member.roles(tokens_BT)
    is_role_BTJ = roles_BT[..., None] == roles_J
    return is_role_BTJ.astype(np.float32)


def _average_by_role(Attn_BTT: np.ndarray, one_hot_BTJ: np.ndarray) -> np.ndarray:
    """Attention [B, reader, source] as [source role, reader role]."""
    readers_J = one_hot_BTJ.sum((0, 1))
    paid_JJ = np.einsum('bqt,btr,bqj->rj', Attn_BTT, one_hot_BTJ, one_hot_BTJ)
    with np.errstate(invalid='ignore'):  # 0 / 0 for a role that never occurs
        return paid_JJ / readers_J
