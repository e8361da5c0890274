"""Waiting for what other processes do, and reading what they said."""

import re
import time


def text(path) -> str:
    return path.read_text() if path.exists() else ''


def until(found, seconds: float = 60):
    """What `found` returns once it is true."""
    limit = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < limit
        time.sleep(0.02)
    return value


def keeper(log) -> int | None:
    """The process that keeps the shard of a log, once its child runs."""
    said = text(log)
    return (
        int(re.search(r'kept by process (\d+)', said)[1]) if '\nstep' in said else None
    )
