"""A command line run in the test's own process, which has imported JAX already."""

import importlib.util
import pathlib
import sys
from typing import NamedTuple

from anchorjax import cli

LAUNCH = pathlib.Path(__file__).parents[2] / 'launch'


class Said(NamedTuple):
    code: int
    out: str
    errors: str


def run(script: str, words: list[str], monkeypatch, capsys) -> Said:
    """What `python launch/SCRIPT words` from the repository's root would print and end with."""
    monkeypatch.syspath_prepend(
        LAUNCH
    )  # where Python looks first for a script's imports
    monkeypatch.chdir(LAUNCH.parent)
    monkeypatch.setattr(sys, 'argv', [script, *words])
    spec = importlib.util.spec_from_file_location(
        f'launch_{script[:-3]}', LAUNCH / script
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    code = 0
    try:
        cli.run_command(module.command)
    except SystemExit as e:
        code = e.code
    return Said(code, *capsys.readouterr())
