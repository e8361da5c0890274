"""Interventions in a forward pass: cut edges of attention, or patch in another X_ao.

An edge (layer, source role, target role) is everything that positions of the target
role read, in that layer, from positions of the source role. Sequences of one batch have
their roles at different positions; each is changed at its own positions, all in one
jitted call.

A set of allowed edges is bool [layer, source role, target role] (NJJ). Layers count
from 0.
"""

from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from anchorjax import numerics
from anchorjax.caching import cache
from anchorjax.models import Edit, ModelConfig
from anchorjax.models.edges import CUT, mark_readable
from anchorjax.network import Network, make_apply, program_of
from anchorjax.tasks import TaskConfig

Array = jax.Array | np.ndarray


def make_cut_edit(allowed_NJJ: Array, roles_BT: Array) -> Edit:
    """An edit that cuts all edges but the allowed ones, bool [layer, source, target].

    The mask of `models.edges`, as in a network that is trained without these edges: the
    remaining weights of a position sum to one (attention knock-out), and a position
    with no other source reads itself alone.
    """

    def edit(field: str, block: int | None, value: jax.Array) -> jax.Array:
        if field != 'scores':
            return value
        readable_BTT = mark_readable(allowed_NJJ[block], roles_BT)
        return jnp.where(readable_BTT[:, None], value, CUT)

    return edit


def make_silence_edit(allowed_NJJ: Array, roles_BT: Array) -> Edit:
    """As `make_cut_edit`, but the remaining weights stay what they were.

    What was read along the cut edges is missing.
    """

    def edit(field: str, block: int | None, value: jax.Array) -> jax.Array:
        if field != 'Attn':
            return value
        readable_BTT = mark_readable(allowed_NJJ[block], roles_BT)
        return jnp.where(readable_BTT[:, None], value, 0.0)

    return edit


def make_patch_edit(
    layer: int | Array, roles_J: Array, roles_BT: Array, X_ao_NBTD: Array
) -> Edit:
    """An edit that puts another run's X_ao of one layer at all positions of some roles.

    Args:
      layer: [], its number.
      roles_J: bool, the roles whose positions are patched.
      X_ao_NBTD: X_ao of every layer, from a forward pass on other sequences.
    """

    def edit(field: str, block: int | None, value: jax.Array) -> jax.Array:
        if field != 'X_ao':
            return value
        patched_BT = (block == layer) & roles_J[roles_BT]
        return jnp.where(patched_BT[..., None], X_ao_NBTD[block], value)

    return edit


def answer_with_cuts(
    member: Network, tokens_BT: np.ndarray, allowed_CNJJ: Iterable[np.ndarray]
) -> np.ndarray:
    """The member's answers [C, B] under each of C sets of allowed edges."""
    roles_BT = member.roles(tokens_BT)
    answers = []
    for allowed_NJJ in allowed_CNJJ:
        edit = (allowed_NJJ, roles_BT)
        logits_BV = run_edited(member, tokens_BT, make_cut_edit, *edit)
        answers.append(logits_BV.argmax(-1))
    return np.stack(answers)


def run_edited(
    member: Network,
    tokens_BT: np.ndarray,
    make_edit: Callable[..., Edit],
    *arguments: int | bool | np.ndarray,
) -> np.ndarray:
    """Logits [B, V] at the last token under the edit make_edit(*arguments)."""
    program = _compile_edited(*program_of(member.experiment), make_edit)
    return np.asarray(program(member.params, np.asarray(tokens_BT), *arguments))


@cache()
def _compile_edited(
    model: ModelConfig,
    vocab: int,
    precision: str,
    masked_by: TaskConfig | None,
    make_edit: Callable[..., Edit],
) -> Callable[..., jax.Array]:
    """(params, tokens_BT, *arguments of make_edit) -> logits [B, V]."""
    apply = make_apply(model, vocab, masked_by)

    @numerics.pin(precision)
    @jax.jit
    def program(params: Any, tokens_BT: jax.Array, *arguments: jax.Array) -> jax.Array:
        activations = apply(params, tokens_BT, edit=make_edit(*arguments))
        return activations.logits[:, -1]

    return program
