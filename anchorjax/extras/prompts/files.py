"""A folder of prompts, and the replies of every model to them.

  prompts.jsonl          a line per prompt: id, prompt, answers under every mapping
  replies/<model>.jsonl  a line per reply: id, reply; the first line may hold the
                         settings they were asked with, {"settings": {...}}

A reply is on the disk before the next prompt is asked. Replies from elsewhere need no
settings.
"""

import contextlib
import fcntl
import json
import os
import pathlib
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from anchorjax import files
from anchorjax.config.consistency import check_name
from anchorjax.errors import ConfigError, StoreError, StoreUnavailable, UserError, brief
from anchorjax.extras.prompts.questions import Prompt

PROMPTS_FILE = 'prompts.jsonl'
REPLIES_FOLDER = 'replies'


def write_prompts(folder: pathlib.Path, prompts: list[Prompt]) -> None:
    """Writes the prompts; the same prompts again change nothing.

    Raises:
      StoreError: the folder holds other prompts, or cannot be written.
    """
    path = folder / PROMPTS_FILE
    text = ''.join(json.dumps(prompt._asdict()) + '\n' for prompt in prompts)
    if path.exists() and path.read_bytes() != text.encode():
        raise StoreError(f'{path}: holds other prompts; give another --out')
    files.write_text(path, text)


def read_prompts(folder: pathlib.Path) -> list[Prompt]:
    """The prompts in a folder; StoreError if there are none, or they are damaged."""
    path = folder / PROMPTS_FILE
    if not path.exists():
        raise StoreError(f'{folder}: holds no prompts (no {PROMPTS_FILE})')
    prompts = []
    for where, row in _read_rows(path):
        try:
            prompts.append(Prompt(**row)._replace(asked=tuple(row['asked'])))
        except (TypeError, KeyError) as e:
            raise StoreError(f'{where}: no prompt ({brief(str(e))})') from None
    return prompts


def reply_path(folder: pathlib.Path, name: str) -> pathlib.Path:
    """Where the replies of a model are kept; UserError if no file can be named so."""
    try:
        check_name(name)
    except ConfigError as e:
        raise UserError(f'--{e}') from None
    return folder / REPLIES_FOLDER / f'{name}.jsonl'


class Replies(NamedTuple):
    """What a file of replies holds."""

    reply_of: dict[str, str]  # by the id of the prompt
    settings: dict[str, Any] | None = None


def read_replies(path: pathlib.Path) -> Replies:
    """The replies in a file; StoreError if it is damaged or has two to one prompt."""
    replies = Replies({})
    for where, row in _read_rows(path):
        if not replies.reply_of and set(row) == {'settings'}:
            replies = Replies({}, row['settings'])
            continue
        id, reply = row.get('id'), row.get('reply')
        if not isinstance(id, str) or not isinstance(reply, str):
            raise StoreError(f'{where}: must have the texts "id" and "reply"')
        if id in replies.reply_of:
            raise StoreError(f'{where}: a second reply to {brief(id)}')
        replies.reply_of[id] = reply
    return replies


@contextlib.contextmanager
def open_replies(
    path: pathlib.Path, settings: dict[str, Any]
) -> Iterator[tuple[dict[str, str], BinaryIO]]:
    """({id: reply} so far, the file to add more to), for this process alone.

    Raises:
      StoreError: the file is damaged, or was asked with other settings; it stays as
        it is.
      StoreUnavailable: another process is asking.
    """
    with files.report_in_one_line('write', path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path, 'ab')  # noqa: SIM115
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreUnavailable(f'{path}: another process is asking') from None
        found = read_replies(path)
        if found.reply_of:
            _require_settings(path, found.settings, settings)
            _end_last_line(path, file)
        else:  # settings without a reply may have been a mistake
            file.truncate(0)
            append_row(file, {'settings': settings})
        yield found.reply_of, file


def append_row(file: BinaryIO, row: dict[str, Any]) -> None:
    """Adds a line: it is on the disk when this returns."""
    file.write(json.dumps(row).encode() + b'\n')
    file.flush()
    os.fsync(file.fileno())


def _read_rows(path: pathlib.Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """(path and line number, the object there) of a file.

    A last line without an end that is no JSON is what a killed process left; it does
    not count.
    """
    with files.report_in_one_line('read', path):
        *lines, rest = path.read_bytes().split(b'\n')
    if _parse(rest) is not None:
        lines.append(rest)
    for number, line in enumerate(lines, 1):
        where = f'{path}, line {number}'
        row = _parse(line)
        if not isinstance(row, dict):
            raise StoreError(f'{where}: must be a JSON object')
        yield where, row


def _parse(line: bytes) -> Any:
    """The value of a line of JSON; None if it is not JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _end_last_line(path: pathlib.Path, file: BinaryIO) -> None:
    """Cuts off half a line that a killed process left, or ends a whole one."""
    data = path.read_bytes()
    rest = data.rpartition(b'\n')[2]
    if _parse(rest) is not None:
        file.write(b'\n')
    else:
        file.truncate(len(data) - len(rest))


def _require_settings(path: pathlib.Path, found: Any, settings: dict[str, Any]) -> None:
    """Raises StoreError unless the replies of a file were asked with these settings."""
    if not isinstance(found, dict):
        raise StoreError(f'{path}: holds replies without settings')
    for name in sorted({*found, *settings}):
        before, now = found.get(name), settings.get(name)
        if before != now:
            reason = brief(f'{name} = {before!r}, now {now!r}')
            raise StoreError(f'{path}: asked with other settings: {reason}')
