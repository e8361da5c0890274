"""Reading JSON from anywhere, and the folder of what can be made again."""

import json
import os
import pathlib
from typing import Any

from anchorjax.errors import StoreError, brief


def read_json(path: pathlib.Path) -> Any:
    """The value in a JSON file.

    Raises:
      StoreError: the file is missing, cannot be read, or is not JSON.
    """
    try:
        data = path.read_bytes()
    except OSError as e:
        raise StoreError(f'cannot read {path}: {e.strerror or e}') from e
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


def find_cache() -> pathlib.Path:
    """The folder for what is kept only to save time."""
    home = os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache'
    return pathlib.Path(home) / 'anchorjax'
