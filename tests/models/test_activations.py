"""A model sees only the past, shows what its activations' names say, and no more."""

import itertools
from collections.abc import Callable
from typing import Any

import chex
import jax
import numpy as np
import pytest

from anchorjax.experiment import Experiment
from anchorjax.models import Activations
from anchorjax.models.transformer import NORMS
from tests.support import cases
from tests.support.cases import TOKENS_BT, forward, run_forward
from tests.support.rounding import assert_same_but_rounding

GPT2 = {'gpt2': {}, 'gpt2_remat': {'model__remat': True}}
of_every_model = pytest.mark.parametrize('name', [*NORMS, *GPT2])


def draw_member(name: str, **fields: Any) -> tuple[Experiment, Any]:
    """A GPT-2, or a transformer with this norm; both have two heads of width 4."""
    if name in GPT2:
        return cases.draw_gpt2(**GPT2[name], **fields)
    sizes = {'model__norm': name, 'model__heads': 2, 'model__biases': True}
    return cases.draw_member(**sizes | fields)


@of_every_model
def test_attention_is_a_distribution_over_the_past(name):
    experiment, params = draw_member(name)
    is_past = np.tril(np.ones((4, 4), bool))
    for block in run_forward(experiment, params, TOKENS_BT, last_only=False).blocks:
        Attn = np.asarray(block.Attn)
        assert ((Attn > 0) == is_past).all()
        np.testing.assert_allclose(Attn.sum(-1), 1, rtol=1e-5)


@pytest.mark.parametrize('name', ['none', 'pre', *GPT2])
def test_activations_are_what_their_names_say(name):
    experiment, params = draw_member(name)
    out = run_forward(experiment, params, TOKENS_BT, last_only=False)
    X_em = params['W_embed'][TOKENS_BT] + params['W_pos'][:4]
    assert_same_but_rounding(out.X_em, X_em)
    x = out.X_em
    for i, block in enumerate(out.blocks):
        weights = params[f'block_{i}']
        mixed = np.einsum('bhqt,bthk->bqhk', block.Attn, block.V).reshape(3, 4, 8)
        assert_same_but_rounding(block.X_qkv, mixed)
        X_ao = x + block.X_qkv @ weights['W_O'] + weights['b_O']
        assert_same_but_rounding(block.X_ao, X_ao)
        if name == 'none':
            hidden = block.X_ao @ weights['W_in'] + weights['b_in']
            assert_same_but_rounding(block.hidden, np.maximum(hidden, 0))
        X_do = X_ao + block.hidden @ weights['W_out'] + weights['b_out']
        assert_same_but_rounding(block.X_do, X_do)
        x = block.X_do
    if name == 'none':
        assert_same_but_rounding(out.logits, x @ params['W_U'] + params['b_U'])


@of_every_model
@pytest.mark.parametrize('depth', [1, 2])
def test_last_position_path_is_the_full_paths_last_position(name, depth):
    experiment, params = draw_member(name, model__depth=depth)
    full = run_forward(experiment, params, TOKENS_BT, last_only=False)
    last = run_forward(experiment, params, TOKENS_BT)
    assert_same_but_rounding(last.logits[:, 0], full.logits[:, -1])
    short, plain = last.blocks[-1], full.blocks[-1]
    for field in ('Q', 'X_qkv', 'X_ao', 'hidden', 'X_do'):
        a = getattr(short, field)[:, 0]
        b = getattr(plain, field)[:, -1]
        assert_same_but_rounding({field: a}, {field: b})
    assert_same_but_rounding([short.K, short.V], [plain.K, plain.V])
    assert_same_but_rounding(short.Attn[:, :, 0], plain.Attn[:, :, -1])


@pytest.mark.parametrize(
    ('name', 'sizes'),
    [('post', {'model__head_dim': 32, 'model__mlp_dim': 192}), ('gpt2', {})],
)
def test_unused_activations_and_positions_cost_nothing(name, sizes):
    experiment, params = draw_member(name, model__width=64, model__max_len=32, **sizes)
    tokens_BT = np.tile(TOKENS_BT, (4, 8))

    def count_operations(
        select: Callable[[Activations], Any], last_only: bool
    ) -> float:
        @jax.jit
        def run(params: Any) -> Any:
            return select(forward(experiment, params, tokens_BT, last_only))

        return run.lower(params).compile().cost_analysis()['flops']

    of_last = count_operations(lambda out: out.logits, last_only=True)
    of_all = count_operations(lambda out: out.logits, last_only=False)
    # Everything has the keys and values of the last block, which nobody needs.
    of_everything = count_operations(lambda out: out, last_only=True)
    keys_and_values = 2 * 2 * tokens_BT.size * 64 * 64
    assert of_last < 0.7 * of_all
    assert of_last + 0.9 * keys_and_values < of_everything


@of_every_model
def test_an_intervention_is_offered_every_value_and_goes_on_with_what_it_returns(name):
    experiment, params = draw_member(name)
    module = experiment.model.module(20, gamma=0.0)

    offers = []

    @jax.jit
    def run(is_kept: dict[str, list[bool]]) -> Activations:
        def erase_others(field: str, block: int, value: jax.Array) -> jax.Array:
            offers.append((field, block, value.shape))
            return value * is_kept[field][block]

        return module.apply({'params': params}, TOKENS_BT, edit=erase_others)

    same = run({field: [True, True] for field in ('Attn', 'X_ao', 'X_do')})
    plain = run_forward(experiment, params, TOKENS_BT, last_only=False)
    chex.assert_trees_all_close(same, plain, rtol=1e-5, atol=1e-5)
    stream = (3, 4, experiment.model.width)
    shapes = {'Attn': (3, 2, 4, 4), 'X_ao': stream, 'X_do': stream}
    expected = []
    for block, (field, shape) in itertools.product((0, 1), shapes.items()):
        expected.append((field, block, shape))
    assert offers == expected

    for field, block in itertools.product(shapes, (0, 1)):
        is_kept = {name: [True, True] for name in shapes}
        is_kept[field][block] = False
        changed = run(is_kept)
        assert not np.asarray(getattr(changed.blocks[block], field)).any()
        assert np.abs(changed.logits - same.logits).max() > 1e-3, (field, block)
        if block == 1:
            chex.assert_trees_all_equal(changed.blocks[0], same.blocks[0])
