"""Every tensor starts with the documented std; gamma only scales it (P1 3.3; PAPERS 1.2)."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn
from flax import traverse_util

from anchorjax import config, models
from anchorjax.config.grid import HParams
from anchorjax.models.initializers import gamma_normal
from anchorjax.sweeps import cost
from anchorjax.training.step import init_member
from tests.support import cases

GAMMA, WIDTH, INNER, MLP, DEPTH = 0.7, 64, 16, 160, 2
SIZES = dict(model__width=WIDTH, model__heads=2, model__head_dim=8, model__mlp_dim=MLP)
SIZES |= dict(model__depth=DEPTH, model__max_len=20, task__vocab=201)
RESIDUAL = (2 * DEPTH) ** -0.5
EMBEDDINGS = {'W_embed', 'W_pos'}
INPUTS = {'W_Q', 'W_K', 'W_V', 'W_in', 'W_U'} | EMBEDDINGS
FAN_IN = {'W_O': INNER, 'b_O': INNER, 'W_out': MLP, 'b_out': MLP}


def std_d_in(name):
    return FAN_IN.get(name, WIDTH) ** -GAMMA


def std_d_model(name):
    return WIDTH**-GAMMA


def std_residual(name):
    return WIDTH**-GAMMA * (RESIDUAL if name in ('W_O', 'W_out') else 1.0)


def std_gpt2_hf(name):
    if name in ('W_Q', 'W_K', 'W_V'):
        return (3 * INNER) ** -GAMMA
    if name in ('W_O', 'W_out'):
        return 0.02 * RESIDUAL
    return MLP**-GAMMA if name == 'W_in' else 0.02


OPTIONS = {
    'default': ({}, std_d_in),
    'd_in_biases': (dict(model__biases=True), std_d_in),
    'd_model': (dict(model__init='d_model', model__norm='pre_query'), std_d_model),
    'd_model_residual': (
        dict(model__init='d_model', model__residual_scale=True, model__biases=True),
        std_residual,
    ),
    'gpt2_hf': (
        dict(model__init='gpt2_hf', model__norm='pre', model__biases=True),
        std_gpt2_hf,
    ),
}


@functools.cache
def compiled(experiment):
    def one(gamma, seed):
        hparams = HParams(gamma, jnp.float32(1e-3), jnp.float32(0), seed)
        return init_member(experiment, hparams).params

    return jax.jit(jax.vmap(one, in_axes=(None, 0)))


def init(experiment, gamma=GAMMA):
    """Parameters of 6 seeds by path, [seed, ...]."""
    params = compiled(experiment)(jnp.float32(gamma), jnp.arange(6))
    return traverse_util.flatten_dict(jax.tree.map(np.asarray, params))


@pytest.mark.parametrize('option', OPTIONS)
def test_every_tensor_has_the_documented_std_within_3_sigma(option):
    overrides, documented = OPTIONS[option]
    experiment = cases.tiny(**SIZES, **overrides)
    for (*scope, name), value in init(experiment).items():
        if scope and scope[-1].startswith('LN'):
            assert (value == (name == 'scale')).all()
        elif name.startswith('b_') and option == 'gpt2_hf':
            assert (value == 0).all()
        elif name.startswith('b_'):
            bound = FAN_IN.get(name, WIDTH) ** -0.5
            assert 0.9 * bound < np.abs(value).max() <= bound, (scope, name)
            assert_std(value, bound / 3**0.5, (scope, name))
        else:
            assert_std(value, documented(name), (scope, name))


def assert_std(value, std, name):
    assert abs(value.std() - std) < 3 * std / (2 * value.size) ** 0.5, (
        name,
        value.std(),
        std,
    )
    assert abs(value.mean()) < 4 * std / value.size**0.5, (name, value.mean())


def test_no_bias_but_the_output_projections_by_default():
    abstract = models.abstract_params(cases.tiny().model, vocab=20)
    paths = traverse_util.flatten_dict(abstract)
    names = {path[-1] for path in paths if path[-1].startswith('b_')}
    assert names == {'b_U'}


def test_residual_scale_divides_the_residual_outputs_alone():
    plain, scaled = (
        init(cases.tiny(**SIZES, model__residual_scale=scale))
        for scale in (False, True)
    )
    for path, value in plain.items():
        factor = RESIDUAL if path[-1] in ('W_O', 'W_out') else 1.0
        np.testing.assert_allclose(scaled[path], factor * value, rtol=1e-6)


def test_same_seed_other_gamma_is_the_same_direction_scaled():
    experiment = cases.tiny(**SIZES)
    large, small = init(experiment, 0.3), init(experiment, 1.1)
    for path, value in large.items():
        drawn = path[-1] in INPUTS | {'W_O', 'W_out'}
        factor = FAN_IN.get(path[-1], WIDTH) ** -0.8 if drawn else 1.0
        np.testing.assert_allclose(small[path], factor * value, rtol=1e-5)


def test_other_seed_is_another_direction():
    for path, (one, two, *_) in init(cases.tiny(**SIZES)).items():
        if path[-1] in INPUTS | {'W_O', 'W_out'}:
            assert abs(np.corrcoef(one.ravel(), two.ravel())[0, 1]) < 0.2


def test_gamma_may_be_traced():
    key, gammas = jax.random.key(0), jnp.array([0.3, 0.8])
    plain = jnp.stack([gamma_normal(g)(key, (30, 20)) for g in (0.3, 0.8)])
    traced = jax.jit(jax.vmap(lambda gamma: gamma_normal(gamma)(key, (30, 20))))(gammas)
    np.testing.assert_allclose(traced, plain, rtol=1e-6)


@pytest.mark.parametrize(
    'axes',
    [
        dict(shape=(40, 90)),
        dict(shape=(90, 40), in_axis=-1, out_axis=-2),
        dict(shape=(3, 3, 20, 30)),
        dict(shape=(40, 6, 15), in_axis=0, out_axis=(1, 2)),
        dict(shape=(6, 15, 40), in_axis=(0, 1), out_axis=2),
        dict(shape=(5, 40, 30), in_axis=1, out_axis=2, batch_axis=0),
    ],
)
def test_fan_is_that_of_variance_scaling(axes):
    axes = dict(axes)
    shape, key = axes.pop('shape'), jax.random.key(0)
    ours = gamma_normal(0.5, **axes)(key, shape)
    jaxs = jax.nn.initializers.variance_scaling(1.0, 'fan_in', 'normal', **axes)(
        key, shape
    )
    np.testing.assert_allclose(ours, jaxs, rtol=1e-5)


def test_drop_in_for_flax_layers():
    key, x_BTD = jax.random.key(0), jnp.ones((1, 4, 60))
    embed = gamma_normal(0.8, in_axis=-1, out_axis=-2)
    dense = nn.Dense(50, kernel_init=gamma_normal(0.8)).init(key, x_BTD)['params']
    table = nn.Embed(70, 60, embedding_init=embed).init(key, jnp.zeros(3, int))[
        'params'
    ]
    attention = nn.MultiHeadDotProductAttention(
        num_heads=3, qkv_features=150, kernel_init=gamma_normal(0.8)
    ).init(key, x_BTD)['params']
    assert_std(dense['kernel'], 60**-0.8, 'Dense')
    assert_std(table['embedding'], 60**-0.8, 'Embed')
    for name in ('query', 'key', 'value'):
        assert_std(attention[name]['kernel'], 60**-0.8, name)
    assert_std(attention['out']['kernel'], 150**-0.8, 'out')


def test_errors_name_what_is_wrong():
    with pytest.raises(ValueError, match=r'two axes.*\(7,\)'):
        gamma_normal(0.5)(jax.random.key(0), (7,))
    with pytest.raises(ValueError, match='fan'):
        gamma_normal(0.5, fan='avg')


def test_the_official_model_has_2732201_parameters():
    assert cost.num_parameters(config.resolve(config.default())) == 2_732_201
