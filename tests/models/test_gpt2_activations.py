"""GPT-2 shows what its activations' names say, and computes no more than is read."""

import itertools
from collections.abc import Callable
from typing import Any

import chex
import jax
import numpy as np
import pytest

from anchorjax.experiment import Experiment
from anchorjax.model import Activations, Edit
from anchorjax.training.forward import forward
from tests.support import cases
from tests.support.first_steps import assert_shapes
from tests.support.rounding import assert_same_but_rounding

TOKENS_BT = np.array([[6, 1, 4, 9], [7, 3, 3, 12], [11, 5, 2, 2]], np.int32)


def draw_member(**fields: Any) -> tuple[Experiment, Any]:
    experiment = cases.tiny_gpt2(**fields)
    return experiment, cases.random_params(experiment)


def test_shapes_of_the_activations():
    experiment, params = draw_member()
    sizes = {'D': 8, 'H': 2, 'K': 4, 'F': 32, 'V': 20}
    assert_shapes(experiment, params, TOKENS_BT, sizes)


@pytest.mark.parametrize('remat', [False, True])
def test_activations_are_what_their_names_say(remat):
    experiment, params = draw_member(model__remat=remat)
    out = forward(experiment, params, TOKENS_BT, last_only=False)
    X_em = params['W_embed'][TOKENS_BT] + params['W_pos'][:4]
    assert_same_but_rounding(out.X_em, X_em)
    x = out.X_em
    for i, block in enumerate(out.blocks):
        weights = params[f'block_{i}']
        np.testing.assert_allclose(block.Attn.sum(-1), 1, rtol=1e-5)
        assert (np.triu(np.asarray(block.Attn), 1) == 0).all()
        mixed = np.einsum('bhqt,bthk->bqhk', block.Attn, block.V).reshape(3, 4, 8)
        assert_same_but_rounding(block.X_qkv, mixed)
        X_ao = x + block.X_qkv @ weights['W_O'] + weights['b_O']
        assert_same_but_rounding(block.X_ao, X_ao)
        X_do = X_ao + block.hidden @ weights['W_out'] + weights['b_out']
        assert_same_but_rounding(block.X_do, X_do)
        x = block.X_do


@pytest.mark.parametrize('depth', [1, 2])
def test_last_position_path_is_the_full_paths_last_position(depth):
    experiment, params = draw_member(model__depth=depth)
    full = forward(experiment, params, TOKENS_BT, last_only=False)
    last = forward(experiment, params, TOKENS_BT)
    short, plain = last.blocks[-1], full.blocks[-1]
    for name in ('Q', 'X_qkv', 'X_ao', 'hidden', 'X_do'):
        a = getattr(short, name)[:, 0]
        b = getattr(plain, name)[:, -1]
        assert_same_but_rounding({name: a}, {name: b})
    assert_same_but_rounding(short.Attn[:, :, 0], plain.Attn[:, :, -1])


def test_unused_attention_and_positions_cost_nothing():
    experiment, params = draw_member(model__width=64, model__max_len=32)
    tokens_BT = np.tile(TOKENS_BT, (4, 8))

    def count_operations(
        select: Callable[[Activations], Any], last_only: bool = False
    ) -> float:
        @jax.jit
        def run(params: Any) -> Any:
            return select(forward(experiment, params, tokens_BT, last_only))

        return run.lower(params).compile().cost_analysis()['flops']

    def select_attention(out: Activations) -> Any:
        return out.logits, [block.Attn for block in out.blocks]

    of_logits = count_operations(lambda out: out.logits)
    of_attention = count_operations(select_attention)
    of_last = count_operations(lambda out: out.logits, last_only=True)
    scores = 2 * 2 * tokens_BT.size * tokens_BT.shape[1] * 64
    assert of_logits + 0.5 * scores < of_attention
    assert of_last < 0.7 * of_logits


@pytest.mark.parametrize('remat', [False, True])
def test_an_intervention_is_offered_every_value_and_goes_on_with_what_it_returns(remat):
    experiment, params = draw_member(model__remat=remat)
    module = experiment.model.module(20, gamma=0.0)

    def run(edit: Edit) -> Activations:
        return module.apply({'params': params}, TOKENS_BT, edit=edit)

    offers = []

    def keep(field: str, block: int, value: jax.Array) -> jax.Array:
        offers.append((field, block, value.shape))
        return value

    same = run(keep)
    plain = forward(experiment, params, TOKENS_BT, last_only=False)
    chex.assert_trees_all_close(same, plain, rtol=1e-5, atol=1e-5)
    shapes = {'Attn': (3, 2, 4, 4), 'X_ao': (3, 4, 8), 'X_do': (3, 4, 8)}
    expected = []
    for block, (field, shape) in itertools.product((0, 1), shapes.items()):
        expected.append((field, block, shape))
    assert offers == expected

    for target in itertools.product(shapes, (0, 1)):

        def erase(
            field: str, block: int, value: jax.Array, target: tuple = target
        ) -> jax.Array:
            return value * ((field, block) != target)

        changed = run(erase)
        assert not np.asarray(getattr(changed.blocks[target[1]], target[0])).any()
        assert np.abs(changed.logits - same.logits).max() > 1e-3, target
