"""The transformer sees only the past, and shows what its activations' names say."""

import itertools
from collections.abc import Callable
from typing import Any

import chex
import jax
import numpy as np
import pytest

from anchorjax.experiment import Experiment
from anchorjax.model import Activations, Edit
from anchorjax.models.transformer import NORMS
from anchorjax.training.forward import forward
from tests.support import cases
from tests.support.first_steps import assert_shapes
from tests.support.rounding import assert_same_but_rounding

TOKENS_BT = np.array([[6, 1, 4, 9], [7, 3, 3, 12], [11, 5, 2, 2]], np.int32)


def draw_member(**fields: Any) -> tuple[Experiment, Any]:
    experiment = cases.tiny(**fields)
    return experiment, cases.random_params(experiment)


@pytest.mark.parametrize('norm', NORMS)
def test_a_position_depends_on_the_past_alone(norm):
    experiment, params = draw_member(model__norm=norm, model__heads=2)
    tokens_T = TOKENS_BT[0]  # four different tokens: a row of W_embed is a position

    @jax.jit
    @jax.jacrev
    def differentiate(params: Any) -> jax.Array:
        """Of the logit of token 5 at every position, [T]."""
        out = forward(experiment, params, tokens_T[None], last_only=False)
        return out.logits[0, :, 5]

    grads = jax.tree.map(np.asarray, differentiate(params))
    for t in range(4):
        for rows in (grads['W_pos'][t, :4], grads['W_embed'][t, tokens_T]):
            assert (np.abs(rows[: t + 1]).max(1) > 0).all()
            assert (rows[t + 1 :] == 0).all()


def test_shapes_of_the_activations():
    experiment, params = draw_member(model__heads=2)
    sizes = {'D': 6, 'H': 2, 'K': 4, 'F': 9, 'V': 20}
    assert_shapes(experiment, params, TOKENS_BT, sizes)


@pytest.mark.parametrize('last_only', [False, True])
def test_attention_is_a_distribution_over_the_past(last_only):
    experiment, params = draw_member(model__heads=2)
    is_past = np.tril(np.ones((4, 4), bool))
    for block in forward(experiment, params, TOKENS_BT, last_only).blocks:
        Attn = np.asarray(block.Attn)
        num_queries = Attn.shape[2]
        assert (Attn >= 0).all()
        np.testing.assert_allclose(Attn.sum(-1), 1, rtol=1e-5)
        assert (Attn[:, :, ~is_past[-num_queries:]] == 0).all()


def test_activations_are_what_their_names_say():
    experiment, params = draw_member()
    out = forward(experiment, params, TOKENS_BT, last_only=False)
    X_em = params['W_embed'][TOKENS_BT] + params['W_pos'][:4]
    assert_same_but_rounding(out.X_em, X_em)
    block = out.blocks[0]
    weights = params['block_0']
    assert_same_but_rounding(block.V[:, :, 0], X_em @ weights['W_V'])
    mixed = np.einsum('bqt,btk->bqk', block.Attn[:, 0], block.V[:, :, 0])
    assert_same_but_rounding(block.X_qkv, mixed)
    hidden = np.maximum(block.X_ao @ weights['W_in'], 0)
    assert_same_but_rounding(block.hidden, hidden)
    logits = out.blocks[-1].X_do @ params['W_U'] + params['b_U']
    assert_same_but_rounding(out.logits, logits)


def test_unused_activations_and_positions_cost_nothing():
    experiment, params = draw_member(
        model__width=64, model__head_dim=64, model__mlp_dim=192
    )
    tokens_BT = np.tile(TOKENS_BT, (8, 1))

    def count_operations(
        select: Callable[[Activations], Any], last_only: bool = True
    ) -> float:
        @jax.jit
        def run(params: Any) -> Any:
            return select(forward(experiment, params, tokens_BT, last_only))

        return run.lower(params).compile().cost_analysis()['flops']

    of_logits = count_operations(lambda out: out.logits)
    of_everything = count_operations(lambda out: out)
    of_last_row = count_operations(lambda out: out.logits[:, -1:], last_only=False)
    # Of the last block, which nobody needs.
    keys_and_values = 2 * 2 * tokens_BT.size * 64 * 64
    assert of_logits + 0.9 * keys_and_values < of_everything
    assert of_logits < 0.7 * of_last_row


@pytest.mark.parametrize('norm', NORMS)
def test_an_intervention_is_offered_every_value_and_goes_on_with_what_it_returns(norm):
    experiment, params = draw_member(model__norm=norm)
    module = experiment.model.module(experiment.task.vocab, gamma=0.0)

    def run(edit: Edit) -> Activations:
        return module.apply({'params': params}, TOKENS_BT, edit=edit)

    offers = []

    def keep(field: str, block: int, value: jax.Array) -> jax.Array:
        offers.append((field, block, value.shape))
        return value

    same = run(keep)
    plain = forward(experiment, params, TOKENS_BT, last_only=False)
    chex.assert_trees_all_equal(same, plain)
    shapes = {'Attn': (3, 1, 4, 4), 'X_ao': (3, 4, 6), 'X_do': (3, 4, 6)}
    expected = []
    for block in (0, 1):
        for field, shape in shapes.items():
            expected.append((field, block, shape))
    assert offers == expected

    for field, block in itertools.product(shapes, (0, 1)):
        target = (field, block)

        def erase(
            field: str, block: int, value: jax.Array, target: tuple = target
        ) -> jax.Array:
            return value * ((field, block) != target)

        changed = run(erase)
        assert not np.asarray(getattr(changed.blocks[block], field)).any()
        assert np.abs(changed.logits - same.logits).max() > 1e-3, target
        for before in range(block):
            chex.assert_trees_all_equal(changed.blocks[before], same.blocks[before])
