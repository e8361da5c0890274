"""Files that are whole or absent, and what they hold; errors are one line."""

import contextlib
import errno
import fnmatch
import json
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

from anchorjax.errors import Damaged, StoreError, brief, describe_cause

# Name of a file that is being written: '.', 32 hex digits, '.', the final name.
_TEMPORARY = '.' + '[0-9a-f]' * 32 + '.'
_ROOM = 2**20  # bytes that a disk that is not full can take


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
            except Exception:  # such as the AttributeError of a PDF on a full disk
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
      StoreError: the file is missing, cannot be read, or is not JSON.
    """
    with report_in_one_line('read', path):
        data = path.read_bytes()
    return parse_json(data, str(path))


def parse_json(data: bytes | str, name: str) -> Any:
    """The value of a text of JSON.

    Args:
      name: what the text is, for the error.

    Raises:
      StoreError: it is not JSON, or nested too deeply for Python.
    """
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as e:
        raise StoreError(f'{name} is not JSON: {brief(str(e))}') from None


def write_arrays(path: pathlib.Path, arrays: dict[str, np.ndarray]) -> None:
    """Writes an uncompressed npz file; errors as `write_atomic`."""

    def write(temporary: pathlib.Path) -> None:
        with open(temporary, 'wb') as f:
            np.savez(f, **arrays)

    write_atomic(path, write)


def read_arrays(path: pathlib.Path) -> dict[str, np.ndarray]:
    """The arrays of a file that `write_arrays` wrote.

    Raises:
      Damaged: it is no whole archive, or a checksum in it differs.
      StoreError: it cannot be read; the line has the cause.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            broken = archive.testzip()
        if broken is not None:
            raise zipfile.BadZipFile(f'checksum of {broken} differs')
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except zipfile.BadZipFile as e:
        raise Damaged(
            f'{path} is damaged ({brief(str(e))}); delete it to regenerate it'
        ) from e
    except Exception as e:  # NumPy raises many kinds
        raise StoreError(f'cannot read {path}: {describe_cause(e)}') from e


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
    """Raises OSError if a file cannot grow: many writers do not tell of a full disk."""
    with open(path, 'ab') as f:
        f.write(bytes(_ROOM))


def _is_younger(path: pathlib.Path, seconds: float) -> bool:
    """Whether a file was written in the last seconds; False if it is gone."""
    try:
        return time.time() - path.lstat().st_mtime < seconds
    except FileNotFoundError:
        return False


def find_cache() -> pathlib.Path:
    """The folder for what is kept only to save time."""
    home = os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache'
    return pathlib.Path(home) / 'anchorjax'
