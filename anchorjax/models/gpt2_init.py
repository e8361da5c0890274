"""The initializer of each kind of parameter of GPT-2 (PAPERS 1.6, quirk 11).

By default std = d_in^-gamma for every matrix and width^-gamma for both embeddings; the
outputs of attention and MLP, which add to the residual stream, get another factor
1/sqrt(2 depth). Biases are zero. P1's code differs in three ways, each an option:

fan = 'out'
    takes d_out for d_in, because Hugging Face's Conv1D stores a matrix [d_in, d_out]
    where PyTorch's Linear stores it transposed. Q, K and V are one layer there, of
    d_out = 3 * width.
residual_init = 'overwritten'
    both residual outputs have std = 0.02/sqrt(2 depth) at every gamma. (In a second
    file of that code the line is a comment: 'plain' is d^-gamma without a factor.)
embed_init = 'fixed'
    both embeddings, and with them the tied head, have std = 0.02 at every gamma.
"""

import jax
from flax import linen as nn

from anchorjax.models.gpt2_config import GPT2Config
from anchorjax.models.initializers import Initializer, gamma_normal

_STD = 0.02


def initializers(
    config: GPT2Config, gamma: float | jax.Array
) -> dict[str, Initializer]:
    """The initializer of every kind of parameter, by the names in gpt2.py."""
    qkv = gamma_normal(gamma)
    if config.fan == 'out':
        qkv = gamma_normal(gamma, d=3 * config.width)
    embed = gamma_normal(gamma, in_axis=-1, out_axis=-2)
    if config.embed_init == 'fixed':
        embed = nn.initializers.normal(_STD)
    return {
        'embed': embed,
        'qkv': qkv,
        'mlp_in': gamma_normal(gamma, fan=config.fan),
        'residual': _init_residual(config, gamma),
        'bias': nn.initializers.zeros,
    }


def _init_residual(config: GPT2Config, gamma: float | jax.Array) -> Initializer:
    """Of the two matrices of a block whose outputs add to the residual stream."""
    factor = (2 * config.depth) ** -0.5
    if config.residual_init == 'overwritten':
        return nn.initializers.normal(_STD * factor)
    if config.residual_init == 'plain':
        factor = 1.0
    return gamma_normal(gamma, fan=config.fan, scale=factor)
