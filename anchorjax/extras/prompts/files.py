"""A folder of prompts, and the replies of every model to them.

  prompts.jsonl          a line per prompt: id, prompt, answers under every mapping
  replies/<model>.jsonl  a line per reply: id, reply; the first line may hold the
                         settings they were asked with, {"settings": {...}}

A reply is on the disk before the next prompt is asked. Replies from elsewhere need no
settings.
"""

import json
import pathlib
from typing import Any

from anchorjax import files
from anchorjax.config.consistency import check_name
from anchorjax.errors import ConfigError, StoreError, UserError, brief
from anchorjax.extras.prompts.questions import Prompt

PROMPTS_FILE = 'prompts.jsonl'
REPLIES_FOLDER = 'replies'
Row = dict[str, Any]


def write_prompts(folder: pathlib.Path, prompts: list[Prompt]) -> None:
    """Writes the prompts; StoreError if the folder holds others, or is not writable."""
    path = folder / PROMPTS_FILE
    if path.exists() and read_prompts(folder) != prompts:
        raise StoreError(f'{path}: holds other prompts; give another --out')
    write_rows(path, [prompt._asdict() for prompt in prompts])


def read_prompts(folder: pathlib.Path) -> list[Prompt]:
    """The prompts in a folder; StoreError if there are none, or they are damaged."""
    path = folder / PROMPTS_FILE
    if not path.exists():
        raise StoreError(f'{folder}: holds no prompts (no {PROMPTS_FILE})')
    prompts = []
    for number, row in enumerate(read_rows(path), 1):
        try:
            prompts.append(Prompt(**row)._replace(asked=tuple(row['asked'])))
        except (TypeError, KeyError) as e:
            reason = brief(str(e))
            raise StoreError(f'{path}, line {number}: no prompt ({reason})') from None
    return prompts


def reply_path(folder: pathlib.Path, name: str) -> pathlib.Path:
    """Where the replies of a model are kept; UserError if no file can be named so."""
    try:
        check_name(name)
    except ConfigError as e:
        raise UserError(f'--{e}') from None
    return folder / REPLIES_FOLDER / f'{name}.jsonl'


def read_replies(path: pathlib.Path) -> dict[str, str]:
    """The replies by prompt id; StoreError if damaged, or two are to one prompt."""
    reply_of: dict[str, str] = {}
    for number, row in enumerate(read_rows(path), 1):
        if number == 1 and set(row) == {'settings'}:
            continue
        where = f'{path}, line {number}'
        id, reply = row.get('id'), row.get('reply')
        if not isinstance(id, str) or not isinstance(reply, str):
            raise StoreError(f'{where}: must have the texts "id" and "reply"')
        if id in reply_of:
            raise StoreError(f'{where}: a second reply to {brief(id)}')
        reply_of[id] = reply
    return reply_of


def resume_rows(path: pathlib.Path, settings: dict[str, Any]) -> list[Row]:
    """The rows of a file of replies so far; of a new one, a row with the settings.

    Raises:
      StoreError: the file is damaged, or was asked with other settings.
    """
    if not path.exists() or not read_replies(path):
        return [{'settings': settings}]
    rows = read_rows(path)
    found = rows[0].get('settings')
    if not isinstance(found, dict):
        raise StoreError(f'{path}: holds replies without settings')
    for name in sorted({*found, *settings}):
        before, now = found.get(name), settings.get(name)
        if before != now:
            reason = brief(f'{name} = {before!r}, now {now!r}')
            raise StoreError(f'{path}: asked with other settings: {reason}')
    return rows


def write_rows(path: pathlib.Path, rows: list[Row]) -> None:
    """Writes a line of JSON for every row; errors as `files.write_atomic`."""
    files.write_text(path, ''.join(json.dumps(row) + '\n' for row in rows))


def read_rows(path: pathlib.Path) -> list[Row]:
    """The objects in the lines of a file; StoreError names a line that is none."""
    with files.report_in_one_line('read', path):
        lines = path.read_bytes().splitlines()
    rows = []
    for number, line in enumerate(lines, 1):
        where = f'{path}, line {number}'
        row = files.parse_json(line, where)
        if not isinstance(row, dict):
            raise StoreError(f'{where}: must be a JSON object')
        rows.append(row)
    return rows
