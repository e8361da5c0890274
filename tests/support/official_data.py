"""The authors' own files, which are not distributed: tests of them run where they are.

ANCHORJAX_OFFICIAL_DATA names the folder that has them, a folder for each set (scan,
cogs, prontoqa, addition); by default ../shared/data, seen from the repository.
"""

import os
import pathlib

import pytest

VARIABLE = 'ANCHORJAX_OFFICIAL_DATA'
_BESIDE = pathlib.Path(__file__).parents[3] / 'shared' / 'data'


def find_official(path: str) -> pathlib.Path:
    """The file or folder at a path of that folder; without it the test is skipped."""
    found = pathlib.Path(os.environ.get(VARIABLE) or _BESIDE) / path
    if not found.exists():
        pytest.skip(f'no {found}: set {VARIABLE} to the folder that has {path}')
    return found.absolute()
