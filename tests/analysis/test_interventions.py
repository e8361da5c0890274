"""Cuts and patches change what they say, and nothing else."""

import functools

import jax
import numpy as np
import pytest

from analysis.circuits import interventions, patching, sequences
from anchorjax.models import Activations, Edit
from anchorjax.network import Network
from tests.support.networks import planted
from tests.support.networks.wired import KEY, LONGER

TOKENS_BT = np.array([[9, 4, 3, 11, 5, 6], [6, 1, 2, 8, 9, 9]])  # the key is first


@pytest.fixture
def member() -> Network:
    return planted.make_untrained_member(**LONGER)


def apply_edit(member: Network, tokens_BT: np.ndarray, edit: Edit) -> Activations:
    """Compiled, because JAX else compiles every operation, one by one."""
    apply = jax.jit(functools.partial(member.apply, edit=edit))
    return apply(member.params, tokens_BT)


def test_a_position_left_alone_reads_itself(member):
    nothing = np.zeros((2, 5, 5), bool)
    edit = interventions.make_cut_edit(nothing, member.roles(TOKENS_BT))
    activations = apply_edit(member, TOKENS_BT, edit)
    itself = np.broadcast_to(np.eye(6), (2, 6, 6))
    for block in activations.blocks:
        np.testing.assert_allclose(block.Attn[:, 0], itself)


def test_without_renormalizing_the_other_weights_stay(member):
    allowed = np.ones((2, 5, 5), bool)
    allowed[:, KEY] = False
    roles_BT = member.roles(TOKENS_BT)
    edit = interventions.make_silence_edit(allowed, roles_BT)
    activations = apply_edit(member, TOKENS_BT, edit)
    cut = np.asarray(activations.blocks[0].Attn[:, 0])
    intact = member.activations(TOKENS_BT).blocks[0].Attn[:, 0]
    np.testing.assert_allclose(cut[:, 1:, 1:], intact[:, 1:, 1:], rtol=1e-5)
    assert not cut[:, 1:, 0].any()
    assert np.allclose(cut[:, 0, 0], 1)


def test_a_patch_with_the_sequence_itself_changes_nothing(member):
    base = sequences.sample(member, 32).tokens_BT
    activations = member.activations(base)
    X_ao_NBTD = np.stack([block.X_ao for block in activations.blocks])
    intact_B = activations.logits[:, -1].argmax(-1)
    everywhere = np.ones(5, bool)
    for layer in range(2):
        patch = (layer, everywhere, member.roles(base), X_ao_NBTD)
        logits_BV = interventions.run_edited(
            member, base, interventions.make_patch_edit, *patch
        )
        np.testing.assert_array_equal(logits_BV.argmax(-1), intact_B)


@pytest.mark.parametrize('factor', patching.FACTORS)
@pytest.mark.parametrize('anchors', [(1, 2, 3, 4), (4, 2, 1, 3)])
def test_the_other_sequence_differs_in_one_token(factor, anchors):
    member = planted.make_untrained_member(task__anchors=anchors, **LONGER)
    base = sequences.sample(member, 200)
    roles_BT = member.roles(base.tokens_BT)
    is_factor_BT = roles_BT == member.task.role_names.index(factor)
    other_BT = patching.change_factor(member, base, factor)
    differs_BT = other_BT != base.tokens_BT
    np.testing.assert_array_equal(differs_BT, is_factor_BT)
