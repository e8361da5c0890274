"""Orbax behind three functions, with our own digest of every leaf beside what Orbax writes."""

import contextlib
import logging
import pathlib
import sys
import threading
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import orbax.checkpoint as ocp
import tensorstore as ts

from anchorjax import files
from anchorjax.errors import StoreError

logging.getLogger('absl').setLevel(logging.CRITICAL)  # Orbax narrates; errors come to us raised


def save(folder: pathlib.Path, step: int, tree: Any, keep: int | None = None) -> None:
    """Writes a pytree of arrays as `folder/step`, whole or not at all; keeps the newest `keep`.

    Raises:
      StoreError: it could not be written; what was there before still is.
    """
    host = jax.tree.map(np.asarray, tree)
    by_row = jax.tree.map(_one_row_a_piece, host)
    args = ocp.args.Composite(
        tree=ocp.args.StandardSave(host, by_row), digests=ocp.args.JsonSave(files.digests(host))
    )
    try:
        with _quiet_threads(), _manager(folder, keep) as manager:
            manager.save(step, args=args, force=True)
            manager.wait_until_finished()
    except Exception as e:  # Orbax and tensorstore raise many kinds; all mean the same here
        raise StoreError(f'cannot write checkpoint {folder / str(step)}: {_first_line(e)}') from e


def steps(folder: pathlib.Path) -> list[int]:
    """Steps of the finished checkpoints, oldest first; empty when there is no such folder."""
    if not folder.is_dir():
        return []
    return sorted(int(p.name) for p in folder.iterdir() if p.name.isdigit())


def load(folder: pathlib.Path, step: int, abstract: Any) -> Any:
    """Reads `folder/step` back as numpy arrays in the structure of `abstract`.

    Raises:
      StoreError: it is missing, truncated or altered, or its tree is another one; the line
        names the first leaf that differs.
    """
    where = folder / str(step)
    numpy_like = jax.tree.map(lambda x: np.empty(x.shape, x.dtype), abstract)
    restore = ocp.args.StandardRestore(numpy_like)
    with _reading(folder, step) as (manager, wanted):
        _same_tree(wanted, abstract, where)
        tree = manager.restore(step, args=ocp.args.Composite(tree=restore)).tree
        for path, found in files.digests(tree).items():
            if found != wanted[path]:
                raise StoreError(f'checkpoint {where} is altered: digest of {path} differs')
    return tree


def load_row(folder: pathlib.Path, step: int, row: int, abstract: Any) -> Any:
    """Reads one row (of the first axis) of the leaves in `abstract` (dicts), and nothing else.

    Orbax restores whole arrays, so this reads its files (zarr in OCDBT) by tensorstore.

    Raises:
      StoreError: as `load`.
    """
    where = folder / str(step)
    leaves, structure = jax.tree_util.tree_flatten_with_path(abstract)
    paths = [path for path, _ in leaves]
    with _reading(folder, step) as (_, wanted):
        _same_tree({p: d for p, d in wanted.items() if p in map(_label, paths)}, abstract, where)
        stores = [ts.open(_zarr(where, path), open=True, read=True) for path in paths]
        reads = [store.result()[row].read() for store in stores]
        arrays = [np.asarray(read.result()) for read in reads]
        for path, array in zip(map(_label, paths), arrays, strict=True):
            if files.digest(array) != wanted[path]['rows'][row]:
                raise StoreError(f'checkpoint {where} is altered: digest of {path} differs')
    return jax.tree.unflatten(structure, arrays)


@contextlib.contextmanager
def _reading(folder: pathlib.Path, step: int) -> Iterator[tuple[ocp.CheckpointManager, dict]]:
    """(manager, digests) of a checkpoint; whatever goes wrong inside is a StoreError."""
    where = folder / str(step)
    if step not in steps(folder):
        raise StoreError(f'no checkpoint {where}; steps here: {steps(folder)}')
    try:
        with _manager(folder) as manager:
            args = ocp.args.Composite(digests=ocp.args.JsonRestore())
            yield manager, manager.restore(step, args=args).digests
    except StoreError:
        raise
    except Exception as e:
        raise StoreError(f'checkpoint {where} is damaged: {_first_line(e)}') from e


def _one_row_a_piece(array: np.ndarray) -> ocp.SaveArgs:
    """So that one member is read without the others."""
    rows = array.shape[0] if array.ndim else 1
    return ocp.SaveArgs(chunk_byte_size=max(array.nbytes // rows, 1), shard_axes=(0,))


def _zarr(where: pathlib.Path, path: tuple) -> dict:
    base = {'driver': 'ocdbt', 'base': f'file://{where.absolute()}/tree/'}
    return {'driver': 'zarr', 'kvstore': base | {'path': '.'.join(k.key for k in path) + '/'}}


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
    leaves, _ = jax.tree_util.tree_flatten_with_path(abstract)
    here = {_label(p): (str(x.dtype), list(x.shape)) for p, x in leaves}
    there = {p: (d['dtype'], d['shape']) for p, d in wanted.items()}
    for path in [*here, *there]:
        if here.get(path) != there.get(path):
            found, needed = there.get(path), here.get(path)
            raise StoreError(f'checkpoint {where}: leaf {path} is {found}, needed {needed}')


_label = jax.tree_util.keystr


def _first_line(e: Exception) -> str:
    return f'{type(e).__name__}: {str(e).splitlines()[0] if str(e) else "no message"}'[:300]
