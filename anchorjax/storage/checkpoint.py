"""Checkpoints: Orbax writes, tensorstore reads; a list of digests tells damage.

With several processes, all of them call these functions, and each writes and reads the
rows (members) of its own devices.
"""

import contextlib
import functools
import logging
import pathlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
import orbax.checkpoint as ocp
import tensorstore as ts

from anchorjax import files
from anchorjax.errors import Damaged, StoreError, describe_cause
from anchorjax.hashing import digest_file
from anchorjax.training import hosts

# Orbax logs every step it takes; errors reach us as exceptions. Of several writes that
# fail at once one is raised, and asyncio would print the others with their tracebacks.
for _name in ('absl', 'asyncio'):
    logging.getLogger(_name).setLevel(logging.CRITICAL)

# The digests of the other files of a checkpoint; written last. Orbax restores altered
# bytes silently, and an error of a library alone does not tell damage.
_FILES = 'files.json'

# label of a leaf -> first row of a piece -> the array being read
_Reads = dict[str, dict[int, Any]]


def save(folder: pathlib.Path, step: int, tree: Any, keep: int | None = None) -> None:
    """Writes a pytree of arrays as `folder/step`, whole or not at all.

    Args:
      tree: NumPy arrays, the same in every process, or jax arrays [members, ...].
      keep: how many of the newest checkpoints stay; None: all.

    Raises:
      StoreError: it cannot be written; other checkpoints are still there.
    """
    if jax.process_count() == 1:
        tree = jax.tree.map(np.asarray, tree)
    stored = jax.tree.map(_leave_out_empty, tree)
    row_by_row = jax.tree.map(_store_row_by_row, stored)
    args = ocp.args.Composite(tree=ocp.args.StandardSave(stored, row_by_row))
    path = folder / str(step)
    hosts.run_on_first(functools.partial(files.remove, path))
    try:
        with _mute_threads(), _open_manager(folder, keep) as manager:
            manager.save(step, args=args, force=True)
            manager.wait_until_finished()
    except Exception as e:  # Orbax and tensorstore raise many kinds
        raise StoreError(f'cannot write checkpoint {path}: {describe_cause(e)}') from e
    hosts.run_on_first(functools.partial(_write_list, path))


def list_steps(folder: pathlib.Path) -> list[int]:
    """The steps of the complete checkpoints, in order; empty without a folder."""
    if not folder.is_dir():
        return []
    steps = []
    for path in folder.iterdir():
        if path.name.isdecimal() and (path / _FILES).exists():
            steps.append(int(path.name))
    return sorted(steps)


def load(folder: pathlib.Path, step: int, abstract: Any) -> Any:
    """Reads `folder/step` back in the structure of `abstract`.

    Args:
      abstract: a tree of ShapeDtypeStructs. A leaf with a sharding comes back as a jax
        array, of which this process reads only its own rows; any other comes back as a
        whole NumPy array.

    Raises:
      Damaged: a file is not what was written.
      StoreError: it is missing, cannot be read (the line has the cause), or a leaf has
        another shape or type.
    """
    with _open_checkpoint(folder, step) as path:
        reads = _start_reads(path, abstract, _local_rows)

        def assemble(leaf_path: tuple, like: jax.ShapeDtypeStruct) -> Any:
            if 0 in like.shape:
                return np.zeros(like.shape, like.dtype)

            def read_piece(index: tuple[slice, ...]) -> np.ndarray:
                pieces = reads[_label(leaf_path)]
                return np.asarray(pieces[index[0].start or 0].result())

            if like.sharding is None:
                return read_piece((slice(0, None),))
            return jax.make_array_from_callback(like.shape, like.sharding, read_piece)

        return jax.tree_util.tree_map_with_path(assemble, abstract)


def load_row(folder: pathlib.Path, step: int, row: int, abstract: Any) -> Any:
    """One row (member) of the leaves in `abstract`, without the first axis.

    Args:
      row: index along the first axis.
      abstract: a part of the tree that was saved, as ShapeDtypeStructs [members, ...].

    Raises:
      StoreError: as `load`, Damaged included.
    """

    def select_row(like: jax.ShapeDtypeStruct) -> dict[int, slice]:
        return {row: slice(row, row + 1)}

    with _open_checkpoint(folder, step) as path:
        reads = _start_reads(path, abstract, select_row)

        def read_row(leaf_path: tuple, _: jax.ShapeDtypeStruct) -> np.ndarray:
            return np.asarray(reads[_label(leaf_path)][row].result())[0]

        return jax.tree_util.tree_map_with_path(read_row, abstract)


def _local_rows(like: jax.ShapeDtypeStruct) -> dict[int, slice]:
    """The pieces of a leaf that this process needs, by their first row."""
    if like.sharding is None:
        return {0: slice(0, like.shape[0])}
    indices = like.sharding.addressable_devices_indices_map(like.shape)
    return {(index[0].start or 0): index[0] for index in indices.values()}


def _start_reads(
    path: pathlib.Path,
    abstract: Any,
    select_rows: Callable[[jax.ShapeDtypeStruct], dict[int, slice]],
) -> _Reads:
    """Starts reading all pieces at once; StoreError if a leaf is another one."""
    leaves = []
    for leaf_path, like in jax.tree_util.tree_leaves_with_path(abstract):
        if 0 not in like.shape:
            store = ts.open(_zarr_spec(path, leaf_path), open=True, read=True)
            leaves.append((_label(leaf_path), like, store))
    reads: _Reads = {}
    for label, like, opening in leaves:
        store = opening.result()
        if (store.shape, store.dtype.numpy_dtype) != (like.shape, like.dtype):
            raise StoreError(
                f'checkpoint {path} was saved by other code: leaf {label} is '
                f'{store.dtype.name}{list(store.shape)}, expected '
                f'{like.dtype}{list(like.shape)}'
            )
        pieces = {}
        for first_row, rows in select_rows(like).items():
            pieces[first_row] = store[rows].read()
        reads[label] = pieces
    return reads


@contextlib.contextmanager
def _open_checkpoint(folder: pathlib.Path, step: int) -> Iterator[pathlib.Path]:
    """The path of an undamaged checkpoint; any error inside becomes a StoreError."""
    path = folder / str(step)
    if step not in list_steps(folder):
        raise StoreError(f'no checkpoint {path}; steps here: {list_steps(folder)}')
    try:
        times = tuple(file.stat().st_mtime_ns for file in _list_files(path))
        changed = _find_changed_file(path, times)
        if changed:
            raise Damaged(f'checkpoint {path} is damaged: {changed}')
        yield path
    except StoreError:
        raise
    except Exception as e:  # tensorstore raises many kinds
        raise StoreError(f'cannot read checkpoint {path}: {describe_cause(e)}') from e


@functools.lru_cache(maxsize=1024)
def _find_changed_file(path: pathlib.Path, times: tuple[int, ...]) -> str:
    """'X differs' for the first file that is not what was written; '' if there is none.

    Cached, because many members are read from one checkpoint.

    Args:
      times: when its files were last written.
    """
    try:
        written = files.read_json(path / _FILES)
    except Damaged:
        return f'{_FILES} is not JSON'
    found = _digest_files(path)
    for name, digest in written.items():
        if found.get(name) != digest:
            return f'{name} is missing or differs'
    return ''


def _write_list(path: pathlib.Path) -> None:
    files.write_json(path / _FILES, _digest_files(path))


def _digest_files(path: pathlib.Path) -> dict[str, str]:
    """The SHA-256 of every file of a checkpoint, by its path in the folder."""
    digest_of = {}
    for file in _list_files(path):
        digest_of[str(file.relative_to(path))] = digest_file(file)
    digest_of.pop(_FILES, None)
    return digest_of


def _list_files(path: pathlib.Path) -> list[pathlib.Path]:
    return sorted(file for file in path.rglob('*') if file.is_file())


def _leave_out_empty(array: np.ndarray | jax.Array) -> np.ndarray | jax.Array | None:
    """None for an array without elements: Orbax refuses it, and its shape says all."""
    return array if array.size else None


def _store_row_by_row(array: np.ndarray | jax.Array) -> ocp.SaveArgs:
    """Storage of one row per piece, so that a member can be read without the others."""
    bytes_per_row = array.nbytes // array.shape[0]
    return ocp.SaveArgs(chunk_byte_size=max(bytes_per_row, 1), shard_axes=(0,))


def _zarr_spec(path: pathlib.Path, leaf_path: tuple) -> dict:
    """Where Orbax put a leaf: under its path in the tree, joined by dots."""
    name = '.'.join(ocp.utils.tuple_path_from_keypath(leaf_path))
    kvstore = {
        'driver': 'ocdbt',
        'base': {'driver': 'file', 'path': f'{path.absolute()}/tree/'},
        'path': f'{name}/',
    }
    return {'driver': 'zarr', 'kvstore': kvstore}


@contextlib.contextmanager
def _mute_threads() -> Iterator[None]:
    """Mutes Orbax's threads, whose errors are raised in this thread too.

    After a failure they stay muted, because the callbacks of a failed save keep
    printing until the process ends.
    """

    def ignore(_: Any) -> None:
        pass

    thread_hook, unraisable_hook = threading.excepthook, sys.unraisablehook
    threading.excepthook = sys.unraisablehook = ignore
    yield
    threading.excepthook, sys.unraisablehook = thread_hook, unraisable_hook


def _open_manager(folder: pathlib.Path, keep: int | None) -> ocp.CheckpointManager:
    # In the foreground, so that a failure is raised here; saving takes far less than
    # 2 % of the time.
    options = ocp.CheckpointManagerOptions(
        max_to_keep=keep, enable_async_checkpointing=False, create=True
    )
    return ocp.CheckpointManager(folder.absolute(), options=options)


def _label(leaf_path: tuple) -> str:
    return jax.tree_util.keystr(leaf_path)
