"""Pairs encoded by hand are found as neighbours: with their reverse, apart, or not."""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

from analysis.circuits import sequences
from analysis.p1 import tsne
from analysis.vectors import extract
from anchorjax.models import Activations
from anchorjax.network import Network
from tests.support.networks import planted

ANCHORS = jnp.arange(1, 5)
# A vector for every sequence of the tiny task (keys below 13, anchors below 5).
NOISE = jnp.asarray(np.random.default_rng(0).normal(size=(13, 5, 5, 13, 4)))


def make_member(code: Callable, **fields) -> Network:
    """X_ao of the only layer is code(a1, a2, tokens) at every position."""

    def activate(tokens_BT: jax.Array) -> Activations:
        # The key stands first.
        code_BD = code(tokens_BT[:, 1], tokens_BT[:, 2], tokens_BT)
        X_BTD = jnp.repeat(code_BD[:, None], tokens_BT.shape[1], 1)
        block = planted.make_block(tokens_BT, X_ao=X_BTD)
        X_em_BTD = jnp.zeros((*tokens_BT.shape, 1))
        logits_BTV = jnp.zeros((*tokens_BT.shape, 20))
        return Activations(X_em_BTD, (block,), logits_BTV)

    return planted.make_function_member(activate, **fields)


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


SETTINGS = {'number': 500, 'map_number': 120, 'perplexity': 8, 'neighbours': 4}


def compute_tsne(code: Callable) -> xr.Dataset:
    return tsne.compute(make_member(code), **SETTINGS)


def test_a_code_of_the_unordered_pair_mixes_it_with_its_reverse():
    share = compute_tsne(encode_unordered).share
    in_space = share.sel(space='full space')
    np.testing.assert_allclose(in_space, [0.5, 0.5, 0], atol=0.05)
    assert share.sel(space='map', kind='symmetric pair') > 0.3


def test_a_code_of_the_ordered_pair_keeps_it_apart():
    share = compute_tsne(encode_ordered).share
    np.testing.assert_allclose(share.sel(space='full space'), [1, 0, 0], atol=1e-6)


def test_noise_is_at_chance():
    result = compute_tsne(encode_noise)
    np.testing.assert_allclose(result.chance.sum('kind'), 1)
    here = result.sel(space='full space')
    np.testing.assert_allclose(here.chance, [1 / 16, 1 / 16, 14 / 16], atol=0.02)
    np.testing.assert_allclose(here.share, here.chance, atol=0.04)


@pytest.mark.slow
def test_the_output_is_the_logits_with_nothing_read_from_the_key():
    member = planted.make_untrained_member(gamma=0.3, task__seq_len=6, model__max_len=6)
    drawn = sequences.sample(member, 20)
    read_BTT = np.ones((20, 6, 6), np.float32)
    for read_TT, key in zip(read_BTT, drawn.position_B, strict=True):
        read_TT[:, key] = np.arange(6) == key  # the key still reads itself

    def hide_key(field, block, x):
        return x * read_BTT[:, None] if field == 'Attn' else x

    apply = jax.jit(functools.partial(member.apply, edit=hide_key))
    activations = apply(member.params, drawn.tokens_BT)
    logits = extract.compute_logits_without_key(member, drawn.tokens_BT)
    np.testing.assert_allclose(logits, activations.logits[:, -1], rtol=1e-4, atol=1e-5)
    unchanged = member.activations(drawn.tokens_BT).logits[:, -1]
    assert np.abs(logits - unchanged).max() > 0.1
    settings = {'number': 60, 'perplexity': 8, 'neighbours': 4}
    mapped = tsne.compute(member, of='output', **settings)
    assert mapped.of == 'output' and mapped.number == 60
