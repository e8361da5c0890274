"""Files that are whole or absent: atomic writes, digests, a lock, and errors in one line."""

import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from anchorjax.errors import StoreError


@contextlib.contextmanager
def one_line(action: str, path: pathlib.Path) -> Iterator[None]:
    """Turns what the system (or netCDF, by a RuntimeError) says of a file into a StoreError."""
    try:
        yield
    except (OSError, RuntimeError) as e:
        raise StoreError(f'cannot {action} {path}: {getattr(e, "strerror", None) or e}') from e


def write_atomic(path: pathlib.Path, write: Callable[[pathlib.Path], None]) -> None:
    """Calls write(temporary path), then renames: a reader sees the old file or the new one."""
    temporary = path.with_name(f'.{os.getpid()}.{path.name}')
    try:
        with one_line('write', path):
            path.parent.mkdir(parents=True, exist_ok=True)
            write(temporary)
            with open(temporary, 'rb') as f:
                os.fsync(f.fileno())
            os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: pathlib.Path, text: str) -> None:
    write_atomic(path, lambda p: p.write_text(text, encoding='utf-8'))


def write_json(path: pathlib.Path, value: Any) -> None:
    write_text(path, json.dumps(value, indent=2) + '\n')


def read_json(path: pathlib.Path) -> Any:
    """Raises StoreError when the file is missing or is not JSON."""
    with one_line('read', path):
        text = path.read_text()
    try:
        return json.loads(text)
    except ValueError as e:
        raise StoreError(f'{path} is damaged: {e}') from None


def write_arrays(path: pathlib.Path, arrays: dict[str, np.ndarray]) -> None:
    def write(temporary: pathlib.Path) -> None:
        with open(temporary, 'wb') as f:
            np.savez(f, **arrays)

    write_atomic(path, write)


def read_arrays(path: pathlib.Path) -> dict[str, np.ndarray]:
    """The arrays of an npz, checked by its own CRCs; never a pickle."""
    try:
        with one_line('read', path), np.load(path, allow_pickle=False) as f:
            return {name: f[name] for name in f.files}
    except StoreError:
        raise
    except Exception as e:
        raise StoreError(f'{path} is damaged ({e}); delete it to make it anew') from None


def digests(tree: Any) -> dict[str, dict[str, Any]]:
    """Per leaf its dtype, shape and a digest of every row (of its first axis).

    Orbax restores flipped bytes without a word. By row, because a row is a member, and a member
    can be read alone.
    """
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    described = {}
    for path, leaf in leaves:
        array = np.asarray(leaf)
        rows = [digest(row) for row in (array if array.ndim else array[None])]
        key = jax.tree_util.keystr(path)
        described[key] = {'dtype': str(array.dtype), 'shape': list(array.shape), 'rows': rows}
    return described


def digest(array: np.ndarray) -> str:
    """The first 128 bits of the SHA-256 of an array's bytes."""
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:32]


@contextlib.contextmanager
def lock(folder: pathlib.Path) -> Iterator[None]:
    """Holds the folder for this process; the operating system lets go when the process dies.

    Raises:
      StoreError: another process holds it (its number is named), or it cannot be written.
    """
    with one_line('use', folder):
        folder.mkdir(parents=True, exist_ok=True)
        handle = open(folder / '.lock', 'a+')  # noqa: SIM115 (held for the whole sweep)
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            handle.seek(0)
            raise StoreError(f'{folder} is in use by process {handle.read().strip()}') from None
        with one_line('write', folder / '.lock'):
            handle.truncate(0)
            handle.write(str(os.getpid()))
            handle.flush()
        yield
