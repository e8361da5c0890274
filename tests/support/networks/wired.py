"""Two-layer networks that compute a solution along known edges, for tests."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from anchorjax.models import Activations, Edit
from anchorjax.network import Network
from tests.support import cases
from tests.support.networks import planted

LONGER = {'task__seq_len': 6, 'model__max_len': 6}  # with noise on both sides
KEY, FIRST, SECOND, LAST = range(4)  # roles
# Of the anchors of cases.tiny, by token. The pair (3, 4) is trained on +2, not -3.
SHIFTS = jnp.array([0, 3, 1, -1, -2])
# By solution and layer: (target role, source role).
READS = {
    'composed': ([(FIRST, KEY), (SECOND, KEY)], [(LAST, FIRST), (LAST, SECOND)]),
    'symmetric': ([(LAST, FIRST), (LAST, SECOND)], [(LAST, KEY)]),
}


@functools.cache  # so that what is compiled for one serves every test
def make_wired_member(solution: str) -> Network:
    """A member that answers by one mapping, of sequences of six tokens."""
    # So many that what agrees by chance is near its mean.
    return planted.make_member(Wired(solution), **LONGER, task__eval_examples=512)


class Wired:
    """Attention by role, and arithmetic on what it brings together: (value, shift).

    Composed: each anchor reads the key's value (layer 1), and the last position
    reads both anchors (layer 2). Symmetric: the last position reads the sum of both
    shifts (layer 1), and then the key's value (layer 2).
    """

    def __init__(self, solution: str):
        self.solution = solution
        self.task = cases.tiny().task.make()

    def apply(
        self,
        variables: dict,
        tokens_BT: jax.Array,
        last_only: bool = False,
        edit: Edit | None = None,
    ) -> Activations:
        roles_BT = self.task.roles(tokens_BT)
        X_BT2 = _embed(tokens_BT, roles_BT)
        blocks = []
        for layer, reads in enumerate(READS[self.solution]):
            scores = jnp.log(_attend(roles_BT, reads)[:, None])
            if edit is not None:
                scores = edit('scores', layer, scores)
            Attn = jax.nn.softmax(scores)
            read_BT2 = Attn[:, 0] @ X_BT2
            update = UPDATES[self.solution]
            X_BT2 = update(layer, X_BT2, read_BT2, roles_BT)
            if edit is not None:
                X_BT2 = edit('X_ao', layer, X_BT2)
            block = planted.make_block(tokens_BT, Attn=Attn, X_ao=X_BT2)
            blocks.append(block)
        answer_BT = jnp.rint(X_BT2.sum(-1)).astype(int)
        logits = jax.nn.one_hot(answer_BT, 20)
        return Activations(X_BT2, tuple(blocks), logits)


def _embed(tokens_BT: jax.Array, roles_BT: jax.Array) -> jax.Array:
    """(value, shift): the key's token, and the shift of an anchor."""
    is_key_BT = roles_BT == KEY
    value_BT = jnp.where(is_key_BT, tokens_BT, 0)
    shift_BT = jnp.where(_is_anchor(roles_BT), SHIFTS[tokens_BT % 5], 0)
    X_BT2 = jnp.stack([value_BT, shift_BT], -1)
    return X_BT2.astype(jnp.float32)


def _is_anchor(roles_BT: jax.Array) -> jax.Array:
    return (roles_BT == FIRST) | (roles_BT == SECOND)


def _attend(roles_BT: jax.Array, reads: list[tuple[int, int]]) -> jax.Array:
    """A reader pays equal attention to its sources, and next to nothing to itself."""
    weight_JJ = np.zeros((5, 5), np.float32)
    for target, source in reads:
        weight_JJ[target, source] = 1
    targets_BT1 = roles_BT[:, :, None]
    sources_B1T = roles_BT[:, None, :]
    weight_BTT = jnp.asarray(weight_JJ)[targets_BT1, sources_B1T]
    weight_BTT += 1e-6 * jnp.eye(roles_BT.shape[1])
    return weight_BTT / weight_BTT.sum(-1, keepdims=True)


def _update_composed(
    layer: int, own_BT2: jax.Array, read_BT2: jax.Array, roles_BT: jax.Array
) -> jax.Array:
    if layer == 0:  # an anchor takes the key's value and keeps its own shift
        value_and_shift = [read_BT2[..., 0], own_BT2[..., 1]]
        is_anchor_BT1 = _is_anchor(roles_BT)[..., None]
        return jnp.where(is_anchor_BT1, jnp.stack(value_and_shift, -1), own_BT2)
    # The last position has read the mean of both anchors: value, and half the shifts.
    is_last_BT1 = (roles_BT == LAST)[..., None]
    return jnp.where(is_last_BT1, read_BT2 * jnp.array([1.0, 2.0]), own_BT2)


def _update_symmetric(
    layer: int, own_BT2: jax.Array, read_BT2: jax.Array, roles_BT: jax.Array
) -> jax.Array:
    is_last_BT1 = (roles_BT == LAST)[..., None]
    if layer == 0:  # the last position sums the shifts; it knows {3, 4} by heart
        total_BT = jnp.rint(2 * read_BT2[..., 1])
        shift_BT = jnp.where(total_BT == -3, 2.0, total_BT)
        value_and_shift = [own_BT2[..., 0], shift_BT]
    else:  # it adds the key's value
        value_and_shift = [read_BT2[..., 0], own_BT2[..., 1]]
    return jnp.where(is_last_BT1, jnp.stack(value_and_shift, -1), own_BT2)


# What every position holds after reading.
UPDATES = {'composed': _update_composed, 'symmetric': _update_symmetric}
