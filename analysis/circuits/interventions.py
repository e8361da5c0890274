"""Interventions in a forward pass: cut edges of attention, or patch in another X_ao.

An edge (layer, source role, target role) is everything that positions of the target
role read, in that layer, from positions of the source role. Sequences of one batch have
their roles at different positions; each is changed at its own positions, all in one
jitted call.

A set of allowed edges is bool [layer, source role, target role] (NJJ). Layers count
from 0.
"""

import functools
import math
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from analysis.members.member import Member, make_apply
from anchorjax.model import Activations, Edit, ModelConfig

Array = jax.Array | np.ndarray

_SETS_PER_CALL = 8  # every call has the same shape, so the program is compiled once


def make_cut_edit(
    allowed_NJJ: Array, roles_BT: Array, renormalize: bool = True
) -> Edit:
    """An edit that cuts all edges but the allowed ones.

    A position can always read itself. With `renormalize` the remaining weights of a
    position sum to one again, as if the other scores were minus infinity (attention
    knock-out); a position with no other source reads itself alone. Without it the
    remaining weights stay what they were, and what was read along the cut edges is
    missing.
    """

    def edit(field: str, block: int, value: jax.Array) -> jax.Array:
        if field != 'Attn':
            return value
        allowed_JJ = allowed_NJJ[block]
        sources_B1T = roles_BT[:, None, :]
        targets_BT1 = roles_BT[:, :, None]
        itself_TT = jnp.eye(roles_BT.shape[1], dtype=bool)
        kept_BTT = allowed_JJ[sources_B1T, targets_BT1] | itself_TT
        kept_BHTT = jnp.where(kept_BTT[:, None], value, 0.0)
        if not renormalize:
            return kept_BHTT
        total_BHT1 = kept_BHTT.sum(-1, keepdims=True)
        return kept_BHTT / jnp.maximum(total_BHT1, 1e-30)

    return edit


def make_patch_edit(
    layer: int | Array, roles_J: Array, roles_BT: Array, X_ao_NBTD: Array
) -> Edit:
    """An edit that puts another run's X_ao of one layer at all positions of some roles.

    Args:
      roles_J: bool, the roles whose positions are patched.
    """

    def edit(field: str, block: int, value: jax.Array) -> jax.Array:
        if field != 'X_ao':
            return value
        patched_BT = (block == layer) & roles_J[roles_BT]
        return jnp.where(patched_BT[..., None], X_ao_NBTD[block], value)

    return edit


def answer_with_cuts(
    member: Member,
    tokens_BT: np.ndarray,
    allowed_CNJJ: np.ndarray,
    renormalize: bool = True,
) -> np.ndarray:
    """The member's answers [C, B] under each of C sets of allowed edges."""
    experiment = member.experiment
    program = _make_cut_program(experiment.model, experiment.task.vocab, renormalize)
    roles_BT = member.roles(tokens_BT)

    count = len(allowed_CNJJ)
    calls = math.ceil(count / _SETS_PER_CALL)
    one_set = allowed_CNJJ.shape[1:]
    # The last call is filled up with sets that come again.
    padded_CNJJ = np.resize(allowed_CNJJ, (calls * _SETS_PER_CALL, *one_set))

    answers = []
    for start in range(0, len(padded_CNJJ), _SETS_PER_CALL):
        sets = padded_CNJJ[start : start + _SETS_PER_CALL]
        answers.append(program(member.params, tokens_BT, roles_BT, sets))
    return np.concatenate(answers)[:count]


def compute_logits(
    member: Member, tokens_BT: np.ndarray, allowed_NJJ: np.ndarray
) -> np.ndarray:
    """Logits [B, V] at the last token with only these edges, not renormalized."""
    experiment = member.experiment
    program = _make_logits_program(experiment.model, experiment.task.vocab)
    roles_BT = member.roles(tokens_BT)
    return np.asarray(program(member.params, tokens_BT, roles_BT, allowed_NJJ))


def answer_with_patches(
    member: Member,
    tokens_BT: np.ndarray,
    X_ao_NBTD: np.ndarray,
    layers_C: Sequence[int] | np.ndarray,
    roles_CJ: np.ndarray,
) -> np.ndarray:
    """The member's answers [C, B] with another run's X_ao patched in, in C ways.

    Args:
      X_ao_NBTD: X_ao of every layer, from a forward pass on other sequences.
      layers_C: the layer that is patched.
      roles_CJ: bool, the roles whose positions are patched.
    """
    experiment = member.experiment
    program = _make_patch_program(experiment.model, experiment.task.vocab)
    answers_CB = program(
        member.params,
        np.asarray(tokens_BT),
        member.roles(tokens_BT),
        np.asarray(X_ao_NBTD),
        np.asarray(layers_C),
        np.asarray(roles_CJ),
    )
    return np.asarray(answers_CB)


def read_answers(activations: Activations) -> jax.Array:
    """The answers [B]: the most likely token after the last position."""
    logits_BV = activations.logits[:, -1]
    return logits_BV.argmax(-1)


@functools.lru_cache
def _make_cut_program(model: ModelConfig, vocab: int, renormalize: bool) -> Callable:
    apply = make_apply(model, vocab)

    @jax.jit
    def program(params, tokens_BT, roles_BT, allowed_CNJJ) -> jax.Array:
        def answer(allowed_NJJ: jax.Array) -> jax.Array:
            edit = make_cut_edit(allowed_NJJ, roles_BT, renormalize)
            return read_answers(apply(params, tokens_BT, edit=edit))

        return jax.lax.map(answer, allowed_CNJJ)

    return program


@functools.lru_cache
def _make_logits_program(model: ModelConfig, vocab: int) -> Callable:
    apply = make_apply(model, vocab)

    @jax.jit
    def program(params, tokens_BT, roles_BT, allowed_NJJ) -> jax.Array:
        edit = make_cut_edit(allowed_NJJ, roles_BT, renormalize=False)
        return apply(params, tokens_BT, edit=edit).logits[:, -1]

    return program


@functools.lru_cache
def _make_patch_program(model: ModelConfig, vocab: int) -> Callable:
    apply = make_apply(model, vocab)

    @jax.jit
    def program(
        params, tokens_BT, roles_BT, X_ao_NBTD, layers_C, roles_CJ
    ) -> jax.Array:
        def answer(layer_and_roles: tuple[jax.Array, jax.Array]) -> jax.Array:
            layer, roles_J = layer_and_roles
            edit = make_patch_edit(layer, roles_J, roles_BT, X_ao_NBTD)
            return read_answers(apply(params, tokens_BT, edit=edit))

        return jax.lax.map(answer, (layers_C, roles_CJ))

    return program
