"""The replies of a model: a line each, kept as soon as it arrives.

The first line may hold the settings they were asked with, {"settings": {...}}; every
other one has an id and a reply. A reply from elsewhere needs no settings.
"""

import contextlib
import fcntl
import json
import os
import pathlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from anchorjax.errors import StoreError, StoreUnavailable, brief
from anchorjax.storage.atomic import report_in_one_line


class ReplyFile:
    """The replies that are there, and a place for more; from `open_replies`."""

    def __init__(self, handle: int, replies: dict[str, str]):
        self._handle = handle
        self.replies = replies  # by id

    def add(self, id: str, reply: str, **details: Any) -> None:
        """Keeps a reply: it is on the disk when this returns."""
        _append(self._handle, {'id': id, 'reply': reply, **details})
        self.replies[id] = reply


@contextlib.contextmanager
def open_replies(path: pathlib.Path, settings: dict[str, Any]) -> Iterator[ReplyFile]:
    """Opens a file of replies to continue it; no other process may at the same time.

    A line that a killed process left unfinished is removed: its question is asked
    again. A file that is refused stays as it is.

    Args:
      settings: plain JSON, kept in the first line.

    Raises:
      StoreError: it is damaged, or was asked with other settings.
      StoreUnavailable: it is in use.
    """
    with _open_alone(path) as handle:
        content = _read(path)
        if content.replies:
            _require_settings(path, content.settings, settings)
            os.ftruncate(handle, content.end)
            if content.lacks_newline:
                _write(handle, b'\n')
        else:  # settings that gave no reply may have been a mistake
            os.ftruncate(handle, 0)
            _append(handle, {'settings': settings})
        yield ReplyFile(handle, content.replies)


def read_replies(path: pathlib.Path) -> dict[str, str]:
    """{id: reply} of a file.

    Raises:
      StoreError: it is missing or damaged, or has two replies to a prompt.
    """
    return _read(path).replies


@contextlib.contextmanager
def _open_alone(path: pathlib.Path) -> Iterator[int]:
    """Opens a file to append to it, and locks it against other processes."""
    with report_in_one_line('write', path):
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        handle = os.open(path, flags, 0o666)
    try:
        _lock(handle, path)
        yield handle
    finally:
        os.close(handle)


def _lock(handle: int, path: pathlib.Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StoreUnavailable(f'{path}: another process is asking') from None


class _Content(NamedTuple):
    """What a file of replies holds."""

    replies: dict[str, str]  # by id
    settings: Any  # None: there are none
    end: int  # bytes up to the end of the last whole line
    lacks_newline: bool  # whether that line does


def _read(path: pathlib.Path) -> _Content:
    with report_in_one_line('read', path):
        data = path.read_bytes()
    *lines, rest = data.split(b'\n')
    # A last line without its end: another program may leave that out, and a process
    # that was killed leaves a part of an object, which is no JSON.
    lacks_newline = _is_json(rest)
    if lacks_newline:
        lines.append(rest)
        rest = b''
    replies: dict[str, str] = {}
    settings = None
    for number, line in enumerate(lines, 1):
        where = f'{path}, line {number}'
        row = _parse(line, where)
        if number == 1 and set(row) == {'settings'}:
            settings = row['settings']
        else:
            _add_reply(replies, row, where)
    return _Content(replies, settings, len(data) - len(rest), lacks_newline)


def _add_reply(replies: dict[str, str], row: dict[str, Any], where: str) -> None:
    """Adds the reply of a line; StoreError if it has none, or a second one."""
    id = row.get('id')
    reply = row.get('reply')
    if not isinstance(id, str) or not isinstance(reply, str):
        raise StoreError(f'{where}: must have the texts "id" and "reply"')
    if id in replies:
        raise StoreError(f'{where}: a second reply to {brief(id)}')
    replies[id] = reply


def _parse(line: bytes, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as e:
        raise StoreError(f'{where}: no JSON ({brief(str(e))})') from None
    if not isinstance(row, dict):
        raise StoreError(f'{where}: must be an object with "id" and "reply"')
    return row


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _require_settings(path: pathlib.Path, found: Any, settings: dict[str, Any]) -> None:
    """Raises StoreError unless the replies of a file were asked with these settings."""
    if found is None:
        raise StoreError(f'{path}: holds replies without settings')
    if found != settings:
        field = _find_difference(found, settings)
        raise StoreError(f'{path}: asked with other settings: {field}')


def _append(handle: int, row: dict[str, Any]) -> None:
    _write(handle, json.dumps(row).encode() + b'\n')


def _write(handle: int, data: bytes) -> None:
    """Adds the data to the file: it is on the disk when this returns."""
    while data:
        num_written = os.write(handle, data)
        data = data[num_written:]
    os.fsync(handle)


def _find_difference(found: Any, settings: dict[str, Any]) -> str:
    """'temperature = 1, now 0', of the first field that differs."""
    if not isinstance(found, dict):
        return 'no settings'
    for name in sorted({*found, *settings}):
        before = found.get(name)
        now = settings.get(name)
        if before != now:
            return brief(f'{name} = {before!r}, now {now!r}')
    return ''
