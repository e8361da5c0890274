"""Files that are whole or absent: atomic writes, and errors in one line."""

import contextlib
import errno
import fnmatch
import json
import math
import os
import pathlib
import shutil
import stat
import time
import uuid
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from anchorjax.errors import StoreError

# Name of a file that is being written: '.', 32 hex digits, '.', the final name.
_TEMPORARY = '.' + '[0-9a-f]' * 32 + '.'
_ROOM = 2**20  # bytes that a disk that is not full can take
_DEEPEST_JSON = 50  # levels of nesting; recursive functions fail near 1,000


@contextlib.contextmanager
def report_in_one_line(action: str, path: pathlib.Path) -> Iterator[None]:
    """Turns an OSError, or a RuntimeError of netCDF, into 'cannot ACTION PATH: ...'.

    Raises:
      StoreError: the block raised one of these.
    """
    try:
        yield
    except (OSError, RuntimeError) as e:
        reason = getattr(e, 'strerror', None) or e
        raise StoreError(f'cannot {action} {path}: {reason}') from e


def write_atomic(path: pathlib.Path, write: Callable[[pathlib.Path], Any]) -> None:
    """Calls write(temporary path), then renames: readers see the old file or the new.

    Raises:
      StoreError: the file cannot be written; the old one is still there.
    """
    # A random name: jobs on other hosts write into the same folder.
    temporary = path.with_name(f'.{uuid.uuid4().hex}.{path.name}')
    try:
        with report_in_one_line('write', path):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                write(temporary)
            except (OSError, RuntimeError):
                _require_room(temporary)
                raise
            with open(temporary, 'rb') as f:
                os.fsync(f.fileno())
            os.replace(temporary, path)
    finally:
        # Where nothing can be removed either, the first error is the one to report.
        with contextlib.suppress(OSError):
            temporary.unlink()


def write_text(path: pathlib.Path, text: str) -> None:
    """Writes a text file in UTF-8; errors as `write_atomic`."""

    def write(temporary: pathlib.Path) -> None:
        temporary.write_text(text, encoding='utf-8')

    write_atomic(path, write)


def write_json(path: pathlib.Path, value: Any) -> None:
    """Writes a value as indented JSON; errors as `write_atomic`."""
    write_text(path, json.dumps(value, indent=2) + '\n')


def read_json(path: pathlib.Path) -> Any:
    """The value in a JSON file.

    Raises:
      StoreError: the file is missing, is not JSON, or is nested too deeply.
    """
    with report_in_one_line('read', path):
        data = require_regular(path).read_bytes()
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as e:
        raise StoreError(f'{path} is damaged: {e}') from None
    if _is_deeper(value, _DEEPEST_JSON):
        raise StoreError(
            f'{path} is damaged: nested deeper than {_DEEPEST_JSON} levels'
        )
    return value


def write_arrays(path: pathlib.Path, arrays: dict[str, np.ndarray]) -> None:
    """Writes an uncompressed npz file; errors as `write_atomic`."""

    def write(temporary: pathlib.Path) -> None:
        with open(temporary, 'wb') as f:
            np.savez(f, **arrays)

    write_atomic(path, write)


def read_arrays(path: pathlib.Path) -> dict[str, np.ndarray]:
    """The arrays of a file that `write_arrays` wrote; its CRCs are checked.

    Raises:
      StoreError: the file is missing or damaged, or holds something else.
    """
    try:
        with report_in_one_line('read', path):
            require_regular(path)
            _require_stored(path)
            with np.load(path, allow_pickle=False) as archive:
                return {name: archive[name] for name in archive.files}
    except StoreError:
        raise
    except Exception as e:  # zipfile and NumPy raise many kinds
        raise StoreError(
            f'{path} is damaged ({e}); delete it to regenerate it'
        ) from None


def require_regular(path: pathlib.Path) -> pathlib.Path:
    """The path; OSError if it is a pipe or device, of which a read may never end."""
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError(errno.EINVAL, 'not a regular file')
    return path


def require_inside(root: pathlib.Path, path: pathlib.Path) -> pathlib.Path:
    """The path, if it is in `root`; StoreError if a symbolic link leads out of it."""
    target = path.resolve()
    if not target.is_relative_to(root.resolve()):
        raise StoreError(f'{path} leads out of {root}, to {target}: not written')
    return path


def remove_leftovers(
    folder: pathlib.Path, name: str = '*', min_age: float = 0.0
) -> None:
    """Removes the temporary files of killed processes.

    Args:
      name: pattern of their final names.
      min_age: seconds since a file was last written; younger ones stay. Only the
        process that holds the lock on the files may leave it at 0.
    """
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        is_ours = fnmatch.fnmatch(path.name, _TEMPORARY + name)
        is_ours = is_ours or '.orbax-checkpoint-tmp' in path.name
        # Without a least age, clocks that differ must not matter.
        if is_ours and not (min_age and _is_younger(path, min_age)):
            remove(path)


def remove(path: pathlib.Path) -> None:
    """Removes a file, a folder with everything in it, or a link but not its target."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _require_room(path: pathlib.Path) -> None:
    """Raises OSError if a file cannot grow: netCDF does not tell of a full disk."""
    with open(path, 'ab') as f:
        f.write(bytes(_ROOM))


def _is_younger(path: pathlib.Path, seconds: float) -> bool:
    """Whether a file was written in the last seconds; False if it is gone."""
    try:
        return time.time() - path.lstat().st_mtime < seconds
    except FileNotFoundError:
        return False


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether lists and dicts are nested in the value more than `levels` deep."""
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        return False
    return levels == 0 or any(_is_deeper(inner, levels - 1) for inner in value)


def _require_stored(path: pathlib.Path) -> None:
    """Raises ValueError if an array is compressed or claims a wrong size.

    NumPy would allocate the memory before it notices.
    """
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            if entry.compress_type != zipfile.ZIP_STORED:
                raise ValueError(f'{entry.filename} is compressed')
            with archive.open(entry) as f:
                claimed = _claimed_bytes(f)
            if claimed != entry.file_size:
                raise ValueError(f'{entry.filename} has the wrong size')


def _claimed_bytes(f: Any) -> int:
    """The size of a .npy file according to its header."""
    version = np.lib.format.read_magic(f)
    if version == (1, 0):
        header = np.lib.format.read_array_header_1_0(f)
    else:
        header = np.lib.format.read_array_header_2_0(f)
    shape, _, dtype = header
    if dtype.hasobject or min(shape, default=0) < 0:
        raise ValueError(f'not a plain array: shape {shape}, dtype {dtype}')
    return f.tell() + math.prod(shape) * dtype.itemsize
