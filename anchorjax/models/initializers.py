"""The knob of the paper: weights drawn with std = d_in ** -gamma (P1 Sec 3.3, App A).

LARGE gamma is SMALL initialization. This is the only module that knows what d_in is.
"""

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
    batch_axis: Axis = (),
    *,
    fan: str = 'in',
    d: int | None = None,
    scale: float = 1.0,
) -> Initializer:
    """Normal initializer with std = scale * d_in ** -gamma; a drop-in for `jax.nn.initializers`.

    Args:
      gamma: initialization rate; may be traced (members of one program differ in it).
      in_axis, out_axis, batch_axis: as in `jax.nn.initializers.variance_scaling`. An embedding
        table [V, D] is read as a [D]-dimensional input: give in_axis=-1, out_axis=-2 (P1 1.2).
      fan: 'in', or 'out' for the transposed reading of PAPERS quirk 11 (HF Conv1D).
      d: overrides the fan, e.g. d_model for every matrix as in P3 (PAPERS 3.2).
      scale: multiplies the std, e.g. 1/sqrt(2 L) on residual outputs as in P3 (PAPERS 3.2).

    Raises:
      ValueError: the axes do not describe the shape, or fan is unknown.
    """
    if fan not in ('in', 'out'):
        raise ValueError(f"gamma_normal: fan = {fan!r}: must be 'in' or 'out'")

    def init(key, shape, dtype=jnp.float32, out_sharding=None) -> jax.Array:
        width = d or _fan(shape, in_axis, out_axis, batch_axis)[fan]
        std = scale * jnp.asarray(width, dtype) ** -jnp.asarray(gamma, dtype)
        return jax.random.normal(key, shape, dtype) * std

    return init


def torch_uniform(d_in: int) -> Initializer:
    """U(-1/sqrt(d_in), 1/sqrt(d_in)): what torch.nn.Linear gives a bias nobody re-initialized."""

    def init(key, shape, dtype=jnp.float32) -> jax.Array:
        bound = 1.0 / np.sqrt(d_in)
        return jax.random.uniform(key, shape, dtype, -bound, bound)

    return init


def _fan(shape, in_axis: Axis, out_axis: Axis, batch_axis: Axis) -> dict[str, int]:
    """Fans as variance_scaling counts them: unnamed axes are a receptive field of both."""
    if len(shape) < 2:
        raise ValueError(
            f'gamma_normal needs at least two axes to know d_in, got shape {shape}'
        )

    def size(axis: Axis) -> int:
        return int(np.prod([shape[a] for a in np.atleast_1d(np.asarray(axis, int))]))

    field = int(np.prod(shape)) // (size(in_axis) * size(out_axis) * size(batch_axis))
    return {'in': size(in_axis) * field, 'out': size(out_axis) * field}
