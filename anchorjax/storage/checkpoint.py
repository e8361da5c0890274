"""Checkpoints: Orbax writes, tensorstore reads; a list of digests tells damage.

With several processes, all of them call these functions; each writes the rows (members)
of its own devices, and reads all.
"""

import asyncio
import contextlib
import functools
import logging
import os
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import numpy as np
import orbax.checkpoint as ocp
import tensorstore as ts

from anchorjax import files
from anchorjax.errors import CorruptFileError, StoreError, describe_cause
from anchorjax.hashing import digest_file
from anchorjax.training import hosts

# Orbax logs every step it takes, and errors, which reach us as exceptions.
logging.getLogger('absl').addFilter(lambda record: 'orbax' not in record.pathname)

# The digests of the other files of a checkpoint; written last. Orbax restores altered
# bytes silently, and an error of a library alone does not tell damage.
_FILES = 'files.json'


def save(folder: pathlib.Path, step: int, tree: Any, keep: int | None = None) -> None:
    """Writes a pytree of arrays as `folder/step`, whole or not at all.

    Args:
      tree: NumPy arrays, the same in every process, or jax arrays [members, ...].
      keep: how many of the newest checkpoints stay; None: all.

    Raises:
      StoreError: it cannot be written, or not read back; other checkpoints are still
        there.
    """
    if jax.process_count() == 1:
        tree = jax.tree.map(np.asarray, tree)
    stored = jax.tree.map(_leave_out_empty, tree)
    row_by_row = jax.tree.map(_store_row_by_row, stored)
    args = ocp.args.Composite(tree=ocp.args.PyTreeSave(stored, row_by_row))
    path = folder / str(step)
    hosts.run_on_first(functools.partial(_make_place, folder, step))
    # By every process: on a network file system others see a new folder late.
    hosts.run_together(functools.partial(_make_folder, folder))
    try:
        with (
            files.open_by_number(folder) as nameless,
            _open_manager(nameless, keep) as manager,
        ):
            manager.save(step, args=args, force=True)
            manager.wait_until_finished()
    except Exception as e:  # Orbax and tensorstore raise many kinds
        raise StoreError(f'cannot write checkpoint {path}: {describe_cause(e)}') from e
    hosts.run_on_first(functools.partial(_complete, path, stored))


def list_steps(folder: pathlib.Path) -> list[int]:
    """The steps of the complete checkpoints, in order; empty without a folder."""
    steps = [int(path.name) for path in _list_begun(folder) if _is_complete(path)]
    return sorted(steps)


def load(folder: pathlib.Path, step: int, abstract: Any, row: int | None = None) -> Any:
    """Reads `folder/step` back in the structure of `abstract`, as NumPy arrays.

    Args:
      abstract: a part of the tree that was saved, as ShapeDtypeStructs [members, ...].
      row: of a single member, whose leaves then have no first axis; None: all.

    Raises:
      CorruptFileError: a file is not what was written.
      StoreError: it is missing, cannot be read (the line has the cause), or a leaf has
        another shape or type.
    """
    rows = slice(None) if row is None else row
    leaves, structure = jax.tree_util.tree_flatten_with_path(abstract)
    with _open_checkpoint(folder, step) as path:
        return structure.unflatten(_read_leaves(path, leaves, rows))


def _read_leaves(
    path: pathlib.Path, leaves: list[tuple], rows: slice | int
) -> list[np.ndarray]:
    """The arrays of some (path, like) of a checkpoint, all at once."""
    if os.getpid() != _find_first_reader():
        raise StoreError(
            f'cannot read checkpoint {path} in a fork of a process that used one: take '
            "multiprocessing.get_context('spawn')"
        )
    opening, reading, arrays = {}, {}, []
    with files.open_by_number(path / 'tree') as store_path:
        for i, (leaf_path, like) in enumerate(leaves):
            if like.size:  # see `_leave_out_empty`
                spec = _zarr_spec(store_path, leaf_path)
                opening[i] = ts.open(spec, open=True, read=True)
        for i, future in opening.items():
            store = future.result()
            _require_like(store, leaves[i], path)
            reading[i] = store[rows].read()
        for i, (_, like) in enumerate(leaves):
            if i in reading:
                arrays.append(np.asarray(reading[i].result()))
            else:
                arrays.append(np.zeros(like.shape, like.dtype)[rows])
    return arrays


@functools.cache
def _find_first_reader() -> int:
    """The process that has the threads of tensorstore: a fork would wait for them."""
    return os.getpid()


def _make_folder(folder: pathlib.Path) -> None:
    with files.report_in_one_line('write', folder):
        folder.mkdir(parents=True, exist_ok=True)


def _make_place(folder: pathlib.Path, step: int) -> None:
    """Removes the checkpoint of this step, and those that killed jobs left incomplete.

    Orbax counts the latter among the newest, and would remove complete ones for them.
    """
    for path in _list_begun(folder):
        if int(path.name) == step or not _is_complete(path):
            files.remove(path)


def _complete(path: pathlib.Path, stored: Any) -> None:
    """Marks a checkpoint complete, once its arrays could be opened and one be read."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(stored)
    smallest = min(leaves, key=lambda leaf: leaf[1].size)
    try:
        _read_leaves(path, leaves, slice(0, 0))
        _read_leaves(path, [smallest], slice(None))
    except Exception as e:  # tensorstore raises many kinds
        line = f'checkpoint {path} cannot be read back: {describe_cause(e)}'
        raise StoreError(line) from e
    files.write_json(path / _FILES, _digest_files(path))


def _list_begun(folder: pathlib.Path) -> list[pathlib.Path]:
    """The folders of all checkpoints, complete or not."""
    if not folder.is_dir():
        return []
    return [path for path in folder.iterdir() if path.name.isdecimal()]


def _is_complete(path: pathlib.Path) -> bool:
    return (path / _FILES).exists()


def _require_like(store: ts.TensorStore, leaf: tuple, path: pathlib.Path) -> None:
    """Raises StoreError unless an array has the shape and type of the (path, like)."""
    leaf_path, like = leaf
    if (store.shape, store.dtype.numpy_dtype) != (like.shape, like.dtype):
        raise StoreError(
            f'checkpoint {path} was saved by other code: leaf '
            f'{jax.tree_util.keystr(leaf_path)} is '
            f'{store.dtype.name}{list(store.shape)}, expected '
            f'{like.dtype}{list(like.shape)}'
        )


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
            raise CorruptFileError(f'checkpoint {path} is damaged: {changed}')
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
    except CorruptFileError:
        return f'{_FILES} is not JSON'
    found = _digest_files(path)
    for name, digest in written.items():
        if found.get(name) != digest:
            return f'{name} is missing or differs'
    return ''


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


def _zarr_spec(store_path: pathlib.Path, leaf_path: tuple) -> dict:
    """Where Orbax put a leaf: under its path in the tree, joined by dots."""
    name = '.'.join(ocp.utils.tuple_path_from_keypath(leaf_path))
    kvstore = {
        'driver': 'ocdbt',
        'base': {'driver': 'file', 'path': f'{store_path}/'},
        'path': f'{name}/',
    }
    return {'driver': 'zarr', 'kvstore': kvstore}


def _open_manager(folder: pathlib.Path, keep: int | None) -> ocp.CheckpointManager:
    # In the foreground, so that a failure is raised here; saving takes far less than
    # 2 % of the time.
    options = ocp.CheckpointManagerOptions(
        max_to_keep=keep, enable_async_checkpointing=False
    )
    types = ocp.type_handlers.create_type_handler_registry(
        (np.ndarray, _AllAwaited()),
        (jax.Array, ocp.type_handlers.get_type_handler(jax.Array)),
    )
    handler = ocp.PyTreeCheckpointHandler(type_handler_registry=types)
    return ocp.CheckpointManager(
        folder, options=options, item_handlers={'tree': handler}
    )


class _AllAwaited(ocp.type_handlers.NumpyHandler):
    """Ends when every array is written, or has failed.

    Orbax's own closes its event loop at the first failure, and tensorstore's threads,
    which tell it of the others, write a traceback for each. (Without this method, as in
    another Orbax, nothing else changes.)
    """

    async def _background_serialize(
        self, values: Sequence, infos: Sequence, args: Sequence = ()
    ) -> None:
        writes = []
        for value, info, arg in zip(values, infos, args, strict=True):
            writes.append(super()._background_serialize([value], [info], [arg]))
        for error in await asyncio.gather(*writes, return_exceptions=True):
            if error is not None:
                raise error
