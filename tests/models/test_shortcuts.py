"""The transformer's shortcuts compute what the plain path does."""

import jax.numpy as jnp
import numpy as np
import pytest

from anchorjax.models import shortcuts
from anchorjax.models.shortcuts import Embedded
from anchorjax.models.transformer import attention_weights, mix_values, split_heads
from tests.support.cases import TOKENS_BT
from tests.support.rounding import assert_same_but_rounding


def draw_embedded(rng: np.random.Generator) -> Embedded:
    """A stream of 20 tokens, 4 positions and width 6."""
    W_embed = rng.normal(size=(20, 6)).astype(np.float32)
    W_pos = rng.normal(size=(4, 6)).astype(np.float32)
    return Embedded(jnp.asarray(TOKENS_BT), jnp.asarray(W_embed), jnp.asarray(W_pos))


def test_projecting_the_tables_is_projecting_the_stream():
    rng = np.random.default_rng(0)
    embedded = draw_embedded(rng)
    W = rng.normal(size=(6, 5)).astype(np.float32)
    rows_BTD = np.asarray(embedded.rows())
    for b, t in np.ndindex(3, 4):
        row = embedded.W_embed[TOKENS_BT[b, t]] + embedded.W_pos[t]
        np.testing.assert_array_equal(rows_BTD[b, t], row)
    assert_same_but_rounding(embedded.project(W), rows_BTD @ W)
    assert_same_but_rounding(shortcuts.project(embedded, W), rows_BTD @ W)
    assert_same_but_rounding(shortcuts.project(rows_BTD, W), rows_BTD @ W)


@pytest.mark.parametrize('heads', [1, 2])
@pytest.mark.parametrize('from_tables', [False, True])
def test_attending_from_the_last_position_alone(from_tables, heads):
    rng = np.random.default_rng(0)
    embedded = draw_embedded(rng)
    x_BTD = embedded.rows()
    W_Q, W_K, W_V = rng.normal(size=(3, 6, heads * 4)).astype(np.float32)
    b_K = rng.normal(size=heads * 4).astype(np.float32)
    Q = split_heads(x_BTD @ W_Q, heads)
    K = split_heads(x_BTD @ W_K + b_K, heads)
    V = split_heads(x_BTD @ W_V, heads)
    Attn = attention_weights(Q, K)
    X_qkv = mix_values(Attn, V)

    source = embedded if from_tables else x_BTD
    last_Attn, last_X_qkv = shortcuts.attend_last(Q[:, -1:], source, W_K, W_V)
    assert_same_but_rounding(last_Attn, Attn[:, :, -1:])
    assert_same_but_rounding(last_X_qkv, X_qkv[:, -1:])
