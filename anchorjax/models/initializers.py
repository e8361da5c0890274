"""What the paper varies: weights drawn with std = d_in ** -gamma (P1 App A).

LARGE gamma is SMALL initialization.
"""

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike

Initializer = Callable[..., jax.Array]


def gamma_normal(
    gamma: float | jax.Array,
    *,
    fan: str = 'in',
    d: int | None = None,
    scale: float | jax.Array = 1.0,
) -> Initializer:
    """A JAX initializer: normal with std = scale * d_in ** -gamma.

    Args:
      gamma: initialization rate; may be traced (members of one program differ in it).
      fan: of a matrix [d_in, d_out], 'in', or 'out' for the transposed reading of
        PAPERS quirk 11 (HF Conv1D).
      d: replaces d_in, e.g. by d_model for every matrix as in P3 (PAPERS 3.2). In an
        embedding table [V, D] the width D counts as d_in (PAPERS 1.2).
      scale: factor of the std, e.g. 1/sqrt(2 N) on residual outputs as in P3
        (PAPERS 3.2); may be traced.
    """

    def init(
        key: jax.Array, shape: tuple[int, int], dtype: DTypeLike = jnp.float32
    ) -> jax.Array:
        d_in, d_out = shape
        width = d or {'in': d_in, 'out': d_out}[fan]
        std = scale * jnp.asarray(width, dtype) ** -jnp.asarray(gamma, dtype)
        return jax.random.normal(key, shape, dtype) * std

    return init


def torch_uniform(d_in: int) -> Initializer:
    """U(-1/sqrt(d_in), 1/sqrt(d_in)), the bias of torch.nn.Linear with d_in inputs."""

    def init(
        key: jax.Array, shape: Sequence[int], dtype: DTypeLike = jnp.float32
    ) -> jax.Array:
        bound = 1.0 / np.sqrt(d_in)
        return jax.random.uniform(key, shape, dtype, -bound, bound)

    return init
