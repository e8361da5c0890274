"""Every tensor starts with the documented std; gamma scales it (P1 3.3; PAPERS 1.2)."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn
from flax import traverse_util

from anchorjax import config, models
from anchorjax.errors import ConfigError
from anchorjax.grid import HParams
from anchorjax.models.initializers import gamma_normal
from anchorjax.models.transformer import TransformerConfig
from anchorjax.sweeps import cost
from anchorjax.training.step import init_member
from tests.support import cases

GAMMA, WIDTH, INNER, MLP, DEPTH = 0.7, 64, 16, 160, 2
SIZES = {
    'model__width': WIDTH,
    'model__heads': 2,
    'model__head_dim': 8,
    'model__mlp_dim': MLP,
    'model__depth': DEPTH,
    'model__max_len': 20,
    'task__vocab': 201,
}
RESIDUAL = (2 * DEPTH) ** -0.5
INPUTS = {'W_Q', 'W_K', 'W_V', 'W_in', 'W_U', 'W_embed', 'W_pos'}
FAN_IN = {'W_O': INNER, 'b_O': INNER, 'W_out': MLP, 'b_out': MLP}


def std_d_in(name: str) -> float:
    return FAN_IN.get(name, WIDTH) ** -GAMMA


def std_d_model(name: str) -> float:
    return WIDTH**-GAMMA


def std_residual(name: str) -> float:
    scale = RESIDUAL if name in ('W_O', 'W_out') else 1.0
    return scale * WIDTH**-GAMMA


def std_gpt2_hf(name: str) -> float:
    if name in ('W_Q', 'W_K', 'W_V'):
        return (3 * INNER) ** -GAMMA
    if name in ('W_O', 'W_out'):
        return 0.02 * RESIDUAL
    if name == 'W_in':
        return MLP**-GAMMA
    return 0.02


def std_own_gammas(name: str) -> float:
    """Parts that have a gamma of their own in the option of this name."""
    own = {'W_embed': 0.2, 'W_pos': 0.2, 'W_U': 0.2, 'W_V': 1.1, 'W_O': 1.1}
    return FAN_IN.get(name, WIDTH) ** -own.get(name, GAMMA)


def std_scale(name: str) -> float:
    return GAMMA * FAN_IN.get(name, WIDTH) ** -0.5


# name: (fields of the model, documented std of a matrix by its name)
OPTIONS = {
    'default': ({}, std_d_in),
    'd_in_biases': ({'model__biases': True}, std_d_in),
    'd_model': (
        {'model__init': 'd_model', 'model__norm': 'pre_query'},
        std_d_model,
    ),
    'd_model_residual': (
        {
            'model__init': 'd_model',
            'model__residual_scale': True,
            'model__biases': True,
        },
        std_residual,
    ),
    'own_gammas': (
        {'model__own_gammas': (('embed', 0.2), ('vo', 1.1))},
        std_own_gammas,
    ),
    'gpt2_hf': (
        {'model__init': 'gpt2_hf', 'model__norm': 'pre', 'model__biases': True},
        std_gpt2_hf,
    ),
    'scale': (
        {'model__init': 'scale', 'model__norm': 'pre', 'model__biases': True},
        std_scale,
    ),
}
WITHOUT_BIASES = ('gpt2_hf', 'scale')  # those that start at zero


@functools.cache
def compile_init(experiment: config.Experiment) -> Callable:
    """(gamma, seeds) -> parameters, leaves [seed, ...]."""

    def init_params(gamma: jax.Array, seed: jax.Array) -> Any:
        hparams = HParams(gamma, jnp.float32(1e-3), jnp.float32(0), seed)
        return init_member(experiment, hparams).params

    return jax.jit(jax.vmap(init_params, in_axes=(None, 0)))


def draw_params(
    experiment: config.Experiment, gamma: float = GAMMA
) -> dict[tuple, np.ndarray]:
    """Parameters of 6 seeds by path, [seed, ...]."""
    params = compile_init(experiment)(jnp.float32(gamma), jnp.arange(6))
    return traverse_util.flatten_dict(jax.tree.map(np.asarray, params))


def assert_std(value: np.ndarray, std: float, name: object) -> None:
    """The deviation is within 3 sigma of the documented one, the mean within 4 of 0."""
    error = std / (2 * value.size) ** 0.5
    assert abs(value.std() - std) < 3 * error, (name, value.std(), std)
    assert abs(value.mean()) < 4 * std / value.size**0.5, (name, value.mean())


@pytest.mark.parametrize('option', OPTIONS)
def test_every_tensor_has_the_documented_std_within_3_sigma(option):
    fields, documented_std = OPTIONS[option]
    experiment = cases.tiny(**SIZES, **fields)
    for (*scope, name), value in draw_params(experiment).items():
        if scope and scope[-1].startswith('LN'):
            assert (value == (name == 'scale')).all()
        elif name.startswith('b_') and option in WITHOUT_BIASES:
            assert (value == 0).all()
        elif name.startswith('b_'):
            bound = FAN_IN.get(name, WIDTH) ** -0.5
            assert 0.9 * bound < np.abs(value).max() <= bound, (scope, name)
            assert_std(value, bound / 3**0.5, (scope, name))
        else:
            assert_std(value, documented_std(name), (scope, name))


def test_no_bias_but_the_output_projections_by_default():
    abstract = models.abstract_params(cases.tiny().model, vocab=20)
    paths = traverse_util.flatten_dict(abstract)
    names = {path[-1] for path in paths if path[-1].startswith('b_')}
    assert names == {'b_U'}


def test_residual_scale_divides_the_residual_outputs_alone():
    plain = draw_params(cases.tiny(**SIZES, model__residual_scale=False))
    scaled = draw_params(cases.tiny(**SIZES, model__residual_scale=True))
    for path, value in plain.items():
        factor = RESIDUAL if path[-1] in ('W_O', 'W_out') else 1.0
        np.testing.assert_allclose(scaled[path], factor * value, rtol=1e-6)


@pytest.mark.parametrize(
    ('fields', 'line'),
    [
        ({'own_gammas': (('qk', 0.1), ('qk', 0.2))}, 'must be distinct parts'),
        ({'own_gammas': (('head', 0.1),)}, r"\[0\]\[0\] = 'head': must be one of"),
        (
            {'own_gammas': (('qk', 0.1),), 'init': 'gpt2_hf'},
            r"must be \(\), with model\.init = 'gpt2_hf'",
        ),
    ],
)
def test_own_gammas_that_make_no_sense_are_one_line(fields, line):
    with pytest.raises(ConfigError, match=line):
        TransformerConfig(**fields)


def test_same_seed_other_gamma_is_the_same_direction_scaled():
    experiment = cases.tiny(**SIZES)
    large, small = draw_params(experiment, 0.3), draw_params(experiment, 1.1)
    for path, value in large.items():
        is_drawn = path[-1] in INPUTS | {'W_O', 'W_out'}
        factor = FAN_IN.get(path[-1], WIDTH) ** -0.8 if is_drawn else 1.0
        np.testing.assert_allclose(small[path], factor * value, rtol=1e-5)


def test_scale_runs_the_other_way_a_large_gamma_is_a_large_start():
    experiment = cases.tiny(**SIZES, model__init='scale')
    small, large = draw_params(experiment, 0.4), draw_params(experiment, 1.2)
    for path, value in small.items():
        factor = 3.0 if path[-1] in INPUTS | {'W_O', 'W_out'} else 1.0
        np.testing.assert_allclose(large[path], factor * value, rtol=1e-5)


def test_other_seed_is_another_direction():
    for path, (one, two, *_) in draw_params(cases.tiny(**SIZES)).items():
        if path[-1] in INPUTS | {'W_O', 'W_out'}:
            assert abs(np.corrcoef(one.ravel(), two.ravel())[0, 1]) < 0.2


def test_gamma_may_be_traced():
    key, gammas = jax.random.key(0), (0.3, 0.8)

    def draw(gamma: float | jax.Array) -> jax.Array:
        return gamma_normal(gamma)(key, (30, 20))

    plain = jnp.stack([draw(gamma) for gamma in gammas])
    traced = jax.jit(jax.vmap(draw))(jnp.array(gammas))
    np.testing.assert_allclose(traced, plain, rtol=1e-6)


@pytest.mark.parametrize(
    ('shape', 'axes'),
    [
        ((40, 90), {}),
        ((90, 40), {'in_axis': -1, 'out_axis': -2}),
        ((3, 3, 20, 30), {}),
        ((40, 6, 15), {'in_axis': 0, 'out_axis': (1, 2)}),
        ((6, 15, 40), {'in_axis': (0, 1), 'out_axis': 2}),
    ],
)
def test_fan_is_that_of_variance_scaling(shape, axes):
    key = jax.random.key(0)
    scaling = jax.nn.initializers.variance_scaling(1.0, 'fan_in', 'normal', **axes)
    drawn = gamma_normal(0.5, **axes)(key, shape)
    np.testing.assert_allclose(drawn, scaling(key, shape), rtol=1e-5)


def test_drop_in_for_flax_layers():
    key, x_BTD = jax.random.key(0), jnp.ones((1, 4, 60))
    kernel_init = gamma_normal(0.8)
    dense = nn.Dense(50, kernel_init=kernel_init)
    kernel = dense.init(key, x_BTD)['params']['kernel']
    assert_std(kernel, 60**-0.8, 'Dense')

    embed = nn.Embed(70, 60, embedding_init=gamma_normal(0.8, in_axis=-1, out_axis=-2))
    table = embed.init(key, jnp.zeros(3, int))['params']['embedding']
    assert_std(table, 60**-0.8, 'Embed')

    attention = nn.MultiHeadDotProductAttention(
        num_heads=3, qkv_features=150, kernel_init=kernel_init
    )
    params = attention.init(key, x_BTD)['params']
    for name in ('query', 'key', 'value'):
        assert_std(params[name]['kernel'], 60**-0.8, name)
    assert_std(params['out']['kernel'], 150**-0.8, 'out')


def test_errors_name_what_is_wrong():
    with pytest.raises(ValueError, match=r'two axes.*\(7,\)'):
        gamma_normal(0.5)(jax.random.key(0), (7,))
    with pytest.raises(ValueError, match='fan'):
        gamma_normal(0.5, fan='avg')


def test_the_official_model_has_2732201_parameters():
    assert cost.num_parameters(config.resolve(config.default())) == 2_732_201
