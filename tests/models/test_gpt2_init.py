"""Every tensor of GPT-2 starts with the documented std (PAPERS 1.6, quirk 11)."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import traverse_util

from anchorjax import config
from anchorjax.grid import HParams
from anchorjax.training.step import init_member
from tests.support import cases

GAMMA, WIDTH, DEPTH, NUM_SEEDS = 0.7, 64, 2, 6
MLP = 4 * WIDTH
RESIDUAL = (2 * DEPTH) ** -0.5
SIZES = {
    'model__width': WIDTH,
    'model__heads': 4,
    'model__depth': DEPTH,
    'model__max_len': 20,
    'task__vocab': 201,
}
QKV = ('W_Q', 'W_K', 'W_V')
FAN_IN = {'W_out': MLP}
FAN_OUT = {'W_Q': 3 * WIDTH, 'W_K': 3 * WIDTH, 'W_V': 3 * WIDTH, 'W_in': MLP}


def std_clean(name: str) -> float:
    std = FAN_IN.get(name, WIDTH) ** -GAMMA
    return RESIDUAL * std if name in ('W_O', 'W_out') else std


def std_plain_residual(name: str) -> float:
    return FAN_IN.get(name, WIDTH) ** -GAMMA


def std_transposed(name: str) -> float:
    std = FAN_OUT.get(name, WIDTH) ** -GAMMA
    return RESIDUAL * std if name in ('W_O', 'W_out') else std


def std_overwritten(name: str) -> float:
    return 0.02 * RESIDUAL if name in ('W_O', 'W_out') else std_clean(name)


def std_fixed_embedding(name: str) -> float:
    return 0.02 if name in ('W_embed', 'W_pos') else std_clean(name)


def std_official(name: str) -> float:
    if name in ('W_embed', 'W_pos'):
        return 0.02
    return std_overwritten(name) if name in ('W_O', 'W_out') else std_transposed(name)


OFFICIAL = {
    'model__fan': 'out',
    'model__residual_init': 'overwritten',
    'model__embed_init': 'fixed',
}
# name: (fields of the model, documented std of a matrix by its name)
OPTIONS = {
    'clean': ({}, std_clean),
    'plain_residual': ({'model__residual_init': 'plain'}, std_plain_residual),
    'fan_of_the_transposed_layer': ({'model__fan': 'out'}, std_transposed),
    'c_proj_overwritten': ({'model__residual_init': 'overwritten'}, std_overwritten),
    'fixed_embeddings': ({'model__embed_init': 'fixed'}, std_fixed_embedding),
    'official': (OFFICIAL, std_official),
}


@functools.cache
def compile_init(experiment: config.Experiment) -> Callable:
    """(gammas, seeds) -> parameters of the members, leaves [M, ...]."""

    def init_params(gamma: jax.Array, seed: jax.Array) -> Any:
        hparams = HParams(gamma, jnp.float32(1e-3), jnp.float32(0), seed)
        return init_member(experiment, hparams).params

    return jax.jit(jax.vmap(init_params))


def draw_params(
    experiment: config.Experiment, gamma: float = GAMMA
) -> dict[tuple, np.ndarray]:
    """Parameters of all seeds by path, [seed, ...]."""
    gammas = jnp.full(NUM_SEEDS, gamma, jnp.float32)
    params = compile_init(experiment)(gammas, jnp.arange(NUM_SEEDS))
    return traverse_util.flatten_dict(jax.tree.map(np.asarray, params))


@pytest.mark.parametrize('option', OPTIONS)
def test_every_tensor_has_the_documented_std_within_3_sigma(option):
    fields, documented_std = OPTIONS[option]
    checked = set()
    for (*scope, name), value in draw_params(
        cases.tiny_gpt2(**SIZES, **fields)
    ).items():
        checked.add(name)
        if scope and scope[-1].startswith('LN'):
            assert (value == (name == 'scale')).all()
        elif name.startswith('b_'):
            assert (value == 0).all()
        else:
            std = documented_std(name)
            assert abs(value.std() - std) < 3 * std / (2 * value.size) ** 0.5, name
            assert abs(value.mean()) < 4 * std / value.size**0.5, name
    assert {'W_embed', 'W_pos', *QKV, 'W_O', 'W_in', 'W_out', 'b_in'} < checked


@pytest.mark.slow
def test_the_official_std_of_gpt2_small_by_hand():
    # PAPERS 1.6: gamma 0.5 gives c_attn .0208 and c_fc .0180, gamma 0.3 .098 and .090.
    sizes = {'model__width': 768, 'model__heads': 12, 'model__depth': 1}
    experiment = cases.tiny_gpt2(**sizes, **OFFICIAL)
    for gamma, of_qkv, of_mlp_in in ((0.5, 0.0208, 0.0180), (0.3, 0.098, 0.090)):
        params = init_member(
            experiment,
            HParams(jnp.float32(gamma), jnp.float32(1), jnp.float32(0), jnp.int32(0)),
        ).params['block_0']
        np.testing.assert_allclose(params['W_K'].std(), of_qkv, rtol=0.01)
        np.testing.assert_allclose(params['W_in'].std(), of_mlp_in, rtol=0.01)


def test_gamma_scales_the_same_noise_of_the_matrices_it_reaches():
    for fields, untouched in (
        ({}, ()),
        (OFFICIAL, ('W_embed', 'W_pos', 'W_O', 'W_out')),
    ):
        experiment = cases.tiny_gpt2(**SIZES, **fields)
        large, small = draw_params(experiment, 0.3), draw_params(experiment, 1.1)
        fans = FAN_OUT if fields else FAN_IN
        for path, value in large.items():
            factor = 1.0
            if path[-1].startswith('W_') and path[-1] not in untouched:
                factor = fans.get(path[-1], WIDTH) ** -0.8
            np.testing.assert_allclose(small[path], factor * value, rtol=1e-5)


def test_members_of_one_program_differ_in_gamma_and_seed():
    init = compile_init(cases.tiny_gpt2(**SIZES))
    gammas = jnp.array([0.3, 0.3, 0.8], jnp.float32)
    W_MVD = np.asarray(init(gammas, jnp.array([0, 1, 1]))['W_embed'])
    assert abs(np.corrcoef(W_MVD[0].ravel(), W_MVD[1].ravel())[0, 1]) < 0.05
    np.testing.assert_allclose(W_MVD[2], WIDTH**-0.5 * W_MVD[1], rtol=1e-5)
