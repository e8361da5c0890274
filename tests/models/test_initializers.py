"""Every tensor starts with the std that is written down (P1 App A; PAPERS 1.2)."""

import functools
from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import traverse_util

from anchorjax import config
from anchorjax.errors import ConfigError
from anchorjax.grid import HParams
from anchorjax.models.initializers import gamma_normal
from anchorjax.models.transformer import TransformerConfig
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
TRANSFORMER = SIZES | {'model__head_dim': 8, 'model__mlp_dim': MLP}
BIASES = TRANSFORMER | {'model__biases': True}
OFFICIAL = {
    'model__fan': 'out',
    'model__residual_init': 'overwritten',
    'model__embed_init': 'fixed',
}
OPTIONS = {
    'd_in_biases': cases.tiny(**BIASES),
    'd_model': cases.tiny(
        **TRANSFORMER, model__init='d_model', model__norm='pre_query'
    ),
    'd_model_residual': cases.tiny(
        **BIASES, model__init='d_model', model__residual_scale=True
    ),
    'gamma_overrides': cases.tiny(
        **TRANSFORMER, model__gamma_overrides=(('embed', 0.2), ('vo', 1.1))
    ),
    'scale': cases.tiny(**BIASES, model__init='scale', model__norm='pre'),
    'gpt2': cases.tiny_gpt2(**SIZES),
    'gpt2_plain_residual': cases.tiny_gpt2(**SIZES, model__residual_init='plain'),
    'gpt2_fan_of_the_transposed_layer': cases.tiny_gpt2(**SIZES, model__fan='out'),
    'gpt2_official': cases.tiny_gpt2(**SIZES, **OFFICIAL),
}
# d_in of a bias where it is not the width.
FAN_IN = {'b_O': INNER, 'b_out': MLP}


def list_stds(option: str, gamma: float) -> dict[str, float]:
    """The documented std of the matrices; 'W' is that of all that are not named."""
    D = WIDTH**-gamma
    residual = (2 * DEPTH) ** -0.5
    of_inputs = {'W': D, 'W_O': INNER**-gamma, 'W_out': MLP**-gamma}
    of_outputs = {'W_Q': (3 * WIDTH) ** -gamma, 'W_in': (4 * WIDTH) ** -gamma}
    of_outputs |= {'W_K': of_outputs['W_Q'], 'W_V': of_outputs['W_Q']}
    fixed = {'W_embed': 0.02, 'W_pos': 0.02}
    fixed |= {'W_O': 0.02 * residual, 'W_out': 0.02 * residual}
    own = dict.fromkeys(('W_embed', 'W_pos', 'W_U'), WIDTH**-0.2)
    own |= {'W_V': WIDTH**-1.1, 'W_O': INNER**-1.1}
    scaled = gamma * WIDTH**-0.5
    return {
        'd_in_biases': of_inputs,
        'd_model': {'W': D},
        'd_model_residual': {'W': D, 'W_O': residual * D, 'W_out': residual * D},
        'gamma_overrides': of_inputs | own,
        'scale': {'W': scaled, 'W_O': gamma / INNER**0.5, 'W_out': gamma / MLP**0.5},
        'gpt2': {
            'W': D,
            'W_O': residual * D,
            'W_out': residual * (4 * WIDTH) ** -gamma,
        },
        'gpt2_plain_residual': {'W': D, 'W_out': (4 * WIDTH) ** -gamma},
        'gpt2_fan_of_the_transposed_layer': {
            'W': D,
            'W_O': residual * D,
            'W_out': residual * D,
        }
        | of_outputs,
        'gpt2_official': {'W': D} | of_outputs | fixed,
    }[option]


@functools.cache
def draw_params(
    experiment: config.Experiment, gamma: float = GAMMA
) -> dict[tuple, np.ndarray]:
    """Parameters of 6 seeds by path, [seed, ...]; not compiled, which takes longer."""

    @jax.vmap
    def draw(seed: jax.Array) -> Any:
        hparams = HParams(jnp.float32(gamma), jnp.float32(1e-3), jnp.float32(0), seed)
        return init_member(experiment, hparams).params

    params = draw(jnp.arange(6))
    return traverse_util.flatten_dict(jax.tree.map(np.asarray, params))


def assert_std(value: np.ndarray, std: float, name: object) -> None:
    """The deviation is within 3 sigma of the documented one, the mean within 4 of 0."""
    error = std / (2 * value.size) ** 0.5
    assert abs(value.std() - std) < 3 * error, (name, value.std(), std)
    assert abs(value.mean()) < 4 * std / value.size**0.5, (name, value.mean())


@pytest.mark.parametrize(
    'option',
    [
        pytest.param(name, marks=pytest.mark.slow if 'residual' in name else ())
        for name in OPTIONS
    ],
)
def test_every_tensor_has_the_documented_std_within_3_sigma(option):
    stds = list_stds(option, GAMMA)
    has_zero_biases = option == 'scale' or option.startswith('gpt2')
    for (*scope, name), value in draw_params(OPTIONS[option]).items():
        if scope and scope[-1].startswith('LN'):
            assert (value == (name == 'scale')).all()
        elif name.startswith('b_') and has_zero_biases:
            assert (value == 0).all()
        elif name.startswith('b_'):
            bound = FAN_IN.get(name, WIDTH) ** -0.5
            assert 0.9 * bound < np.abs(value).max() <= bound, (scope, name)
            assert_std(value, bound / 3**0.5, (scope, name))
        else:
            assert_std(value, stds.get(name, stds['W']), (scope, name))


@pytest.mark.parametrize('option', ['d_in_biases', 'scale', 'gpt2', 'gpt2_official'])
def test_gamma_scales_the_same_noise_of_the_matrices_it_reaches(option):
    """With init = 'scale' a large gamma is a large start; elsewhere a small one."""
    experiment = OPTIONS[option]
    low, high = draw_params(experiment), draw_params(experiment, 1.2)
    before, after = list_stds(option, GAMMA), list_stds(option, 1.2)
    for path, value in low.items():
        factor = 1.0
        if path[-1].startswith('W_'):
            name = path[-1] if path[-1] in before else 'W'
            factor = after[name] / before[name]
        np.testing.assert_allclose(high[path], factor * value, rtol=1e-5)


@pytest.mark.parametrize('fan', ['in', 'out'])
def test_fan_is_that_of_variance_scaling(fan):
    key = jax.random.key(0)
    scaling = jax.nn.initializers.variance_scaling(1.0, f'fan_{fan}', 'normal')
    drawn = gamma_normal(0.5, fan=fan)(key, (40, 90))
    chex.assert_shape(drawn, (40, 90))
    np.testing.assert_allclose(drawn, scaling(key, (40, 90)), rtol=1e-5)


@pytest.mark.parametrize(
    'change', [{'residual_scale': True}, {'gamma_overrides': (('vo', 1.1),)}]
)
def test_a_factor_of_the_weights_leaves_no_choice_to_a_part(change):
    with pytest.raises(ConfigError, match=r"with model\.init = 'scale'"):
        TransformerConfig(init='scale', **change)
