"""The activations of an MLP by name."""

from typing import Literal, assert_never, get_args

import jax
import jax.numpy as jnp
from flax import linen as nn

# 'gelu' is exact, not the tanh approximation. P2's theory assumes a smooth activation
# with value 0 and derivative 1 at 0, like 'tanh' and 'identity' (PAPERS 2.2).
Activation = Literal['relu', 'gelu', 'tanh', 'identity']
ACTIVATIONS = get_args(Activation)


def activate(name: Activation, x: jax.Array) -> jax.Array:
    """The activation of every element."""
    if name == 'relu':
        return nn.relu(x)
    if name == 'gelu':
        return nn.gelu(x, approximate=False)
    if name == 'tanh':
        return jnp.tanh(x)
    if name == 'identity':
        return x
    assert_never(name)  # a name without a branch must not train another activation
