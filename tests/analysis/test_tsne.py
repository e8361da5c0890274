"""Pairs encoded by hand are found as neighbours: with their reverse, apart from it, or not."""

import jax.numpy as jnp
import numpy as np
import pytest

from analysis import tsne
from analysis.circuits import sequences
from analysis.drawing import style
from analysis.vectors import extract
from anchorjax.errors import UserError
from anchorjax.models.base import Activations, BlockActivations
from tests.support import planted

ANCHORS = jnp.arange(1, 5)


class Encoding:
    """X_ao of the only layer is code(a1, a2, tokens) at every position."""

    def __init__(self, code):
        self.code = code

    def apply(self, variables, tokens_BT, last_only=False, edit=None):
        code_BD = self.code(
            tokens_BT[:, 1], tokens_BT[:, 2], tokens_BT
        )  # the key stands first
        X_BTD = jnp.repeat(code_BD[:, None], tokens_BT.shape[1], 1)
        zero = jnp.zeros((*tokens_BT.shape, 1))
        block = BlockActivations(*[zero] * 5, X_BTD, zero, zero)
        return Activations(zero, (block,), jnp.zeros((*tokens_BT.shape, 20)))


def one_hot(a, tokens_BT):
    return (a[:, None] == ANCHORS).astype(jnp.float32)


def unordered(a, b, tokens_BT):
    return one_hot(a, tokens_BT) + one_hot(b, tokens_BT) + jitter(tokens_BT)


def ordered(a, b, tokens_BT):
    return one_hot(a, tokens_BT) + 3 * one_hot(b, tokens_BT) + jitter(tokens_BT)


def jitter(tokens_BT):
    """Small, and of the last token alone: equal noise is an equal vector."""
    return 0.01 * jnp.sin(7.0 * tokens_BT[:, -1:] + jnp.arange(4))


NOISE = jnp.asarray(np.random.default_rng(0).normal(size=(13, 5, 5, 13, 4)))


def noise(a, b, tokens_BT):
    """Another vector for every sequence of the tiny task (keys below 13, anchors below 5)."""
    return NOISE[tuple(tokens_BT.T)]


def found(code, **settings):
    settings = {
        'number': 500,
        'map_number': 120,
        'perplexity': 8,
        'neighbours': 4,
    } | settings
    return tsne.compute(planted.member(Encoding(code)), **settings)


def test_a_code_of_the_unordered_pair_mixes_it_with_its_reverse():
    shares = found(unordered).shares
    np.testing.assert_allclose(shares[0], [0.5, 0.5, 0], atol=0.05)
    assert shares[1, 1] > 0.3


def test_a_code_of_the_ordered_pair_keeps_it_apart():
    np.testing.assert_allclose(found(ordered).shares[0], [1, 0, 0], atol=1e-6)


def test_noise_is_at_chance():
    result = found(noise)
    np.testing.assert_allclose(result.chance.sum(-1), 1)
    np.testing.assert_allclose(result.chance[0], [1 / 16, 1 / 16, 14 / 16], atol=0.02)
    np.testing.assert_allclose(result.shares[0], result.chance[0], atol=0.04)


def test_vectors_all_equal_are_no_crash():
    result = found(lambda a, b, tokens_BT: jnp.ones((len(a), 4)))
    assert np.isfinite(result.map_B2).all() and np.isfinite(result.shares).all()


def test_a_sequence_is_no_neighbour_of_itself():
    """The 500 are the first different ones in 1,000 draws, in their order."""
    member = planted.member(Encoding(noise))
    tokens_BT, pair_B2 = tsne._different(member, 500, but_key=False)
    drawn = map(tuple, sequences.random(member, 1_000).tokens_BT.tolist())
    assert list(map(tuple, tokens_BT.tolist())) == list(dict.fromkeys(drawn))[:500]
    np.testing.assert_array_equal(tokens_BT[:, 1:3], pair_B2)


def test_a_task_of_few_sequences_gives_those_it_has():
    """Three tokens, of 8 keys and 16 pairs."""
    code = lambda a, b, tokens_BT: one_hot(a, tokens_BT) + 0.1 * tokens_BT[:, :1]
    member = planted.member(Encoding(code), task__seq_len=3)
    result = tsne.compute(member, number=1_000, neighbours=2, perplexity=8)
    assert result.number == len(result.map_B2) == 8 * 16
    result = tsne.compute(
        member, number=1_000, neighbours=2, perplexity=8, map_number=900
    )
    assert len(result.map_B2) == 8 * 16


@pytest.mark.parametrize(
    'settings, complaint',
    [
        ({'perplexity': 120}, r'perplexity = 120: must be in \[1, 120\)'),
        ({'neighbours': 120}, 'neighbours = 120: must be from 1 to 119'),
        ({'map_number': 501}, 'map_number = 501: must be from 1 to number = 500'),
        ({'layer': 2}, 'layer = 2: must be from 1 to 1'),
    ],
)
def test_settings_that_do_not_fit_are_one_clear_line(settings, complaint):
    with pytest.raises(UserError, match=complaint):
        found(unordered, **settings)


def test_made_and_drawn_twice_is_the_same_bytes(tmp_path):
    paths = [
        style.drawn(
            found(unordered, map_number=60), tsne.draw, tsne.layout, tmp_path / name
        )
        for name in 'ab'
    ]
    for a, b in zip(*paths, strict=True):
        assert a.read_bytes() == b.read_bytes()


def test_the_output_is_the_logits_with_nothing_read_from_the_key():
    member = planted.untrained(gamma=0.3, task__seq_len=6, model__max_len=6)
    asked = sequences.random(member, 20)
    read_BTT = np.ones((20, 6, 6), np.float32)
    for read_TT, key in zip(read_BTT, asked.position_B, strict=True):
        read_TT[:, key] = np.arange(6) == key  # but for what the key reads from itself
    hide = lambda field, block, x: x * read_BTT[:, None] if field == 'Attn' else x
    expected = member.apply(member.params, asked.tokens_BT, edit=hide).logits[:, -1]
    found = extract.without_key(member, asked.tokens_BT)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    assert np.abs(found - member.forward(asked.tokens_BT).logits[:, -1]).max() > 0.1


def test_the_output_can_be_mapped():
    member = planted.untrained(gamma=0.3, task__seq_len=6, model__max_len=6)
    result = tsne.compute(member, number=60, perplexity=8, neighbours=4, of='output')
    assert result.of == 'output' and result.number == 60
    with pytest.raises(
        UserError, match=r"of = 'logits': must be one of \('attention', 'output'\)"
    ):
        tsne.compute(member, number=60, of='logits')
