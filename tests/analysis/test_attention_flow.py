"""Attention put there by hand is found, role by role."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from analysis import attention_flow
from analysis.circuits import sequences
from analysis.drawing import style
from analysis.members.member import Member
from anchorjax.errors import UserError
from anchorjax.models.base import Activations, BlockActivations
from tests.support import cases, planted


class KeyThenAnchors:
    """Layer 1: both anchors read the key alone. Layer 2: the last position reads both anchors."""

    def __init__(self, task):
        self.task = task

    def apply(self, variables, tokens_BT, last_only=False, edit=None):
        roles = self.task.roles(tokens_BT)
        is_key, is_anchor = roles == 0, (roles == 1) | (roles == 2)
        stay = jnp.broadcast_to(
            jnp.eye(tokens_BT.shape[1]), (*tokens_BT.shape, tokens_BT.shape[1])
        )
        first = jnp.where(is_anchor[:, :, None], is_key[:, None, :], stay)
        second = jnp.where((roles == 3)[:, :, None], is_anchor[:, None, :] / 2, stay)
        zero = jnp.zeros((*tokens_BT.shape, 1))
        blocks = [
            BlockActivations(*[zero] * 3, A[:, None], *[zero] * 4)
            for A in (first, second)
        ]
        logits = jax.nn.one_hot(jnp.full(tokens_BT.shape, 5), 20)
        return Activations(zero, tuple(blocks), logits)


@pytest.fixture(scope='module')
def composing():
    task = planted.untrained().task
    return planted.member(KeyThenAnchors(task), task__seq_len=6, model__max_len=6)


def test_the_planted_path_is_the_one_reported(composing):
    result = attention_flow.compute(composing, tokens=(9, 10, 4, 3, 11, 12), number=200)
    np.testing.assert_allclose(result.flows_N3, [[1, 0, 0], [0, 1, 0]], atol=1e-6)
    first, last = (result.role_names.index(role) for role in ('anchor_1', 'last'))
    assert result.mass_NJJ[1, first, last] == pytest.approx(0.5)
    assert result.mass_NJJ[0, last, last] == pytest.approx(1)
    np.testing.assert_allclose(np.nansum(result.mass_NJJ, axis=1), 1, rtol=1e-5)
    assert result.prediction == 5
    assert result.expected == {'inferential': 7, 'symmetric': 12, 'assigned': 7}


def test_at_a_small_initialization_attention_is_the_average():
    """P2 Lemma 1: |A_ij - 1/i| is small for large gamma."""
    member = planted.untrained(gamma=2.0, task__seq_len=6, model__max_len=6)
    result = attention_flow.compute(member, tokens=(9, 10, 4, 3, 11, 12), number=500)
    expected = np.tril(np.ones((6, 6))) / np.arange(1, 7)[:, None]
    np.testing.assert_allclose(
        result.Attn_NTT, np.broadcast_to(expected, (2, 6, 6)), atol=0.02
    )
    positions = np.arange(
        3
    )  # of the key; its anchors have two and three positions before them
    between = np.mean((1 / (positions + 2) + 1 / (positions + 3)) / 2)
    np.testing.assert_allclose(result.flows_N3[0], [between, 2 / 6, 1 / 6], atol=0.02)


def test_the_papers_sequence_is_cut_around_its_pair():
    for length, tokens in {
        4: (99, 4, 3, 38),
        6: (35, 63, 99, 4, 3, 38),
        9: sequences.PAPER,
    }.items():
        member = Member(cases.tiny(task__seq_len=length, model__max_len=9), {}, {}, 0)
        assert tuple(sequences.paper(member)) == tokens


@pytest.mark.parametrize(
    'tokens, complaint',
    [
        ((9, 10, 4, 3, 11), 'must be 4 tokens'),
        ((9, 10, 4, 11), 'two anchors'),
        ((4, 3, 9, 10), 'a key and then two anchors'),
        ((9, 4, 3, 99), r'in \[0, 20\)'),
    ],
)
def test_a_bad_sequence_is_one_clear_line(tokens, complaint):
    with pytest.raises(UserError, match=complaint):
        attention_flow.compute(planted.untrained(), tokens=tokens)


def test_drawn_twice_is_the_same_bytes(tmp_path, composing):
    result = attention_flow.compute(composing, tokens=(9, 10, 4, 3, 11, 12), number=20)
    one, two = (
        style.drawn(result, attention_flow.draw, attention_flow.layout, tmp_path / name)
        for name in 'ab'
    )
    for a, b in zip(one, two, strict=True):
        assert a.read_bytes() == b.read_bytes()
