"""What the paper varies: weights drawn with std = d_in ** -gamma (P1 App A).

LARGE gamma is SMALL initialization.
"""

import math
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np

Initializer = Callable[..., jax.Array]
Axis = int | Sequence[int]


def gamma_normal(
    gamma: float | jax.Array,
    in_axis: Axis = -2,
    out_axis: Axis = -1,
    *,
    fan: str = 'in',
    d: int | None = None,
    scale: float | jax.Array = 1.0,
) -> Initializer:
    """A JAX initializer: normal with std = scale * d_in ** -gamma.

    Args:
      gamma: initialization rate; may be traced (members of one program differ in it).
      in_axis, out_axis: as in `jax.nn.initializers.variance_scaling`. In an embedding
        table [V, D] the width D counts as d_in: give in_axis=-1, out_axis=-2 (PAPERS
        1.2).
      fan: 'in', or 'out' for the transposed reading of PAPERS quirk 11 (HF Conv1D).
      d: replaces d_in, e.g. by d_model for every matrix as in P3 (PAPERS 3.2).
      scale: factor of the std, e.g. 1/sqrt(2 N) on residual outputs as in P3
        (PAPERS 3.2); may be traced.
    """

    def init(key, shape, dtype=jnp.float32, out_sharding=None) -> jax.Array:
        width = d
        if width is None:
            width = _fan(shape, in_axis, out_axis)[fan]
        std = scale * jnp.asarray(width, dtype) ** -jnp.asarray(gamma, dtype)
        return jax.random.normal(key, shape, dtype) * std

    return init


def torch_uniform(d_in: int) -> Initializer:
    """U(-1/sqrt(d_in), 1/sqrt(d_in)), the bias of torch.nn.Linear with d_in inputs."""

    def init(key, shape, dtype=jnp.float32) -> jax.Array:
        bound = 1.0 / np.sqrt(d_in)
        return jax.random.uniform(key, shape, dtype, -bound, bound)

    return init


def _fan(shape: Sequence[int], in_axis: Axis, out_axis: Axis) -> dict[str, int]:
    """Fan-in and fan-out as variance_scaling counts them: other axes multiply both."""
    size_in = _axes_size(shape, in_axis)
    size_out = _axes_size(shape, out_axis)
    receptive_field = math.prod(shape) // (size_in * size_out)
    return {'in': size_in * receptive_field, 'out': size_out * receptive_field}


def _axes_size(shape: Sequence[int], axis: Axis) -> int:
    axes = (axis,) if isinstance(axis, int) else axis
    return math.prod(shape[a] for a in axes)
