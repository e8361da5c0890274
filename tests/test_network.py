"""A network in the hand: every activation is read by name, and replaced."""

from typing import Any

import jax
import numpy as np
import pytest

from anchorjax.errors import UserError
from anchorjax.network import Network
from tests.support import cases
from tests.support.cases import assert_same_but_rounding
from tests.support.networks import reference
from tests.support.p2_tasks import make_experiment

TOKENS_BT = np.array([[9, 4, 3, 11], [6, 1, 2, 8], [7, 2, 2, 5]])
HEADS = {'model__heads': 2, 'model__biases': True}
MODELS = {
    'post': lambda: cases.draw_member(**HEADS),
    'pre_query': lambda: cases.draw_member(model__norm='pre_query', **HEADS),
    'gpt2': cases.draw_gpt2,
    'gpt2_remat': lambda: cases.draw_gpt2(model__remat=True),
    'emb_mlp': lambda: _draw('emb_mlp'),
    'one_layer': lambda: _draw('one_layer'),
}


def _draw(name: str) -> tuple[Any, Any]:
    experiment = make_experiment(name)
    return experiment, cases.random_params(experiment)


def make_network(name: str) -> Network:
    experiment, params = MODELS[name]()
    return Network(experiment, params, {'gamma': 0.5, 'seed': 0}, step=0)


@pytest.mark.slow
@pytest.mark.parametrize('name', ['post', 'gpt2_remat', 'emb_mlp', 'one_layer'])
def test_every_activation_is_read_and_replaced_by_its_name(name):
    network = make_network(name)
    cache, logits = network.cache(TOKENS_BT), network.forward(TOKENS_BT)
    assert_same_but_rounding(cache.logits.values, logits.values)
    blocks = len(network.activations(TOKENS_BT).blocks)
    assert len(cache) == 2 + 12 * blocks + 3 * (name == 'emb_mlp')
    seen = {}

    def keep(key):
        return lambda x: seen.setdefault(key, x)

    def forget_last(x):
        is_last = {'reader' if 'reader' in x.dims else 'position': -1}
        x = x.copy()
        x[is_last] = 0
        return x

    same = network.patch({key: keep(key) for key in cache}, TOKENS_BT)
    assert_same_but_rounding(same.values, logits.values)
    for key, value in cache.items():
        assert seen[key].dims == value.dims
        assert_same_but_rounding(seen[key].values, value.values)
        erased = network.patch({key: 0}, TOKENS_BT)
        assert np.abs(erased.values - logits.values).max() > 1e-3, key
    late = network.patch(dict.fromkeys(cache, forget_last), TOKENS_BT)
    assert_same_but_rounding(late.values[:, :-1], logits.values[:, :-1])


@pytest.mark.parametrize('name', ['post', 'pre_query', 'gpt2'])
@pytest.mark.parametrize('layer', [1, pytest.param(0, marks=pytest.mark.slow)])
def test_a_head_that_is_taken_out_is_missing_in_the_reference_too(
    name, layer, monkeypatch
):
    network = make_network(name)
    exact = reference.to_float64(network.params)
    apply_linear = reference._apply_linear

    def without_second_head(p, matrix, x):
        if matrix == 'O' and p is exact[f'block_{layer}']:
            x = x.copy()
            x[..., x.shape[-1] // 2 :] = 0
        return apply_linear(p, matrix, x)

    model = network.config.model
    intact = reference.forward(exact, TOKENS_BT, model)
    monkeypatch.setattr(reference, '_apply_linear', without_second_head)
    expected = reference.forward(exact, TOKENS_BT, model)
    assert np.abs(expected - intact).max() > 0.1
    patch = {f'block_{layer}/X_qkv': lambda z: z.where(z.head_index != 1, 0)}
    assert_same_but_rounding(network.patch(patch, TOKENS_BT).values, expected)


@pytest.mark.parametrize('name', ['post', 'gpt2'])
def test_doubled_scores_of_a_head_are_those_of_its_doubled_queries(name):
    network = make_network(name)
    exact = reference.to_float64(network.params)
    for parameter in ('W_Q', 'b_Q'):
        of_heads = exact['block_1'][parameter]
        of_heads[..., of_heads.shape[-1] // 2 :] *= 2
    expected = reference.forward(exact, TOKENS_BT, network.config.model)
    assert np.abs(expected - network.forward(TOKENS_BT).values).max() > 1e-2
    patch = {'block_1/scores': lambda s: s * (1 + s.head_index)}
    assert_same_but_rounding(network.patch(patch, TOKENS_BT).values, expected)


def test_a_patch_that_fits_nowhere_is_one_line():
    network = make_network('post')
    with pytest.raises(UserError, match=r"'block_0/X_a', did you mean 'block_0/X_ao'"):
        network.patch({'block_0/X_a': 0}, TOKENS_BT)
    with pytest.raises(UserError, match=r'X_em.shape = \(5,\): must be \(3, 4, 6\)'):
        network.patch({'X_em': np.zeros(5)}, TOKENS_BT)


def test_its_module_runs_in_code_of_ones_own_and_its_weights_are_a_file(tmp_path):
    safetensors = pytest.importorskip('safetensors.numpy')
    network = make_network('post')
    module, variables = network.module
    logits = module.apply(variables, TOKENS_BT, last_only=False).logits
    assert_same_but_rounding(logits, network.forward(TOKENS_BT).values)
    network.save(tmp_path / 'x.safetensors')
    saved = safetensors.load_file(tmp_path / 'x.safetensors')
    for path, leaf in jax.tree_util.tree_leaves_with_path(network.params):
        name = jax.tree_util.keystr(path, simple=True, separator='/')
        np.testing.assert_array_equal(saved.pop(name), leaf)
    assert not saved


def test_a_run_gives_its_networks_alone_or_side_by_side(finished):
    point = {'depth': 2, 'gamma': 0.8, 'seed': 1}
    network = finished.network(**point)
    many = finished.networks(depth=2).forward(TOKENS_BT)
    assert many.sizes['network'] == len(finished.members.query('depth == 2'))
    (place,) = np.flatnonzero((many.gamma == 0.8) & (many.seed == 1))
    assert_same_but_rounding(many[place].values, network.forward(TOKENS_BT).values)
    with pytest.raises(UserError, match=r'several shapes, choose depth: \['):
        finished.networks(gamma=0.8)
    first = finished.network(step=0, **point)
    assert first.step == 0
    assert np.abs(first.params['W_embed'] - network.params['W_embed']).max() > 0


def test_its_answers_are_those_that_training_counted(finished):
    point = {'depth': 2, 'gamma': 0.8, 'seed': 1}
    network = finished.network(**point)
    recorded = finished.results.agreement.sel(point).squeeze()
    for eval_set in network.task.eval_set_names:
        table = network.answers(eval_set)
        for mapping in network.task.mapping_names:
            share = (table.answer == table[mapping]).mean()
            expected = float(recorded.sel(eval_set=eval_set, mapping=mapping))
            assert share == pytest.approx(expected, abs=1.01 / len(table))
    with pytest.raises(UserError, match=r"no eval set 'unsen', did you mean 'unseen'"):
        network.answers('unsen')
