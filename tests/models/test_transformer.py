"""The transformer sees only the past, shows its insides, and its short path is the long one."""

import itertools

import chex
import jax
import numpy as np
import pytest

from anchorjax import models
from anchorjax.models.transformer_config import NORMS
from anchorjax.training.step import forward
from tests.support import cases

TOKENS_BT = np.array([[6, 1, 4, 9], [7, 3, 3, 12], [11, 5, 2, 2]], np.int32)


def member(**fields):
    experiment = cases.tiny(**fields)
    return experiment, cases.random_params(experiment)


@pytest.mark.parametrize('biases', [False, True])
@pytest.mark.parametrize(('norm', 'heads'), itertools.product(NORMS, (1, 2)))
def test_last_position_path_is_the_full_paths_last_position(norm, heads, biases):
    experiment, params = member(
        model__norm=norm,
        model__heads=heads,
        model__biases=biases,
        model__activation='gelu',
    )
    full = forward(experiment, params, TOKENS_BT, last_only=False)
    last = forward(experiment, params, TOKENS_BT)
    chex.assert_trees_all_close(
        last.logits[:, 0], full.logits[:, -1], rtol=1e-4, atol=1e-5
    )
    ours, theirs = last.blocks[-1], full.blocks[-1]
    for name in ('Q', 'X_qkv', 'X_ao', 'X_do'):
        a, b = getattr(ours, name)[:, 0], getattr(theirs, name)[:, -1]
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5, err_msg=name)
    for name in ('K', 'V'):
        a, b = getattr(ours, name), getattr(theirs, name)
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5, err_msg=name)
    np.testing.assert_allclose(
        ours.Attn[:, :, 0], theirs.Attn[:, :, -1], rtol=1e-4, atol=1e-6
    )


@pytest.mark.parametrize('norm', NORMS)
def test_a_position_depends_on_the_past_alone(norm):
    experiment, params = member(model__norm=norm, model__heads=2)
    tokens_T = TOKENS_BT[0]  # four different tokens: a row of W_embed is a position

    def logit_T(params):
        return forward(experiment, params, tokens_T[None], last_only=False).logits[
            0, :, 5
        ]

    grads = jax.tree.map(np.asarray, jax.jit(jax.jacrev(logit_T))(params))
    for t in range(4):
        for rows in (grads['W_pos'][t, :4], grads['W_embed'][t, tokens_T]):
            assert (np.abs(rows[: t + 1]).max(1) > 0).all()
            assert (rows[t + 1 :] == 0).all()


def test_shapes_of_the_activations():
    B, T, D, H, K, V = 3, 4, 6, 2, 4, 20
    experiment, params = member(model__heads=H)
    for last_only in (False, True):
        out = forward(experiment, params, TOKENS_BT, last_only)
        chex.assert_shape(out.X_em, (B, T, D))
        for i, block in enumerate(out.blocks):
            Q = 1 if last_only and i == 1 else T
            chex.assert_shape(block.Q, (B, Q, H, K))
            chex.assert_shape([block.K, block.V], (B, T, H, K))
            chex.assert_shape(block.Attn, (B, H, Q, T))
            chex.assert_shape(block.X_qkv, (B, Q, H * K))
            chex.assert_shape([block.X_ao, block.X_do], (B, Q, D))
        chex.assert_shape(out.logits, (B, 1 if last_only else T, V))


@pytest.mark.parametrize('last_only', [False, True])
def test_attention_is_a_distribution_over_the_past(last_only):
    experiment, params = member(model__heads=2)
    for block in forward(experiment, params, TOKENS_BT, last_only).blocks:
        Attn = np.asarray(block.Attn)
        assert (Attn >= 0).all()
        np.testing.assert_allclose(Attn.sum(-1), 1, rtol=1e-5)
        past = np.tril(np.ones((4, 4), bool))[-Attn.shape[2] :]
        assert (Attn[:, :, ~past] == 0).all()


def test_activations_are_what_their_names_say():
    experiment, params = member()
    out = forward(experiment, params, TOKENS_BT, last_only=False)
    X_em = params['W_embed'][TOKENS_BT] + params['W_pos'][:4]
    np.testing.assert_allclose(out.X_em, X_em, rtol=1e-6)
    block = out.blocks[0]
    np.testing.assert_allclose(
        block.V[:, :, 0], X_em @ params['block_0']['W_V'], rtol=1e-4
    )
    mixed = np.einsum('bqt,btk->bqk', block.Attn[:, 0], block.V[:, :, 0])
    np.testing.assert_allclose(block.X_qkv, mixed, rtol=1e-4, atol=1e-6)
    logits = out.blocks[-1].X_do @ params['W_U'] + params['b_U']
    np.testing.assert_allclose(out.logits, logits, rtol=1e-4, atol=1e-6)


def test_unused_activations_and_positions_cost_nothing():
    experiment, params = member(model__width=64, model__head_dim=64, model__mlp_dim=192)
    tokens_BT = np.tile(TOKENS_BT, (8, 1))

    def operations(take, last_only=True):
        run = jax.jit(lambda p: take(forward(experiment, p, tokens_BT, last_only)))
        return run.lower(params).compile().cost_analysis()['flops']

    logits = operations(lambda out: out.logits)
    keys_and_values = (
        2 * 2 * tokens_BT.size * 64 * 64
    )  # of the last block, needed by nobody
    assert logits + 0.9 * keys_and_values < operations(lambda out: out)
    assert logits < 0.7 * operations(lambda out: out.logits[:, -1:], last_only=False)


@pytest.mark.parametrize('norm', NORMS)
def test_an_intervention_is_offered_every_value_and_goes_on_with_what_it_returns(norm):
    experiment, params = member(model__norm=norm)
    module = models.make(experiment.model, experiment.task.vocab, gamma=0.0)
    run = lambda edit: module.apply({'params': params}, TOKENS_BT, edit=edit)
    seen = []
    same = run(
        lambda field, block, value: (seen.append((field, block, value.shape)), value)[1]
    )
    chex.assert_trees_all_equal(
        same, forward(experiment, params, TOKENS_BT, last_only=False)
    )
    shapes = {'Attn': (3, 1, 4, 4), 'X_ao': (3, 4, 6), 'X_do': (3, 4, 6)}
    assert seen == [
        (field, block, shapes[field]) for block in (0, 1) for field in shapes
    ]
    for field, block in itertools.product(shapes, (0, 1)):
        zero = lambda f, b, value, at=(field, block): value * ((f, b) != at)
        changed = run(zero)
        assert not np.asarray(getattr(changed.blocks[block], field)).any()
        assert np.abs(changed.logits - same.logits).max() > 1e-3, (field, block)
        for before in range(block):
            chex.assert_trees_all_equal(changed.blocks[before], same.blocks[before])


def test_hidden_neurons_are_what_the_output_matrix_reads():
    experiment, params = member()
    full = forward(experiment, params, TOKENS_BT, last_only=False)
    block, weights = full.blocks[0], params['block_0']
    np.testing.assert_allclose(
        block.hidden, np.maximum(block.X_ao @ weights['W_in'], 0), rtol=1e-4, atol=1e-5
    )
