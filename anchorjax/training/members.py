"""Many members side by side: each device trains `lanes` of them at a time.

The mesh has two axes. Along 'member', devices never wait for each other; along 'batch',
they share the batches of the same members (few and large ones). A chunk that is larger
than lanes * devices, or no multiple of it, is padded and trained group by group, so a
sweep can continue on other devices.

The program has the same shape for any number of members, so a member's bits do not
depend on which others are in the sweep. They depend on `lanes`, on how many devices
share a batch, and on whether there is one device or several (two and eight agree;
tested); the manifest records all three. The number of hosts does not matter (tested).
"""

import functools
import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from anchorjax.training import hosts

MEMBERS = PartitionSpec('member')
EVERYWHERE = PartitionSpec()
# Positions of a slice of a batch. With them a step of width 32 or 64 stays in the cache
# of a CPU core; P1's 2,048 sequences of 9 do not, and took 1.4 times as long.
_MOST_POSITIONS = 1200


def make_batch_splitter(mesh: Mesh) -> Callable[[Any], Any]:
    """A function, to be called under jit, that shards arrays [B, ...] along 'batch'.

    Arrays whose B the devices do not divide stay as they are.
    """
    num_parts = mesh.shape['batch']
    sharding = NamedSharding(mesh, PartitionSpec('batch'))

    def split_array(x: jax.Array) -> jax.Array:
        if num_parts == 1 or x.shape[0] % num_parts:
            return x
        return jax.lax.with_sharding_constraint(x, sharding)

    def split(tree: Any) -> Any:
        return jax.tree.map(split_array, tree)

    return split


def count_slices(mesh: Mesh, batch_size: int, seq_len: int) -> int:
    """In how many equal slices, one after the other, a device takes a batch.

    It is 1 on accelerators, and where devices share a batch.
    """
    if mesh.devices.flat[0].platform != 'cpu' or mesh.shape['batch'] > 1:
        return 1
    size = batch_size
    while size % 2 == 0 and size * seq_len > _MOST_POSITIONS:
        size //= 2
    return batch_size // size


def map_members(
    fn: Callable, mesh: Mesh, lanes: int, num_members: int = 1, num_shared: int = 0
) -> Callable:
    """A jitted function that does for placed members [M, ...] what `fn` does for one.

    Args:
      fn: pure. Its first `num_members` arguments are of one member, the `num_shared`
        after them are the same for all. If it has any of these, it is a segment of
        training: the memory of its first argument is reused for the result.
      lanes: members side by side on one device.
    """
    axes = (0,) * num_members + (None,) * num_shared

    def run_group(members: tuple, shared: tuple) -> Any:
        """`lanes` members side by side, leaves [lanes, ...]."""
        if lanes > 1:
            return jax.vmap(fn, axes)(*members, *shared)
        # No vmap for one lane: with a member axis of size one, XLA's CPU code took 1.3
        # times as long (18.5 against 14.0 ms).
        member = jax.tree.map(operator.itemgetter(0), members)
        add_axis = functools.partial(jnp.expand_dims, axis=0)
        return jax.tree.map(add_axis, fn(*member, *shared))

    def run_device(*args: Any) -> Any:
        """All members of one device, group after group."""
        members, shared = args[:num_members], args[num_members:]
        rows = jax.tree.leaves(members)[0].shape[0]
        if rows == lanes:
            return run_group(members, shared)

        def split(x: jax.Array) -> jax.Array:
            return x.reshape(rows // lanes, lanes, *x.shape[1:])

        def join(x: jax.Array) -> jax.Array:
            return x.reshape(rows, *x.shape[2:])

        run = functools.partial(run_group, shared=shared)
        groups = jax.lax.map(run, jax.tree.map(split, members))
        return jax.tree.map(join, groups)

    is_batch_shared = mesh.shape['batch'] > 1
    run_chunk = jax.shard_map(
        run_device,
        mesh=mesh,
        in_specs=(MEMBERS,) * num_members + (EVERYWHERE,) * num_shared,
        out_specs=MEMBERS,
        axis_names={'member'} if is_batch_shared else set(mesh.axis_names),
        check_vma=False,
    )
    return jax.jit(run_chunk, donate_argnums=0 if num_shared else ())


def padded_size(rows: int, mesh: Mesh, lanes: int) -> int:
    """The smallest multiple of lanes * devices that is at least `rows`."""
    group = lanes * mesh.shape['member']
    return -(-rows // group) * group


def place_members(tree: Any, mesh: Mesh, lanes: int) -> Any:
    """Puts host arrays [M, ...] on the devices, padded with copies of the last row."""
    sharding = NamedSharding(mesh, MEMBERS)

    def place_array(x: np.ndarray) -> jax.Array:
        size = padded_size(len(x), mesh, lanes)
        padded = x
        if size != len(x):
            padded = x[np.minimum(np.arange(size), len(x) - 1)]
        return jax.make_array_from_callback(
            padded.shape, sharding, lambda index: padded[index]
        )

    return jax.tree.map(place_array, tree)


def abstract_members(
    member: Any, rows: int, sharding: NamedSharding | None = None
) -> Any:
    """The ShapeDtypeStructs [rows, ...] of members that are like this one."""

    def add_axis(x: jax.ShapeDtypeStruct) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct((rows, *x.shape), x.dtype, sharding=sharding)

    return jax.tree.map(add_axis, member)


def drop_padding(tree: Any, rows: int) -> Any:
    """The first `rows` members; without padding, arrays stay on their devices."""
    if jax.tree.leaves(tree)[0].shape[0] == rows:
        return tree
    return jax.tree.map(lambda x: x[:rows], fetch_to_host(tree))


def fetch_to_host(tree: Any) -> Any:
    """Whole arrays as NumPy copies on every process; all processes must call it."""
    leaves = jax.tree.leaves(tree)
    if all(leaf.is_fully_addressable for leaf in leaves):
        return jax.tree.map(np.asarray, tree)
    return hosts.fetch_everywhere(tree)
