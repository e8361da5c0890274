"""Attention that was put in by hand is found, role by role."""

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from analysis.circuits import sequences
from analysis.p1 import attention_flow
from anchorjax.errors import UserError
from anchorjax.models import Activations
from anchorjax.network import Network
from tests.support import cases
from tests.support.networks import planted

LONGER = {'task__seq_len': 6, 'model__max_len': 6}
TOKENS = (9, 10, 4, 3, 11, 12)  # of this length: key 10, pair (4, 3)


@pytest.fixture(scope='module')
def composing() -> Network:
    """Layer 1: both anchors read the key. Layer 2: the last position reads them."""
    task = planted.make_untrained_member().task

    def activate(tokens_BT: jax.Array) -> Activations:
        roles_BT = task.roles(tokens_BT)
        is_key_BT = roles_BT == 0
        is_anchor_BT = (roles_BT == 1) | (roles_BT == 2)
        is_last_BT = roles_BT == 3
        itself_TT = jnp.eye(tokens_BT.shape[1])
        anchors_read = jnp.where(
            is_anchor_BT[:, :, None], is_key_BT[:, None], itself_TT
        )
        half_BT = is_anchor_BT / 2
        last_reads = jnp.where(is_last_BT[:, :, None], half_BT[:, None], itself_TT)
        first = planted.make_block(tokens_BT, Attn=anchors_read[:, None])
        second = planted.make_block(tokens_BT, Attn=last_reads[:, None])
        answer_BT = jnp.full(tokens_BT.shape, 5)
        logits = jax.nn.one_hot(answer_BT, 20)
        return Activations(first.Q, (first, second), logits)

    return planted.make_function_member(activate, **LONGER)


def test_the_planted_path_is_the_one_reported(composing):
    result = attention_flow.compute(composing, tokens=TOKENS, number=200)
    np.testing.assert_allclose(result.trained, [[1, 0, 0], [0, 1, 0]], atol=1e-6)
    to_last = result.mass.sel(reader='last')
    assert to_last.sel(layer=2, source='anchor_1').item() == pytest.approx(0.5)
    assert to_last.sel(layer=1, source='last').item() == pytest.approx(1)
    np.testing.assert_allclose(result.mass.sum('source'), 1, rtol=1e-5)
    chex.assert_shape(result.mass, (2, 5, 5))
    assert result.prediction == 5
    # The key is at position 0, 1 or 2. By the average the first anchor reads two
    # positions more than that, the second three, the last token all six.
    places = np.arange(3)
    to_anchors = np.mean((1 / (places + 2) + 1 / (places + 3)) / 2)
    expected = [to_anchors, 2 / 6, 1 / 6]
    np.testing.assert_allclose(result.uniform, expected, atol=0.02)
    np.testing.assert_allclose(result.attention[1, 5], [0, 0, 0.5, 0.5, 0, 0])
    answers = result.answer.to_series().to_dict()
    assert answers == {'composed': 7, 'symmetric': 12, 'assigned': 7}


@pytest.mark.parametrize(
    ('last_token', 'expected'),
    [
        ('any', (99, 4, 3, 38)),
        ('any', sequences.PAPER),
        ('any', (*sequences.PAPER, 62, 62)),
        ('pair', (99, 4, 3)),
        ('pair', (38, 42, 36, 62, 35, 63, 99, 4, 3)),
        ('pair', (62, 38, 42, 36, 62, 35, 63, 99, 4, 3)),
    ],
)
def test_the_papers_sequence_fits_the_task(last_token, expected):
    length = len(expected)
    changes = {'task__seq_len': length, 'task__last_token': last_token}
    member = Network(cases.tiny(**changes, model__max_len=11), {}, {}, 0)
    assert tuple(sequences.fit_paper_sequence(member)) == expected
    if last_token == 'pair':
        drawn = sequences.sample(member, 50)
        assert set(drawn.position_B.tolist()) == {length - 3}


@pytest.mark.parametrize(
    'tokens, complaint',
    [
        ((9, 10, 4, 3, 11), 'must be 4 tokens'),
        ((9, 10, 4, 11), 'one pair of anchors'),
        ((9, 4, 10, 3), 'one pair of anchors'),
        ((4, 3, 9, 10), 'a key item right before it'),
        ((9, 4, 3, 99), r'in \[0, 20\)'),
    ],
)
def test_a_bad_sequence_is_one_clear_line(tokens, complaint):
    member = planted.make_untrained_member()
    with pytest.raises(UserError, match=complaint):
        attention_flow.compute(member, tokens=tokens)
