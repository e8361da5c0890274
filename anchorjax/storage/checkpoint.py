"""Orbax writes, its own storage library reads, and our digest of every leaf is checked between.

Under `jax.distributed` all processes call these functions alike: each writes and reads the rows
(members) of its own devices.
"""

import contextlib
import json
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

from anchorjax.errors import StoreError, brief
from anchorjax.storage import atomic, digests

logging.getLogger('absl').setLevel(
    logging.CRITICAL
)  # Orbax narrates; errors come to us raised


def save(folder: pathlib.Path, step: int, tree: Any, keep: int | None = None) -> None:
    """Writes a pytree of arrays as `folder/step`, whole or not at all; keeps the newest `keep`.

    Args:
      tree: numpy arrays, the same in every process, or jax arrays [members, ...].

    Raises:
      StoreError: it could not be written; what was there before still is.
    """
    if jax.process_count() == 1:
        tree = jax.tree.map(np.asarray, tree)
    by_row = jax.tree.map(_one_row_a_piece, tree)
    args = ocp.args.Composite(
        tree=ocp.args.StandardSave(tree, by_row),
        digests=ocp.args.JsonSave({'step': step, 'leaves': digests.digest_tree(tree)}),
    )
    try:
        with _quiet_threads(), _manager(folder, keep) as manager:
            manager.save(step, args=args, force=True)
            manager.wait_until_finished()
    except (
        Exception
    ) as e:  # Orbax and tensorstore raise many kinds; all mean the same here
        raise StoreError(
            f'cannot write checkpoint {folder / str(step)}: {_first_line(e)}'
        ) from e


def list_steps(folder: pathlib.Path) -> list[int]:
    """Steps of the finished checkpoints, oldest first; empty when there is no such folder."""
    if not folder.is_dir():
        return []
    return sorted(
        int(p.name) for p in folder.iterdir() if p.name.isdecimal() and p.is_dir()
    )


def load(folder: pathlib.Path, step: int, abstract: Any) -> Any:
    """Reads `folder/step` back in the structure of `abstract`.

    A leaf of `abstract` that has a sharding comes back as a jax array, of which this process
    has read its own rows; any other as a whole numpy array.

    Raises:
      StoreError: it is missing, truncated or altered, or its tree is another one; the line
        names the first leaf that differs.
    """
    with _reading(folder, step) as (where, wanted):
        _same_tree(wanted, abstract, where)
        reads = _started(where, abstract, _own_rows)
        return jax.tree_util.tree_map_with_path(
            lambda path, like: _assembled(reads, _label(path), like, wanted), abstract
        )


def load_row(folder: pathlib.Path, step: int, row: int, abstract: Any) -> Any:
    """Reads one row (of the first axis) of the leaves in `abstract`, and nothing else.

    Raises:
      StoreError: as `load`.
    """
    with _reading(folder, step) as (where, wanted):
        labels = {_label(path) for path, _ in _leaves(abstract)}
        _same_tree({p: d for p, d in wanted.items() if p in labels}, abstract, where)
        reads = _started(where, abstract, lambda like: {row: slice(row, row + 1)})
        return jax.tree_util.tree_map_with_path(
            lambda path, _: _checked(reads, _label(path), row, wanted)[0], abstract
        )


def _own_rows(like: jax.ShapeDtypeStruct) -> dict[int, slice]:
    """The pieces (by first row) of a leaf that this process needs."""
    if like.sharding is None:
        return {0: slice(0, like.shape[0])}
    indices = like.sharding.addressable_devices_indices_map(like.shape).values()
    return {(index[0].start or 0): index[0] for index in indices}


def _started(where: pathlib.Path, abstract: Any, pieces: Callable) -> dict[str, dict]:
    """Reads under way, all at once: label -> first row -> future array."""
    leaves = _leaves(abstract)
    opening = {
        path: ts.open(_zarr(where, path), open=True, read=True) for path, _ in leaves
    }
    reads = {}
    for path, like in leaves:
        store = opening[path].result()
        if (store.shape, store.dtype.numpy_dtype) != (like.shape, like.dtype):
            raise _Altered(_label(path))
        reads[_label(path)] = {
            row: store[rows].read() for row, rows in pieces(like).items()
        }
    return reads


def _assembled(
    reads: dict, label: str, like: jax.ShapeDtypeStruct, wanted: dict
) -> Any:
    """A leaf as `load` gives it."""
    part = lambda index: _checked(reads, label, index[0].start or 0, wanted)
    if like.sharding is None:
        return part((slice(0, None),))
    return jax.make_array_from_callback(like.shape, like.sharding, part)


class _Altered(Exception):
    """Part of a leaf (its label) is not what was written."""


def _checked(reads: dict, label: str, start: int, wanted: dict) -> np.ndarray:
    """The piece that begins at row `start`, each row of the digest it was written with."""
    array = np.asarray(reads[label][start].result())
    for row, value in enumerate(array, start):
        if digests.digest_array(value) != wanted[label]['rows'][row]:
            raise _Altered(label)
    return array


@contextlib.contextmanager
def _reading(folder: pathlib.Path, step: int) -> Iterator[tuple[pathlib.Path, dict]]:
    """(folder, digests) of a checkpoint; whatever goes wrong inside is a StoreError."""
    where = folder / str(step)
    if step not in list_steps(folder):
        raise StoreError(f'no checkpoint {where}; steps here: {list_steps(folder)}')
    try:
        for path in where.rglob('*'):
            atomic.require_regular(path)
        content = json.loads((where / 'digests' / 'metadata').read_text())
        if content['step'] != step:
            raise _Altered('step')
        yield where, content['leaves']
    except StoreError:
        raise
    except _Altered as e:
        raise StoreError(f'checkpoint {where} is altered: digest of {e} differs') from e
    except Exception as e:
        raise StoreError(f'checkpoint {where} is damaged: {_first_line(e)}') from e


def _one_row_a_piece(array: Any) -> ocp.SaveArgs:
    """So that one member is read without the others."""
    bytes_a_row = array.nbytes // array.shape[0]
    return ocp.SaveArgs(chunk_byte_size=max(bytes_a_row, 1), shard_axes=(0,))


def _zarr(where: pathlib.Path, path: tuple) -> dict:
    """Where Orbax put a leaf: its path in the tree, joined by dots."""
    base = {'driver': 'ocdbt', 'base': f'file://{where.absolute()}/tree/'}
    name = '.'.join(ocp.utils.tuple_path_from_keypath(path))
    return {'driver': 'zarr', 'kvstore': base | {'path': f'{name}/'}}


@contextlib.contextmanager
def _quiet_threads() -> Iterator[None]:
    """Mutes Orbax's own threads: what fails in them is raised here too, in one line.

    Not unmuted after a failure: the callbacks of a failed save go on complaining until exit.
    """
    before = threading.excepthook, sys.unraisablehook
    threading.excepthook = sys.unraisablehook = lambda _: None
    yield
    threading.excepthook, sys.unraisablehook = before


def _manager(folder: pathlib.Path, keep: int | None = None) -> ocp.CheckpointManager:
    # Saving in the foreground: a failed save surfaces here, and a save is far under 2 % of a run.
    options = ocp.CheckpointManagerOptions(
        max_to_keep=keep, enable_async_checkpointing=False, create=True
    )
    return ocp.CheckpointManager(folder.absolute(), options=options)


def _same_tree(wanted: dict, abstract: Any, where: pathlib.Path) -> None:
    here = {_label(p): (str(x.dtype), list(x.shape)) for p, x in _leaves(abstract)}
    there = {p: (d['dtype'], d['shape']) for p, d in wanted.items()}
    for path in [*here, *there]:
        if here.get(path) != there.get(path):
            differs = brief(
                f'leaf {path} is {there.get(path)}, needed {here.get(path)}'
            )
            raise StoreError(f'checkpoint {where}: {differs}')


_label = jax.tree_util.keystr
_leaves = jax.tree_util.tree_leaves_with_path


def _first_line(e: Exception) -> str:
    first = str(e).splitlines()[0] if str(e) else 'no message'
    return brief(f'{type(e).__name__}: {first}')
