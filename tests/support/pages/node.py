"""Scripts of the page that need no page, run by Node where there is no browser."""

import json
import pathlib
import shutil
import subprocess
from typing import Any

_TIMEOUT = 60  # seconds


def find_executable() -> str | None:
    return shutil.which('node')


class Node:
    """Evaluates expressions, each in a process of its own, as Playwright's pages do."""

    def __init__(self, folder: pathlib.Path):
        self._script = folder / 'script.js'

    def evaluate(self, script: str) -> Any:
        """What an expression evaluates to, through JSON."""
        self._script.write_text(f'console.log(JSON.stringify({script}))')
        done = subprocess.run(
            [find_executable(), str(self._script)],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
        )
        if done.returncode:
            raise RuntimeError(f'{script}: {done.stderr}')
        return json.loads(done.stdout)
