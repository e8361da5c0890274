"""Files that are whole or absent: atomic writes, digests, and errors in one line."""

import contextlib
import hashlib
import json
import os
import pathlib
import uuid
from collections.abc import Callable, Iterator
from typing import Any

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
    temporary = path.with_name(f'.{uuid.uuid4().hex}.{path.name}')  # other hosts, same folder
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


def digest(array: np.ndarray) -> str:
    """The first 128 bits of the SHA-256 of an array's bytes."""
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:32]


def inside(root: pathlib.Path, path: pathlib.Path) -> pathlib.Path:
    """The path, to write to; raises StoreError when a link in it leads out of `root`."""
    if not path.resolve().is_relative_to(root.resolve()):
        raise StoreError(f'{path} leads out of {root}, to {path.resolve()}: not written')
    return path
