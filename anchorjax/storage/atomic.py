"""Files that are whole or absent: atomic writes, digests, and errors in one line."""

import contextlib
import errno
import fnmatch
import json
import math
import os
import pathlib
import shutil
import stat
import uuid
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from anchorjax.errors import StoreError

_TEMPORARY = f'.{"[0-9a-f]" * 32}.'  # and the name of the file: see write_atomic
_LEVELS = (
    50  # of lists in lists in JSON that is ours; Python's own functions fail at 1,000
)


@contextlib.contextmanager
def report_in_one_line(action: str, path: pathlib.Path) -> Iterator[None]:
    """Turns what the system (or netCDF, by a RuntimeError) says of a file into a StoreError."""
    try:
        yield
    except (OSError, RuntimeError) as e:
        raise StoreError(
            f'cannot {action} {path}: {getattr(e, "strerror", None) or e}'
        ) from e


def write_atomic(path: pathlib.Path, write: Callable[[pathlib.Path], None]) -> None:
    """Calls write(temporary path), then renames: a reader sees the old file or the new one."""
    temporary = path.with_name(
        f'.{uuid.uuid4().hex}.{path.name}'
    )  # other hosts, same folder
    try:
        with report_in_one_line('write', path):
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
    """Raises StoreError when the file is missing, is not JSON or is nested without end."""
    with report_in_one_line('read', path):
        data = require_regular(path).read_bytes()
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as e:
        raise StoreError(f'{path} is damaged: {e}') from None
    if _deeper(value, _LEVELS):
        raise StoreError(f'{path} is damaged: nested deeper than {_LEVELS} levels')
    return value


def require_regular(path: pathlib.Path) -> pathlib.Path:
    """The path, to read from; raises OSError when it is a pipe or device, which may never end."""
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError(errno.EINVAL, 'not a regular file')
    return path


def _deeper(value: Any, levels: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value
    nested = isinstance(value, dict | list)
    return nested and (levels == 0 or any(_deeper(x, levels - 1) for x in inner))


def write_arrays(path: pathlib.Path, arrays: dict[str, np.ndarray]) -> None:
    def write(temporary: pathlib.Path) -> None:
        with open(temporary, 'wb') as f:
            np.savez(f, **arrays)

    write_atomic(path, write)


def read_arrays(path: pathlib.Path) -> dict[str, np.ndarray]:
    """The arrays of an npz, checked by its own CRCs; never a pickle, never more than its size."""
    try:
        with (
            report_in_one_line('read', path),
            zipfile.ZipFile(require_regular(path)) as f,
        ):
            return {i.filename.removesuffix('.npy'): _array(f, i) for i in f.infolist()}
    except StoreError:
        raise
    except Exception as e:
        raise StoreError(
            f'{path} is damaged ({e}); delete it to make it anew'
        ) from None


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    """One array, as np.savez wrote it; raises ValueError before any memory is taken."""
    if info.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f'{info.filename} is compressed')
    with archive.open(info) as f:
        shape, dtype = _header(f)
        claimed = f.tell() + math.prod(shape) * dtype.itemsize
    if dtype.hasobject or min(shape, default=0) < 0 or claimed != info.file_size:
        raise ValueError(f'{info.filename} is not an array of {shape} {dtype}')
    with archive.open(info) as f:
        return np.lib.format.read_array(f, allow_pickle=False)


def _header(f) -> tuple[tuple[int, ...], np.dtype]:
    version = np.lib.format.read_magic(f)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(f)
    else:
        shape, _, dtype = np.lib.format.read_array_header_2_0(f)
    return shape, dtype


def require_inside(root: pathlib.Path, path: pathlib.Path) -> pathlib.Path:
    """The path, to write to; raises StoreError when a link in it leads out of `root`."""
    if not path.resolve().is_relative_to(root.resolve()):
        raise StoreError(
            f'{path} leads out of {root}, to {path.resolve()}: not written'
        )
    return path


def remove_leftovers(folder: pathlib.Path, name: str = '*') -> None:
    """Removes what a process that was killed left half-written; only for who holds the lock."""
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if '.orbax-checkpoint-tmp' in path.name or fnmatch.fnmatch(
            path.name, _TEMPORARY + name
        ):
            remove(path)


def remove(path: pathlib.Path) -> None:
    """Removes a file or a folder with all it holds; of a link, the link."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
