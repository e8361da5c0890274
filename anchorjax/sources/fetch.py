"""Brings one public file into a folder: from a local one, or over the network."""

import hashlib
import http.client
import os
import pathlib
import urllib.error
import urllib.request
from collections.abc import Callable

from anchorjax.errors import TemporaryError, UserError, brief
from anchorjax.sources.catalog import ALIASES, PublicFile
from anchorjax.storage import atomic
from anchorjax.tasks.text_files import read_bytes

_BLOCK = 2**16  # bytes read at a time
_TIMEOUT = 30  # seconds without any byte
_BUSY = (http.HTTPStatus.REQUEST_TIMEOUT, http.HTTPStatus.TOO_MANY_REQUESTS)
_LARGEST = 2**31  # bytes; a server may send anything

# report(bytes so far, bytes in all or 0)
Report = Callable[[int, int], None]


def is_whole(path: pathlib.Path, file: PublicFile) -> bool:
    """Whether the file is there, with the digest that it must have, if one is known."""
    if not path.is_file():
        return False
    if not file.sha256:
        return True
    return digest(path.read_bytes()) == file.sha256


def copy_local(folder: pathlib.Path, out: pathlib.Path, file: PublicFile) -> None:
    """Copies a file from a local folder or path, unpacked if it is gzipped.

    Raises:
      UserError: it is not there, is truncated, or is another file.
    """
    path = _find_local(folder, file)
    data = read_bytes(path)
    _require_same(data, file, str(path))
    _write(out / file.name, data)


def download(out: pathlib.Path, file: PublicFile, report: Report) -> None:
    """Downloads a file; what an interrupted download left is continued.

    Raises:
      UserError: there is no such file, it is another one, or it cannot be written.
      TemporaryError: there is no answer, or it ends early; the next call continues.
    """
    part = out / f'{file.name}.part'
    try:
        _download_rest(file, part, report)
    except (OSError, http.client.HTTPException) as e:
        reason = brief(str(getattr(e, 'reason', e)) or type(e).__name__)
        line = f'{file.address}: {reason}; a local copy can be --source FOLDER'
        raise (TemporaryError if _may_pass(e) else UserError)(line) from None
    data = part.read_bytes()
    if len(data) < file.size:
        raise TemporaryError(
            f'{file.address}: ended after {len(data):,} of {file.size:,} bytes; the '
            'next call continues'
        )
    try:
        _require_same(data, file, file.address)
    except UserError:
        part.unlink()  # it can only be downloaded anew
        raise
    os.replace(part, out / file.name)


def is_temporary_status(status: int) -> bool:
    """Whether a server that answers with this status may answer otherwise later."""
    return status >= 500 or status in _BUSY


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _may_pass(error: Exception) -> bool:
    """Whether a download that failed may work the next time."""
    if isinstance(error, urllib.error.HTTPError):
        return is_temporary_status(error.code)
    # Any other OSError is of the local disk.
    of_network = (urllib.error.URLError, http.client.HTTPException)
    return isinstance(error, (*of_network, ConnectionError, TimeoutError))


def _find_local(folder: pathlib.Path, file: PublicFile) -> pathlib.Path:
    """The path of a file in a folder, gzipped or not, or the path itself."""
    if folder.is_file():
        return folder
    names = []
    for name in (file.name, *ALIASES.get(file.name, ())):
        names += [name, f'{name}.gz']
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise UserError(f'{folder / file.name}: no such file; looked for {names}')


def _download_rest(file: PublicFile, part: pathlib.Path, report: Report) -> None:
    """Appends to `part` what it does not have yet."""
    done = part.stat().st_size if part.exists() else 0
    if file.size and done >= file.size:
        return
    request = urllib.request.Request(file.address)
    if done:
        request.add_header('Range', f'bytes={done}-')
    with urllib.request.urlopen(request, timeout=_TIMEOUT) as response:
        is_continued = response.status == http.HTTPStatus.PARTIAL_CONTENT
        mode = 'ab' if is_continued else 'wb'
        done = done if is_continued else 0
        with open(part, mode) as f:
            while block := response.read(_BLOCK):
                f.write(block)
                done += len(block)
                if done > _LARGEST:
                    raise OSError(f'more than {_LARGEST:,} bytes')
                report(done, file.size)


def _require_same(data: bytes, file: PublicFile, where: str) -> None:
    """Raises UserError unless the content is that of the file."""
    if not file.sha256 or digest(data) == file.sha256:
        return
    if len(data) < file.size:
        state = f'truncated, {len(data):,} of {file.size:,} bytes'
    else:
        state = f'another file than {file.name}: its sha256 differs'
    raise UserError(f'{where}: {state}')


def _write(path: pathlib.Path, data: bytes) -> None:
    def write(temporary: pathlib.Path) -> None:
        temporary.write_bytes(data)

    atomic.write_atomic(path, write)
