"""The initializer of each kind of parameter, for each value of `model.init`.

'd_in'     std = d_in^-gamma for every matrix, width^-gamma for the embeddings (P1;
           PAPERS 1.2)
'd_model'  std = width^-gamma for every matrix and the embeddings (P3; PAPERS 3.2)
'gpt2_hf'  P1's GPT-2 code, which takes d_out for d_in: std = d_out^-gamma for the fused
           QKV (d_out = 3 * heads * head_dim) and the MLP's input, 0.02 / sqrt(2 depth)
           for residual outputs, 0.02 elsewhere, biases zero (PAPERS 1.6 and quirk 11).
           There the head is the embedding; here, and in every `transformer`, W_U is a
           matrix of its own, drawn by itself. In model `gpt2` it is the embedding.
'scale'    P4's gamma, a factor: std = gamma * d_in^-1/2 for every matrix, gamma *
           width^-1/2 for the embeddings, biases zero (PAPERS 4.1; what it says of
           embeddings and biases is not known). Here a LARGE gamma is LARGE weights.

With `model.own_gammas` a part of the network has a gamma of its own (PAPERS 3.1).
"""

import functools
from typing import get_args

import jax
from flax import linen as nn

from anchorjax.models.initializers import Initializer, gamma_normal, torch_uniform
from anchorjax.models.transformer_config import Part, TransformerConfig

_BIASES = ('b_U', 'b_qk', 'b_v', 'b_attn_out', 'b_mlp_in', 'b_mlp_out')


def initializers(
    config: TransformerConfig, gamma: float | jax.Array
) -> dict[str, Initializer]:
    """The initializer of every kind of parameter, by the names in transformer.py."""
    if config.init == 'gpt2_hf':
        return _gpt2_hf(config, gamma)
    if config.init == 'scale':
        return _scale(gamma)
    gammas = dict.fromkeys(get_args(Part), gamma) | dict(config.own_gammas)
    d = config.width if config.init == 'd_model' else None
    draw = functools.partial(gamma_normal, d=d)
    residual_scale = (2 * config.depth) ** -0.5 if config.residual_scale else 1.0
    bias = torch_uniform(config.width)
    return {
        'embed': gamma_normal(gammas['embed'], in_axis=-1, out_axis=-2),
        'qk': draw(gammas['qk']),
        'v': draw(gammas['vo']),
        'attn_out': draw(gammas['vo'], scale=residual_scale),
        'mlp_in': draw(gammas['mlp']),
        'mlp_out': draw(gammas['mlp'], scale=residual_scale),
        'unembed': draw(gammas['embed']),
        'b_U': bias,
        'b_qk': bias,
        'b_v': bias,
        'b_attn_out': torch_uniform(config.heads * config.head_dim),
        'b_mlp_in': bias,
        'b_mlp_out': torch_uniform(config.mlp_dim),
    }


def _gpt2_hf(
    config: TransformerConfig, gamma: float | jax.Array
) -> dict[str, Initializer]:
    """gamma acts on the fused QKV and on the MLP's input alone."""
    fused_qkv = gamma_normal(gamma, d=3 * config.heads * config.head_dim)
    plain = nn.initializers.normal(0.02)
    residual = nn.initializers.normal(0.02 * (2 * config.depth) ** -0.5)
    matrices = {
        'embed': plain,
        'qk': fused_qkv,
        'v': fused_qkv,
        'attn_out': residual,
        'mlp_in': gamma_normal(gamma, fan='out'),
        'mlp_out': residual,
        'unembed': plain,
    }
    return matrices | dict.fromkeys(_BIASES, nn.initializers.zeros)


def _scale(gamma: float | jax.Array) -> dict[str, Initializer]:
    """gamma is a factor of the usual d_in^-1/2."""
    matrix = gamma_normal(0.5, scale=gamma)
    kinds = ('qk', 'v', 'attn_out', 'mlp_in', 'mlp_out', 'unembed')
    matrices = dict.fromkeys(kinds, matrix)
    matrices['embed'] = gamma_normal(0.5, in_axis=-1, out_axis=-2, scale=gamma)
    return matrices | dict.fromkeys(_BIASES, nn.initializers.zeros)
