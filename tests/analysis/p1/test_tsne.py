"""Pairs encoded by hand are found as neighbours: with their reverse, apart, or not."""

import itertools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from matplotlib.figure import Figure

from analysis.circuits import sequences
from analysis.drawing import hues
from analysis.members.member import make_untrained
from analysis.p1 import tsne
from analysis.vectors import extract
from anchorjax.model import Activations
from tests.support.networks import planted

ANCHORS = jnp.arange(1, 5)
# A vector for every sequence of the tiny task (keys below 13, anchors below 5).
NOISE = jnp.asarray(np.random.default_rng(0).normal(size=(13, 5, 5, 13, 4)))


class Encoding:
    """X_ao of the only layer is code(a1, a2, tokens) at every position."""

    def __init__(self, code: Callable):
        self.code = code

    def apply(self, variables, tokens_BT, last_only=False, edit=None) -> Activations:
        # The key stands first.
        code_BD = self.code(tokens_BT[:, 1], tokens_BT[:, 2], tokens_BT)
        X_BTD = jnp.repeat(code_BD[:, None], tokens_BT.shape[1], 1)
        block = planted.make_block(tokens_BT, X_ao=X_BTD)
        X_em_BTD = jnp.zeros((*tokens_BT.shape, 1))
        logits_BTV = jnp.zeros((*tokens_BT.shape, 20))
        return Activations(X_em_BTD, (block,), logits_BTV)


def one_hot(anchor_B) -> jax.Array:
    return (anchor_B[:, None] == ANCHORS).astype(jnp.float32)


def jitter(tokens_BT) -> jax.Array:
    """Small, and of the last token alone: equal noise is an equal vector."""
    return 0.01 * jnp.sin(7.0 * tokens_BT[:, -1:] + jnp.arange(4))


def encode_unordered(a, b, tokens_BT) -> jax.Array:
    return one_hot(a) + one_hot(b) + jitter(tokens_BT)


def encode_ordered(a, b, tokens_BT) -> jax.Array:
    return one_hot(a) + 3 * one_hot(b) + jitter(tokens_BT)


def encode_noise(a, b, tokens_BT) -> jax.Array:
    """Another vector for every sequence of the tiny task."""
    return NOISE[tuple(tokens_BT.T)]


def encode_nothing(a, b, tokens_BT) -> jax.Array:
    return jnp.ones((len(a), 4))


def encode_key_and_first(a, b, tokens_BT) -> jax.Array:
    return one_hot(a) + 0.1 * tokens_BT[:, :1]


def compute_tsne(code: Callable, **changes) -> tsne.Result:
    settings = {'number': 500, 'map_number': 120, 'perplexity': 8, 'neighbours': 4}
    return tsne.compute(planted.make_member(Encoding(code)), **(settings | changes))


def test_a_code_of_the_unordered_pair_mixes_it_with_its_reverse():
    shares = compute_tsne(encode_unordered).shares
    np.testing.assert_allclose(shares[0], [0.5, 0.5, 0], atol=0.05)
    assert shares[1, 1] > 0.3


def test_a_code_of_the_ordered_pair_keeps_it_apart():
    shares = compute_tsne(encode_ordered).shares
    np.testing.assert_allclose(shares[0], [1, 0, 0], atol=1e-6)


def test_noise_is_at_chance():
    result = compute_tsne(encode_noise)
    np.testing.assert_allclose(result.chance.sum(-1), 1)
    np.testing.assert_allclose(result.chance[0], [1 / 16, 1 / 16, 14 / 16], atol=0.02)
    np.testing.assert_allclose(result.shares[0], result.chance[0], atol=0.04)


def test_the_null_is_the_same_network_before_training():
    settings = {'number': 300, 'map_number': 60, 'perplexity': 8, 'neighbours': 4}
    changed = planted.make_untrained_member(gamma=0.3)
    start = make_untrained(changed)
    trained = tsne.compute(changed, **settings)
    untrained = tsne.compute(start, **settings)
    np.testing.assert_allclose(trained.untrained, untrained.shares[0])
    np.testing.assert_allclose(untrained.untrained, untrained.shares[0])
    assert trained.untrained.sum() == pytest.approx(1)
    stranger = changed._replace(point={'gamma': np.nan, 'seed': 0})
    assert np.isnan(tsne.compute(stranger, **settings).untrained).all()


def test_equal_vectors_have_a_map_too():
    result = compute_tsne(encode_nothing)
    assert np.isfinite(result.map_B2).all() and np.isfinite(result.shares).all()


def test_a_task_with_few_sequences_gives_all_it_has():
    """Three tokens, of 8 keys and 16 pairs."""
    member = planted.make_member(Encoding(encode_key_and_first), task__seq_len=3)
    settings = {'number': 1_000, 'neighbours': 2, 'perplexity': 8}
    result = tsne.compute(member, **settings)
    assert result.number == len(result.map_B2) == 8 * 16
    result = tsne.compute(member, **settings, map_number=900)
    assert len(result.map_B2) == 8 * 16


def test_the_output_is_the_logits_with_nothing_read_from_the_key():
    member = planted.make_untrained_member(gamma=0.3, task__seq_len=6, model__max_len=6)
    drawn = sequences.sample(member, 20)
    read_BTT = np.ones((20, 6, 6), np.float32)
    for read_TT, key in zip(read_BTT, drawn.position_B, strict=True):
        read_TT[:, key] = np.arange(6) == key  # the key still reads itself

    def hide_key(field, block, x):
        return x * read_BTT[:, None] if field == 'Attn' else x

    activations = member.apply(member.params, drawn.tokens_BT, edit=hide_key)
    logits = extract.compute_logits_without_key(member, drawn.tokens_BT)
    np.testing.assert_allclose(logits, activations.logits[:, -1], rtol=1e-4, atol=1e-5)
    unchanged = member.forward(drawn.tokens_BT).logits[:, -1]
    assert np.abs(logits - unchanged).max() > 0.1


def test_the_output_can_be_mapped():
    member = planted.make_untrained_member(gamma=0.3, task__seq_len=6, model__max_len=6)
    result = tsne.compute(member, number=60, perplexity=8, neighbours=4, of='output')
    assert result.of == 'output' and result.number == 60


@pytest.mark.parametrize(('anchors', 'lists_pairs'), [(4, True), (8, False)])
def test_pairs_are_listed_where_there_is_room(anchors, lists_pairs):
    axis = Figure().subplots()
    pairs = list(itertools.product(range(anchors), repeat=2))
    hues.draw_legend(axis, np.array(pairs))
    assert (axis.get_legend() is not None) == lists_pairs
    assert bool(axis.get_xlabel()) != lists_pairs
