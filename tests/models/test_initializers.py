"""Every tensor starts with the documented std; gamma scales it (P1 3.3; PAPERS 1.2)."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import traverse_util

from anchorjax import config, models
from anchorjax.grid import HParams
from anchorjax.models.initializers import gamma_normal
from anchorjax.sweeps import cost
from anchorjax.training.step import init_member
from tests.support import cases

GAMMA, WIDTH, INNER, MLP, DEPTH = 0.7, 64, 16, 160, 2
SIZES = {
    'model__width': WIDTH,
    'model__heads': 2,
    'model__depth': DEPTH,
    'model__max_len': 20,
    'task__vocab': 201,
}
RESIDUAL = (2 * DEPTH) ** -0.5
EMBEDDINGS = ('W_embed', 'W_pos')
OUTPUTS = ('W_O', 'W_out')  # they add to the residual stream
# d_in where it is not the width; W_out's, and d_out in GPT-2's transposed layers.
FAN_IN = {'W_O': INNER, 'b_O': INNER, 'W_out': MLP, 'b_out': MLP}
GPT2_FAN_IN = {'W_out': 4 * WIDTH}
GPT2_FAN_OUT = dict.fromkeys(('W_Q', 'W_K', 'W_V'), 3 * WIDTH) | {'W_in': 4 * WIDTH}


def std_d_in(name: str, fans: dict[str, int] = FAN_IN) -> float:
    return fans.get(name, WIDTH) ** -GAMMA


def std_residual(name: str) -> float:
    return (RESIDUAL if name in OUTPUTS else 1.0) * WIDTH**-GAMMA


def std_gpt2_hf(name: str) -> float:
    stds = dict.fromkeys(('W_Q', 'W_K', 'W_V'), (3 * INNER) ** -GAMMA)
    stds |= dict.fromkeys(OUTPUTS, 0.02 * RESIDUAL) | {'W_in': MLP**-GAMMA}
    return stds.get(name, 0.02)


def std_own_gammas(name: str) -> float:
    """Parts that have a gamma of their own in the option of this name."""
    own = {'W_embed': 0.2, 'W_pos': 0.2, 'W_U': 0.2, 'W_V': 1.1, 'W_O': 1.1}
    return FAN_IN.get(name, WIDTH) ** -own.get(name, GAMMA)


def std_scale(name: str) -> float:
    return GAMMA * FAN_IN.get(name, WIDTH) ** -0.5


def std_gpt2(name: str, fans: dict[str, int] = GPT2_FAN_IN) -> float:
    return (RESIDUAL if name in OUTPUTS else 1.0) * std_d_in(name, fans)


def std_gpt2_official(name: str) -> float:
    stds = dict.fromkeys(EMBEDDINGS, 0.02) | dict.fromkeys(OUTPUTS, 0.02 * RESIDUAL)
    return stds.get(name, std_d_in(name, GPT2_FAN_OUT))


def tiny(**fields: Any) -> config.Experiment:
    return cases.tiny(**SIZES, model__head_dim=8, model__mlp_dim=MLP, **fields)


def tiny_gpt2(**fields: Any) -> config.Experiment:
    return cases.tiny_gpt2(**SIZES, **fields)


OFFICIAL = {
    'model__fan': 'out',
    'model__residual_init': 'overwritten',
    'model__embed_init': 'fixed',
}
# name: (experiment, documented std of a matrix by its name)
OPTIONS = {
    'default': (tiny(), std_d_in),
    'd_in_biases': (tiny(model__biases=True), std_d_in),
    'd_model': (
        tiny(model__init='d_model', model__norm='pre_query'),
        lambda name: WIDTH**-GAMMA,
    ),
    'd_model_residual': (
        tiny(model__init='d_model', model__residual_scale=True, model__biases=True),
        std_residual,
    ),
    'own_gammas': (
        tiny(model__own_gammas=(('embed', 0.2), ('vo', 1.1))),
        std_own_gammas,
    ),
    'gpt2_hf': (
        tiny(model__init='gpt2_hf', model__norm='pre', model__biases=True),
        std_gpt2_hf,
    ),
    'scale': (
        tiny(model__init='scale', model__norm='pre', model__biases=True),
        std_scale,
    ),
    'gpt2': (tiny_gpt2(), std_gpt2),
    'gpt2_plain_residual': (
        tiny_gpt2(model__residual_init='plain'),
        functools.partial(std_d_in, fans=GPT2_FAN_IN),
    ),
    'gpt2_fan_of_the_transposed_layer': (
        tiny_gpt2(model__fan='out'),
        functools.partial(std_gpt2, fans=GPT2_FAN_OUT),
    ),
    'gpt2_official': (tiny_gpt2(**OFFICIAL), std_gpt2_official),
}


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
    experiment, documented_std = OPTIONS[option]
    has_zero_biases = option == 'scale' or option.startswith('gpt2')
    for (*scope, name), value in draw_params(experiment).items():
        if scope and scope[-1].startswith('LN'):
            assert (value == (name == 'scale')).all()
        elif name.startswith('b_') and has_zero_biases:
            assert (value == 0).all()
        elif name.startswith('b_'):
            bound = FAN_IN.get(name, WIDTH) ** -0.5
            assert 0.9 * bound < np.abs(value).max() <= bound, (scope, name)
            assert_std(value, bound / 3**0.5, (scope, name))
        else:
            assert_std(value, documented_std(name), (scope, name))


@pytest.mark.slow
def test_the_official_std_of_gpt2_small_by_hand():
    # PAPERS 1.6: gamma 0.5 gives c_attn .0208 and c_fc .0180, gamma 0.3 .098 and .090.
    sizes = {'model__width': 768, 'model__heads': 12, 'model__depth': 1}
    experiment = cases.tiny_gpt2(**sizes, **OFFICIAL)
    for gamma, of_qkv, of_mlp_in in ((0.5, 0.0208, 0.0180), (0.3, 0.098, 0.090)):
        hparams = HParams(gamma, learning_rate=1, weight_decay=0, seed=0)
        params = init_member(experiment, hparams).params['block_0']
        np.testing.assert_allclose(params['W_K'].std(), of_qkv, rtol=0.01)
        np.testing.assert_allclose(params['W_in'].std(), of_mlp_in, rtol=0.01)


def test_the_official_model_has_2732201_parameters_and_one_bias():
    experiment = config.resolve(config.default())
    assert cost.num_parameters(experiment) == 2_732_201
    abstract = models.abstract_params(experiment.model, vocab=201)
    names = {path[-1] for path in traverse_util.flatten_dict(abstract)}
    assert {name for name in names if name.startswith('b_')} == {'b_U'}


@pytest.mark.parametrize('option', ['default', 'scale', 'gpt2', 'gpt2_official'])
def test_gamma_scales_the_same_noise_of_the_matrices_it_reaches(option):
    """With init = 'scale' a large gamma is a large start; elsewhere a small one."""
    experiment, _ = OPTIONS[option]
    low, high = draw_params(experiment, 0.4), draw_params(experiment, 1.2)
    fans = {'gpt2': GPT2_FAN_IN, 'gpt2_official': GPT2_FAN_OUT}.get(option, FAN_IN)
    for path, value in low.items():
        factor = 1.0
        is_fixed = option == 'gpt2_official' and path[-1] in EMBEDDINGS + OUTPUTS
        if path[-1].startswith('W_') and not is_fixed:
            factor = fans.get(path[-1], WIDTH) ** -0.8
            if option == 'scale':
                factor = 3.0
        np.testing.assert_allclose(high[path], factor * value, rtol=1e-5)


def test_other_seed_is_another_direction():
    for path, (one, two, *_) in draw_params(tiny()).items():
        if path[-1].startswith('W_'):
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
