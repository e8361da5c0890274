"""Windows of a corpus for a compiled training step: on the device, or from the host.

A corpus that fits is an array on every device. A larger one stays in its file: the step
asks the host for the windows of its batch, by their numbers, so nothing is sampled on
the host and a member resumes with the same bits either way.

A thread reads the next windows during a step. The library grain, which was measured
beside it (analysis/gallery/costs.md), waits longer, and its
order of windows is its own, while a member's is a function of its seed and step. From a
file in memory a thread gains nothing; it hides the time that slow storage takes.
"""

import threading
from concurrent.futures import Future, ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec

from anchorjax.tasks.corpus.token_files import read_windows

_MOST_WAITING = 64  # batches that were fetched ahead and not asked for


class HostFeed:
    """Reads windows in the step, or ahead of it in a thread."""

    def __init__(self, tokens: np.ndarray, seq_len: int):
        self._tokens = tokens
        self._seq_len = seq_len
        self._thread = ThreadPoolExecutor(1, thread_name_prefix='windows')
        self._ahead: dict[bytes, Future] = {}
        self._lock = threading.Lock()

    def read(self, index: np.ndarray, next_index: np.ndarray) -> np.ndarray:
        """The windows with these numbers, [..., T + 1] int32.

        Args:
          next_index: what will be asked for next; its windows are fetched meanwhile.
        """
        key = _make_key(index)
        next_key = _make_key(next_index)
        with self._lock:
            future = self._ahead.pop(key, None)
            if next_key not in self._ahead and next_key != key:
                # A copy, because the thread may read it after this call.
                copy = np.array(next_index)
                self._ahead[next_key] = self._thread.submit(self.fetch, copy)
            while len(self._ahead) > _MOST_WAITING:  # several members share a feed
                oldest = next(iter(self._ahead))
                del self._ahead[oldest]
        # If the thread has not begun, as on a busy machine, reading is quicker.
        if future is None or future.cancel():
            return self.fetch(np.asarray(index))
        return future.result()

    def fetch(self, index: np.ndarray) -> np.ndarray:
        """The windows with these numbers, read now."""
        windows = read_windows(self._tokens, index, self._seq_len)
        return windows.astype(np.int32)


def read_on_device(tokens: np.ndarray, index_B: jax.Array, seq_len: int) -> jax.Array:
    """The windows with these numbers, [B, T + 1], of an array on the device."""
    first_B1 = index_B[:, None] * seq_len
    address_BL = first_B1 + jnp.arange(seq_len + 1)
    windows_BL = jnp.asarray(tokens)[address_BL]
    return windows_BL.astype(jnp.int32)


def read_from_host(
    feed: HostFeed, index_B: jax.Array, next_B: jax.Array, seq_len: int
) -> jax.Array:
    """The windows with these numbers, [B, T + 1], from the file.

    Devices that share a batch each ask their host for their own part of it.
    """

    def ask_host(index_B: jax.Array, next_B: jax.Array) -> jax.Array:
        shape = (*index_B.shape, seq_len + 1)
        windows_BL = jax.ShapeDtypeStruct(shape, jnp.int32)
        return jax.pure_callback(
            feed.read, windows_BL, index_B, next_B, vmap_method='broadcast_all'
        )

    mesh = jax.sharding.get_abstract_mesh()
    num_parts = mesh.shape.get('batch', 1)
    if num_parts > 1 and len(index_B) % num_parts == 0:
        # JAX calls a host from parts of an array only where it is cut by hand.
        of_part = PartitionSpec('batch')
        ask_host = jax.shard_map(
            ask_host,
            in_specs=(of_part, of_part),
            out_specs=of_part,
            axis_names={'batch'},
            check_vma=False,
        )
    return ask_host(index_B, next_B)


def _make_key(index: np.ndarray) -> bytes:
    return np.asarray(index).tobytes()
