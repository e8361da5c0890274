"""Mean attention between roles, and the three flows that tell two mechanisms apart."""

import numpy as np
import xarray as xr

from anchorjax.network import Network

# 'key → anchors' is the mean over both anchors as readers, 'anchors → last' the sum
# over both as sources.
FLOWS = ('key → anchors', 'anchors → last', 'key → last')
_ANCHORS = ['anchor_1', 'anchor_2']


def average_attention(member: Network, tokens_BT: np.ndarray) -> xr.DataArray:
    """The mean attention [layer, source, reader] between roles.

    It is what a position of the reader's role pays in a layer to all positions of the
    source's role together, mean over all positions of the reader's role. The sources of
    a reader sum to one. NaN for a reader that never occurs.
    """
    is_role_BTJ = _mark_roles(member, tokens_BT)
    mass = []
    for block in member.activations(tokens_BT).blocks:
        mass.append(_average_by_role(np.asarray(block.Attn).mean(1), is_role_BTJ))
    roles = list(member.task.role_names)
    names = {'layer': np.arange(1, len(mass) + 1), 'source': roles, 'reader': roles}
    return xr.DataArray(np.stack(mass), names)


def average_uniform_attention(member: Network, tokens_BT: np.ndarray) -> xr.DataArray:
    """The result of `average_attention` without any choice, [source, reader].

    Every position reads itself and all positions before it equally.
    """
    size, length = tokens_BT.shape
    causal_TT = np.tri(length, dtype=np.float32)
    uniform_TT = causal_TT / causal_TT.sum(-1, keepdims=True)
    Attn_BTT = np.broadcast_to(uniform_TT, (size, length, length))
    mass_JJ = _average_by_role(Attn_BTT, _mark_roles(member, tokens_BT))
    roles = list(member.task.role_names)
    return xr.DataArray(mass_JJ, {'source': roles, 'reader': roles})


def measure_flows(mass: xr.DataArray) -> xr.DataArray:
    """The FLOWS [..., flow] in a mean attention between roles [..., source, reader]."""
    from_key = mass.sel(source='key', drop=True)
    to_last = mass.sel(reader='last', drop=True)
    flows = [
        from_key.sel(reader=_ANCHORS).mean('reader', skipna=False),
        to_last.sel(source=_ANCHORS).sum('source', skipna=False),
        to_last.sel(source='key', drop=True),
    ]
    by_name = xr.concat(flows, 'flow').assign_coords(flow=list(FLOWS))
    return by_name.transpose(..., 'flow')


def _mark_roles(member: Network, tokens_BT: np.ndarray) -> np.ndarray:
    """1 where a position has a role, else 0 [B, T, J]."""
    roles_J = np.arange(len(member.task.role_names))
    is_role_BTJ = member.roles(tokens_BT)[..., None] == roles_J
    return is_role_BTJ.astype(np.float32)


def _average_by_role(Attn_BTT: np.ndarray, is_role_BTJ: np.ndarray) -> np.ndarray:
    """Attention [B, reader, source] as [source role, reader role]."""
    readers_J = is_role_BTJ.sum((0, 1))
    paid_JJ = np.einsum('bqt,btr,bqj->rj', Attn_BTT, is_role_BTJ, is_role_BTJ)
    with np.errstate(invalid='ignore'):  # 0 / 0 for a role that never occurs
        return paid_JJ / readers_J
