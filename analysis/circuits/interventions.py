"""Changing a network on the way: cut edges of attention, or put in what another sequence made.

An edge (layer, source role, target role) is everything that positions of the target role read,
in that layer, from positions of the source role. All sequences of a batch are changed in one jit,
each at its own positions.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from analysis.members.member import Member, applied

_AT_ONCE = 8  # sets of edges in a call: one shape, so one compilation


def cut(allowed_NJJ, roles_BT, renormalize: bool = True):
    """An edit that keeps the allowed edges, and what a position reads from itself.

    Weights that are left sum to one again, as if the scores of the others were minus infinity
    (attention knock-out): a position with nothing left but itself reads itself. Or they stay what
    they were (`renormalize` off): what was read along the cut edges is missing.
    """

    def edit(field, block, value):
        if field != 'Attn':
            return value
        sources, targets = roles_BT[:, None, :], roles_BT[:, :, None]
        kept_BTT = allowed_NJJ[block][sources, targets] | jnp.eye(
            roles_BT.shape[1], dtype=bool
        )
        kept = jnp.where(kept_BTT[:, None], value, 0.0)
        return (
            kept / jnp.maximum(kept.sum(-1, keepdims=True), 1e-30)
            if renormalize
            else kept
        )

    return edit


def patch(layer, roles_J, roles_BT, X_ao_NBTD):
    """An edit that puts another run's X_ao of one layer at the positions of some roles."""

    def edit(field, block, value):
        if field != 'X_ao':
            return value
        here_BT = (block == layer) & roles_J[roles_BT]
        return jnp.where(here_BT[..., None], X_ao_NBTD[block], value)

    return edit


def answers(
    member: Member, tokens_BT, allowed_CNJJ: np.ndarray, renormalize: bool = True
) -> np.ndarray:
    """What the member says [C, B] under each of C sets of allowed edges."""
    experiment = member.experiment
    program = _cut_program(experiment.model, experiment.task.vocab, renormalize)
    roles_BT, count = member.roles(tokens_BT), len(allowed_CNJJ)
    padded = np.resize(
        allowed_CNJJ, (-count // _AT_ONCE * -_AT_ONCE, *allowed_CNJJ.shape[1:])
    )
    said = [
        program(member.params, tokens_BT, roles_BT, padded[i : i + _AT_ONCE])
        for i in range(0, len(padded), _AT_ONCE)
    ]
    return np.concatenate(said)[:count]


def logits(member: Member, tokens_BT, allowed_NJJ: np.ndarray) -> np.ndarray:
    """Logits at the last token [B, V] with these edges alone, the others' weights as they were."""
    program = _logits_program(member.experiment.model, member.experiment.task.vocab)
    return np.asarray(
        program(member.params, tokens_BT, member.roles(tokens_BT), allowed_NJJ)
    )


def patched(member: Member, tokens_BT, X_ao_NBTD, layers_C, roles_CJ) -> np.ndarray:
    """What the member says [C, B] with another run's X_ao put in at C layers and sets of roles."""
    program = _patch_program(member.experiment.model, member.experiment.task.vocab)
    arrays = (tokens_BT, member.roles(tokens_BT), X_ao_NBTD, layers_C, roles_CJ)
    return np.asarray(program(member.params, *map(np.asarray, arrays)))


@functools.lru_cache
def _logits_program(model, vocab: int):
    apply = applied(model, vocab)

    @jax.jit
    def program(params, tokens_BT, roles_BT, allowed_NJJ):
        edit = cut(allowed_NJJ, roles_BT, renormalize=False)
        return apply(params, tokens_BT, edit=edit).logits[:, -1]

    return program


@functools.lru_cache
def _cut_program(model, vocab: int, renormalize: bool):
    apply = applied(model, vocab)

    @jax.jit
    def program(params, tokens_BT, roles_BT, allowed_CNJJ):
        def say(allowed_NJJ):
            return _say(
                apply(params, tokens_BT, edit=cut(allowed_NJJ, roles_BT, renormalize))
            )

        return jax.lax.map(say, allowed_CNJJ)

    return program


@functools.lru_cache
def _patch_program(model, vocab: int):
    apply = applied(model, vocab)

    @jax.jit
    def program(params, tokens_BT, roles_BT, X_ao_NBTD, layers_C, roles_CJ):
        def say(where):
            return _say(
                apply(params, tokens_BT, edit=patch(*where, roles_BT, X_ao_NBTD))
            )

        return jax.lax.map(say, (layers_C, roles_CJ))

    return program


def _say(activations) -> jax.Array:
    return activations.logits[:, -1].argmax(-1)
