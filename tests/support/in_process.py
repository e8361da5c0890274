"""A command line run in the test's own process, which has imported JAX already."""

import importlib.util
import pathlib
import sys
from typing import NamedTuple

import pytest

from anchorjax import cli

LAUNCH = pathlib.Path(__file__).parents[2] / 'launch'


class Said(NamedTuple):
    """How a command ended: its exit code, standard output and standard error."""

    code: int
    out: str
    errors: str

    def require_refused(self, line: str) -> None:
        """Fails unless the input was called bad, in one line with this part."""
        assert (self.code, self.errors.count('\n')) == (2, 1), self.errors
        assert line in self.errors, self.errors


def run(
    script: str,
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Said:
    """How `python launch/SCRIPT words` from the root of the repository would end."""
    # Python looks for a script's imports in the script's own folder first.
    monkeypatch.syspath_prepend(LAUNCH)
    monkeypatch.chdir(LAUNCH.parent)
    monkeypatch.setattr(sys, 'argv', [script, *words])
    name = f'launch_{pathlib.Path(script).stem}'
    spec = importlib.util.spec_from_file_location(name, LAUNCH / script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    capsys.readouterr()  # what was printed before is not the command's
    code = 0
    try:
        cli.run_command(module.command)
    except SystemExit as e:
        code = e.code
    return Said(code, *capsys.readouterr())
