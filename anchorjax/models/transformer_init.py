"""Which initializer each kind of parameter of the transformer gets: the official deviations.

'd_in'     every matrix std = d_in^-gamma; embeddings width^-gamma (P1; PAPERS 1.2)
'd_model'  every matrix std = width^-gamma (P3; PAPERS 3.2)
'gpt2_hf'  the transposed reading of P1's GPT-2 code: std = d_out^-gamma on the fused QKV
           (d_out = 3 heads head_dim) and on MLP-in, N(0, 0.02) elsewhere, residual outputs
           0.02 / sqrt(2 depth), biases zero (PAPERS 1.6 and quirk 11)
"""

import jax
from flax import linen as nn

from anchorjax.models.initializers import Initializer, gamma_normal, torch_uniform
from anchorjax.models.transformer_config import TransformerConfig

_BIASES = ('b_U', 'b_qk', 'b_v', 'b_attn_out', 'b_mlp_in', 'b_mlp_out')


def initializers(
    c: TransformerConfig, gamma: float | jax.Array
) -> dict[str, Initializer]:
    """Initializer by kind: embed, qk, v, attn_out, mlp_in, mlp_out, unembed and the biases."""
    scale = (2 * c.depth) ** -0.5 if c.residual_scale else 1.0
    if c.init == 'gpt2_hf':
        return _gpt2_hf(c, gamma)
    d = c.width if c.init == 'd_model' else None
    matrix = gamma_normal(gamma, d=d)
    residual = gamma_normal(gamma, d=d, scale=scale)
    inner = {'qk': matrix, 'v': matrix, 'attn_out': residual, 'mlp_in': matrix}
    inner |= {'mlp_out': residual, 'unembed': matrix}
    biases = {
        **dict.fromkeys(('b_U', 'b_qk', 'b_v', 'b_mlp_in'), torch_uniform(c.width)),
        'b_attn_out': torch_uniform(c.heads * c.head_dim),
        'b_mlp_out': torch_uniform(c.mlp_dim),
    }
    return {'embed': gamma_normal(gamma, in_axis=-1, out_axis=-2)} | inner | biases


def _gpt2_hf(c: TransformerConfig, gamma) -> dict[str, Initializer]:
    fused = gamma_normal(gamma, d=3 * c.heads * c.head_dim)
    plain, residual = (
        nn.initializers.normal(0.02),
        nn.initializers.normal(0.02 * (2 * c.depth) ** -0.5),
    )
    matrices = {'embed': plain, 'qk': fused, 'v': fused, 'attn_out': residual}
    matrices |= {
        'mlp_in': gamma_normal(gamma, fan='out'),
        'mlp_out': residual,
        'unembed': plain,
    }
    return matrices | dict.fromkeys(_BIASES, nn.initializers.zeros)
