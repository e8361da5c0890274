"""Where members live: each device runs `lanes` of them, and no device ever waits for another.

The program has the same shape whatever the number of members, so a member's bits do not depend
on who else is in the sweep. They depend on `lanes`, and on whether there is one device or several
(two and eight agree; tested), which is why a run's manifest records both.
"""

import os
from collections.abc import Callable

import jax
import numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec

MEMBERS = PartitionSpec('member')


def use_every_core() -> None:
    """One JAX device per CPU core; call it before anything touches a device.

    A member's step has many passes too small to split over threads, so two members on two
    cores beat one member on both. Does nothing when the user chose a number of devices.
    """
    chosen = 'xla_force_host_platform_device_count' in os.environ.get('XLA_FLAGS', '')
    if not chosen and jax.config.jax_num_cpu_devices < 0:
        jax.config.update('jax_num_cpu_devices', len(os.sched_getaffinity(0)))


def mesh(num_devices: int = 0) -> jax.sharding.Mesh:
    """All devices (or the first few) on one axis, 'member'."""
    devices = jax.devices()[: num_devices or None]
    return jax.sharding.Mesh(np.array(devices), ('member',), axis_types=(AxisType.Auto,))


def over_members(fn: Callable, mesh: jax.sharding.Mesh, lanes: int, shared: int = 0) -> Callable:
    """`fn` of one member -> a jitted function of a chunk of lanes * devices members.

    Args:
      fn: pure; its last `shared` arguments are the same for all members.
      lanes: members side by side on one device. With one lane no batch axis is added: XLA's
        CPU code for a batch of one took 1.3 times as long as without (18.5 against 14.0 ms).
    """

    def on_device(*args):
        own, common = args[: len(args) - shared], args[len(args) - shared :]
        if lanes > 1:
            return jax.vmap(lambda *a: fn(*a, *common))(*own)
        one = jax.tree.map(lambda x: x[0], own)
        return jax.tree.map(lambda x: x[None], fn(*one, *common))

    def over_chunk(*args):
        specs = (MEMBERS,) * (len(args) - shared) + (PartitionSpec(),) * shared
        mapped = jax.shard_map(
            on_device, mesh=mesh, in_specs=specs, out_specs=MEMBERS, check_vma=False
        )
        return mapped(*args)

    return jax.jit(over_chunk, donate_argnums=0 if shared else ())


def place(tree, mesh: jax.sharding.Mesh):
    """Host arrays [chunk, ...] onto their devices."""
    return jax.device_put(tree, NamedSharding(mesh, MEMBERS))
