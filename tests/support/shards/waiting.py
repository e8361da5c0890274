"""Waiting for other processes, and reading their logs."""

import pathlib
import re
import time
from collections.abc import Callable
from typing import Any


def read_text(path: pathlib.Path) -> str:
    """The text of a file; '' if there is none."""
    return path.read_text() if path.exists() else ''


def wait_until(look: Callable[[], Any], seconds: float = 60) -> Any:
    """Calls `look` until it returns something true, and returns that."""
    limit = time.monotonic() + seconds
    while True:
        value = look()
        if value:
            return value
        assert time.monotonic() < limit, f'nothing after {seconds:.0f} s'
        time.sleep(0.02)


def find_number(pattern: str, log: pathlib.Path) -> int | None:
    """The number in the first match of a pattern in a log, if there is one."""
    match = re.search(pattern, read_text(log))
    return int(match[1]) if match else None
