"""Files that are whole or absent, and what they hold; errors are one line."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import time
import uuid
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from anchorjax.errors import (
    CorruptFileError,
    StoreError,
    UserError,
    brief,
    describe_cause,
)

# Name of a file that is being written: '.', 32 hex digits, '.', the final name.
_TEMPORARY = '.' + '[0-9a-f]' * 32 + '.'
_ROOM = 2**20  # bytes that a disk that is not full can take
_URL = re.compile('[a-z][a-z0-9+.-]*:/', re.IGNORECASE)  # pathlib makes // a /
_NO_NAME = re.compile('[\0\ud800-\udfff]')  # Python's stand-ins for bytes not in UTF-8


def absolute_path(given: str | os.PathLike[str], kind: str) -> pathlib.Path:
    """The path that a user means, whatever the current directory is later.

    It has no '..', which tensorstore refuses; '~' is the home directory.

    Args:
      kind: 'folder' or 'file', for the error.

    Raises:
      UserError: the text is '', a URL, or none that a file can be called.
    """
    text = os.fspath(given)
    if _URL.match(text):
        raise UserError(f'{text!r}: must be the path of a {kind}, not a URL')
    if not text or _NO_NAME.search(text):
        raise UserError(f'{text!r}: must be the path of a {kind}')
    text = os.path.expanduser(text)
    if text.startswith('~/'):  # of a user without a name and a HOME, as in a container
        raise UserError(f'{text!r}: this user has no home directory')
    path = pathlib.Path(text).absolute()
    if '..' in path.parts:
        path = pathlib.Path(os.path.realpath(path))  # '..' of where a link leads to
    return path


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


@contextlib.contextmanager
def open_by_number(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """A path of a folder that is free of its name, while the block lasts.

    Orbax takes a name for a pattern when it merges what its processes wrote: with [x]
    in the path it finds nothing to merge, with * what another sweep writes, and below
    /gs it looks for a bucket. Tensorstore and netCDF take a backslash for /.
    """
    number = os.open(folder, os.O_RDONLY)
    try:
        yield pathlib.Path(f'/proc/self/fd/{number}')
    finally:
        os.close(number)


def write_dataset(path: pathlib.Path, dataset: Any, **options: Any) -> None:
    """Writes a Dataset of xarray as netCDF; errors as `write_atomic`."""

    def write(temporary: pathlib.Path) -> None:
        if '\\' not in str(temporary.parent):
            return dataset.to_netcdf(temporary, **options)
        with open_by_number(temporary.parent) as nameless:
            dataset.to_netcdf(nameless / temporary.name, **options)

    write_atomic(path, write)


def write_text(path: pathlib.Path, text: str) -> None:
    """Writes a text file in UTF-8; errors as `write_atomic`."""
    write_atomic(path, lambda temporary: temporary.write_text(text, 'utf-8'))


def write_json(path: pathlib.Path, value: Any) -> None:
    """Writes a value as indented JSON; errors as `write_atomic`."""
    write_text(path, json.dumps(value, indent=2) + '\n')


def append_line(path: pathlib.Path, text: str) -> None:
    """Appends a line to a text file, new or not; StoreError if it cannot be written."""
    with report_in_one_line('write', path), open(path, 'a', encoding='utf-8') as f:
        f.write(f'{text}\n')


def read_json(path: pathlib.Path) -> Any:
    """The value in a JSON file.

    Raises:
      CorruptFileError: it is not JSON.
      StoreError: it cannot be read.
    """
    with report_in_one_line('read', path):
        data = path.read_bytes()
    return parse_json(data, str(path))


def parse_json(data: bytes | str, name: str) -> Any:
    """The value of a text of JSON.

    Args:
      name: what the text is, for the error.

    Raises:
      CorruptFileError: it is not JSON, or nested too deeply for Python.
    """
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as e:
        raise CorruptFileError(f'{name} is not JSON: {brief(str(e))}') from None


def write_arrays(path: pathlib.Path, arrays: dict[str, np.ndarray]) -> None:
    """Writes an uncompressed npz file; errors as `write_atomic`."""

    def write(temporary: pathlib.Path) -> None:
        with open(temporary, 'wb') as f:
            np.savez(f, allow_pickle=False, **arrays)

    write_atomic(path, write)


def read_arrays(path: pathlib.Path) -> dict[str, np.ndarray]:
    """The arrays of a file that `write_arrays` wrote.

    Raises:
      CorruptFileError: it is no whole archive, or a checksum in it differs.
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
        raise CorruptFileError(
            f'{path} is damaged ({brief(str(e))}); delete it to regenerate it'
        ) from e
    except Exception as e:  # NumPy raises many kinds
        raise StoreError(f'cannot read {path}: {describe_cause(e)}') from e


def remove_leftovers(
    folder: pathlib.Path, name: str = '*', min_age: float = 0.0
) -> None:
    """Removes the temporary files of killed processes.

    Args:
      name: pattern of their final names.
      min_age: seconds since a file was last written; younger ones stay. Only the
        process that holds the lock on the files may leave it at 0.
    """
    of_orbax = folder.glob('*.orbax-checkpoint-tmp*')
    for path in [*folder.glob(_TEMPORARY + name), *of_orbax]:
        with contextlib.suppress(FileNotFoundError):  # its writer still lives
            if not min_age or time.time() - path.stat().st_mtime >= min_age:
                remove(path)


def remove(path: pathlib.Path) -> None:
    """Removes a file, or a folder with everything in it, if it is there."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _require_room(path: pathlib.Path) -> None:
    """Raises OSError if a file cannot grow: many writers do not tell of a full disk."""
    with open(path, 'ab') as f:
        f.write(bytes(_ROOM))
