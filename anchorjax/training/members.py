"""Where members live: each device runs `lanes` of them at a time.

The mesh has two axes. Along 'member' devices never wait for each other; along 'batch' they share
the batch of the same members (few and large ones). A chunk that is larger than lanes * devices,
or uneven, is padded and taken group by group, so it can go on elsewhere than where it began.

The program has the same shape whatever the number of members, so a member's bits do not depend
on who else is in the sweep. They depend on `lanes`, on how many devices share a batch, and on
whether there is one device or several (two and eight agree; tested), which is why a run's
manifest records all three. On how many hosts the devices are does not matter (tested).
"""

import hashlib
import os
import pathlib
import platform
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from anchorjax.errors import require

MEMBERS = PartitionSpec('member')


def use_every_core() -> None:
    """One JAX device per CPU core; call it before anything touches a device.

    A member's step has many passes too small to split over threads, so two members on two
    cores beat one member on both. Does nothing when the user chose a number of devices.
    """
    chosen = 'xla_force_host_platform_device_count' in os.environ.get('XLA_FLAGS', '')
    if not chosen and jax.config.jax_num_cpu_devices < 0:
        jax.config.update('jax_num_cpu_devices', len(os.sched_getaffinity(0)))


def cpu_fingerprint() -> str:
    """Fingerprint of this CPU: code compiled for one may not run, or round alike, on another."""
    info = pathlib.Path('/proc/cpuinfo')
    lines = info.read_text().splitlines() if info.exists() else [platform.processor()]
    features = [line for line in lines if line.startswith(('model name', 'flags'))][:2]
    return hashlib.sha256('\n'.join(features or lines).encode()).hexdigest()[:8]


def make_mesh(num_devices: int = 0, batch_devices: int = 1) -> Mesh:
    """All devices of all processes (or the first few), `batch_devices` of them to a batch.

    Raises:
      ConfigError: the devices cannot be shared out so.
    """
    devices = np.array(jax.devices()[: num_devices or None])
    allowed = f'a divisor of the number of devices, {devices.size}'
    require(
        devices.size % batch_devices == 0, 'train.batch_devices', batch_devices, allowed
    )
    shaped = devices.reshape(-1, batch_devices)
    return Mesh(shaped, ('member', 'batch'), axis_types=(AxisType.Auto,) * 2)


def make_batch_splitter(mesh: Mesh) -> Callable[[Any], Any]:
    """A function that lays the first axis of arrays [B, ...] along 'batch'; for use in a jit."""
    parts = mesh.shape['batch']

    def split(x):
        if parts == 1 or x.shape[0] % parts:
            return x
        return jax.lax.with_sharding_constraint(
            x, NamedSharding(mesh, PartitionSpec('batch'))
        )

    return lambda tree: jax.tree.map(split, tree)


def map_members(fn: Callable, mesh: Mesh, lanes: int, shared: int = 0) -> Callable:
    """`fn` of one member -> a jitted function of a placed chunk of members.

    Args:
      fn: pure; its last `shared` arguments are the same for all members.
      lanes: members side by side on one device. With one lane no batch axis is added: XLA's
        CPU code for a batch of one took 1.3 times as long as without (18.5 against 14.0 ms).
    """

    def side_by_side(own, common):
        if lanes > 1:
            return jax.vmap(lambda *a: fn(*a, *common))(*own)
        one = jax.tree.map(lambda x: x[0], own)
        return jax.tree.map(lambda x: x[None], fn(*one, *common))

    def on_device(*args):
        own, common = args[: len(args) - shared], args[len(args) - shared :]
        rows = jax.tree.leaves(own)[0].shape[0]
        if rows == lanes:
            return side_by_side(own, common)
        grouped = jax.tree.map(
            lambda x: x.reshape(rows // lanes, lanes, *x.shape[1:]), own
        )
        out = jax.lax.map(lambda group: side_by_side(group, common), grouped)
        return jax.tree.map(lambda x: x.reshape(rows, *x.shape[2:]), out)

    def over_chunk(*args):
        specs = (MEMBERS,) * (len(args) - shared) + (PartitionSpec(),) * shared
        manual = {'member'} if mesh.shape['batch'] > 1 else set(mesh.axis_names)
        mapped = jax.shard_map(
            on_device,
            mesh=mesh,
            in_specs=specs,
            out_specs=MEMBERS,
            axis_names=manual,
            check_vma=False,
        )
        return mapped(*args)

    return jax.jit(over_chunk, donate_argnums=0 if shared else ())


def padded_size(rows: int, mesh: Mesh, lanes: int) -> int:
    """The smallest number of members, at least `rows`, that fills whole groups."""
    group = lanes * mesh.shape['member']
    return -(-rows // group) * group


def place_members(tree: Any, mesh: Mesh, lanes: int) -> Any:
    """Host arrays [chunk, ...] onto their devices, padded by copies of the last member."""
    target = NamedSharding(mesh, MEMBERS)

    def put(x):
        if isinstance(x, jax.Array):  # read straight to its place
            return x
        rows = np.minimum(np.arange(padded_size(len(x), mesh, lanes)), len(x) - 1)
        padded = x if len(rows) == len(x) else x[rows]
        return jax.make_array_from_callback(
            padded.shape, target, lambda index: padded[index]
        )

    return jax.tree.map(put, tree)


def describe_placement(tree: Any, rows: int, mesh: Mesh, lanes: int) -> Any:
    """Shapes [padded, ...] -> those of `rows` members, with their place where none is padded."""
    padded = padded_size(rows, mesh, lanes) != rows
    where = None if padded else NamedSharding(mesh, MEMBERS)
    shaped = lambda x: jax.ShapeDtypeStruct(
        (rows, *x.shape[1:]), x.dtype, sharding=where
    )
    return jax.tree.map(shaped, tree)


def drop_padding(tree: Any, rows: int) -> Any:
    """The first `rows` members; arrays that have no others stay where they are."""
    if jax.tree.leaves(tree)[0].shape[0] == rows:
        return tree
    return jax.tree.map(lambda x: x[:rows], fetch_to_host(tree))


def fetch_to_host(tree: Any) -> Any:
    """Numpy copies of whole arrays, on every process; all must call it."""
    if all(x.is_fully_addressable for x in jax.tree.leaves(tree)):
        return jax.tree.map(np.asarray, tree)
    return multihost_utils.process_allgather(tree, tiled=True)
