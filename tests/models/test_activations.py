"""A model sees only the past, shows what its activations' names say, and no more."""

from typing import Any

import numpy as np
import pytest

from anchorjax.experiment import Experiment
from tests.support import cases
from tests.support.cases import (
    TOKENS_BT,
    assert_same_but_rounding,
    run_both,
    run_forward,
)

GPT2 = {'gpt2': {}, 'gpt2_remat': {'model__remat': True}}


def draw_member(name: str, **fields: Any) -> tuple[Experiment, Any]:
    """A GPT-2, or a transformer with this norm; both have two heads of width 4."""
    if name in GPT2:
        return cases.draw_gpt2(**GPT2[name], **fields)
    sizes = {'model__norm': name, 'model__heads': 2, 'model__biases': True}
    return cases.draw_member(**sizes | fields)


@pytest.mark.parametrize('name', ['none', 'pre', *GPT2])
def test_activations_are_what_their_names_say(name):
    experiment, params = draw_member(name)
    out = run_forward(experiment, params, TOKENS_BT, last_only=False)
    X_em = params['W_embed'][TOKENS_BT] + params['W_pos'][:4]
    assert_same_but_rounding(out.X_em, X_em)
    x, is_past = out.X_em, np.tril(np.ones((4, 4), bool))
    for i, block in enumerate(out.blocks):
        assert ((block.Attn > 0) == is_past).all()
        assert_same_but_rounding(block.Attn.sum(-1), np.ones((3, 2, 4)))
        weights = params[f'block_{i}']
        scores = np.einsum('bqhk,bthk->bhqt', block.Q, block.K) / 2  # d_k is 4
        assert_same_but_rounding(block.scores, scores)
        mixed = np.einsum('bhqt,bthk->bqhk', block.Attn, block.V)
        assert_same_but_rounding(block.X_qkv, mixed)
        attn_out = mixed.reshape(3, 4, 8) @ weights['W_O'] + weights['b_O']
        assert_same_but_rounding(block.attn_out, attn_out)
        assert_same_but_rounding(block.X_ao, x + attn_out)
        if name == 'none':
            hidden_in = block.X_ao @ weights['W_in'] + weights['b_in']
            assert_same_but_rounding(block.hidden_in, hidden_in)
            assert_same_but_rounding(block.hidden, np.maximum(hidden_in, 0))
        mlp_out = block.hidden @ weights['W_out'] + weights['b_out']
        assert_same_but_rounding(block.mlp_out, mlp_out)
        assert_same_but_rounding(block.X_do, block.X_ao + mlp_out)
        x = block.X_do
    if name == 'none':
        assert_same_but_rounding(out.logits, x @ params['W_U'] + params['b_U'])


@pytest.mark.parametrize(
    ('name', 'depth'),
    [
        ('post', 1),
        *((name, 2) for name in ('pre', 'pre_query', 'gpt2')),
        *(pytest.param(n, 2, marks=pytest.mark.slow) for n in ('none', 'gpt2_remat')),
    ],
)
def test_last_position_path_is_the_full_paths_last_position(name, depth):
    experiment, params = draw_member(name, model__depth=depth)
    full, last = run_both(experiment, params, TOKENS_BT)
    assert_same_but_rounding(last.logits[:, 0], full.logits[:, -1])
    short, plain = last.blocks[-1], full.blocks[-1]
    for field, a in short._asdict().items():
        b = getattr(plain, field)
        if field in ('scores', 'Attn'):
            a, b = a[:, :, 0], b[:, :, -1]
        elif field not in ('K', 'V'):
            a, b = a[:, 0], b[:, -1]
        if field == 'scores':  # that of a key's bias, which all share, is left out
            a, b = a - a.max(-1, keepdims=True), b - b.max(-1, keepdims=True)
        assert_same_but_rounding({field: a}, {field: b})
