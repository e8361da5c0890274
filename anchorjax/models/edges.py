"""Edges of attention that a network does not have: one mask, in training and after it.

An edge (layer, source role, target role) is everything that positions of the target
role read, in that layer, from positions of the source role. Layers count from 0, and
the roles are those of the task. A position can always read itself.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn

from anchorjax.errors import require

Array = jax.Array | np.ndarray
Edge = tuple[int, str, str]  # layer from 0, source role, target role
Roles = Callable[[jax.Array], jax.Array]  # tokens_BT -> the role of every position
CUT = -1e9  # the score along an edge that is cut: after the softmax exactly 0


def mark_readable(allowed_JJ: Array, roles_BT: Array) -> jax.Array:
    """Which positions each may read, bool [B, target, source].

    Args:
      allowed_JJ: the edges of one layer, bool [source role, target role].
    """
    sources_B1T = roles_BT[:, None, :]
    targets_BT1 = roles_BT[:, :, None]
    itself_TT = jnp.eye(roles_BT.shape[1], dtype=bool)
    return jnp.asarray(allowed_JJ)[sources_B1T, targets_BT1] | itself_TT


def allow_edges(
    edges: Iterable[Edge], depth: int, role_names: Sequence[str]
) -> np.ndarray:
    """A set of edges as bool [layer, source role, target role]."""
    allowed_NJJ = np.zeros((depth, len(role_names), len(role_names)), bool)
    for layer, source, target in edges:
        allowed_NJJ[layer, role_names.index(source), role_names.index(target)] = True
    return allowed_NJJ


def give_mask(
    module: nn.Module, model: Any, role_names: Sequence[str], roles: Roles
) -> nn.Module:
    """The module without the edges of `model.cut_edges`; itself if there are none."""
    if not model.cut_edges:
        return module
    allowed_NJJ = ~allow_edges(model.cut_edges, model.depth, role_names)

    def mark(tokens_BT: jax.Array) -> list[jax.Array]:
        roles_BT = roles(tokens_BT)
        return [mark_readable(allowed_JJ, roles_BT) for allowed_JJ in allowed_NJJ]

    return module.clone(mark_readable=mark)


def require_edges(model: Any, task_name: str, role_names: Sequence[str]) -> None:
    """Raises ConfigError if the model cuts an edge that there is not."""
    for edge in model.cut_edges:
        layer, *ends = edge
        allowed = f'(): the task {task_name!r} has no roles'
        require(len(role_names) > 1, 'model.cut_edges', model.cut_edges, allowed)
        allowed = f'of a layer from 0 to {model.depth - 1}'
        require(0 <= layer < model.depth, 'model.cut_edges', edge, allowed)
        allowed = f'between roles of the task, {tuple(role_names)}'
        require({*ends} <= {*role_names}, 'model.cut_edges', edge, allowed)
