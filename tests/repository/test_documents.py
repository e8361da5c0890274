"""The sweeps that RESULTS.md and its pages show: each is one that the sweep accepts.

The commands of a page are run by bash, in which `python` writes its arguments down, so
that variables, loops and quotes are read as a reader's shell reads them.
"""

import pathlib
import re
import shutil
import subprocess

import pytest

from anchorjax import cli
from tests.support.sweeps import ROOT

GALLERY = ROOT / 'analysis' / 'gallery'
PAGES = (
    ROOT / 'RESULTS.md',
    GALLERY / 'log' / 'commands.md',
)
FENCE = re.compile(r'^```sh\n(.*?)^```', re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r'(?:^    .*\n)+', re.MULTILINE)
INLINE = re.compile(r'`(python [^`\n]+)`')
RECORD = r"""python() { printf '%s\x1f' "$@"; printf '\x1e'; }"""


def list_sweeps(text: str) -> list[list[str]]:
    """The words after launch/sweep.py of every sweep in blocks and lines of a page."""
    blocks = [*FENCE.findall(text), *INDENTED.findall(text), *INLINE.findall(text)]
    script = '\n'.join([RECORD, *blocks])
    shell = shutil.which('bash')
    run = subprocess.run(
        [shell, '-c', script], capture_output=True, text=True, env={'PATH': ''}
    )
    commands = [words.split('\x1f')[:-1] for words in run.stdout.split('\x1e')[:-1]]
    return [words[1:] for words in commands if words[0] == 'launch/sweep.py']


@pytest.mark.parametrize(
    'page', PAGES, ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_every_sweep_of_a_page_is_accepted(page: pathlib.Path, monkeypatch):
    monkeypatch.chdir(ROOT)
    text = page.read_text()
    sweeps = list_sweeps(text)
    # A block that the shell gave up would hide its commands; a loop repeats one.
    assert len(sweeps) >= text.count('python launch/sweep.py')
    for words in sweeps:
        cli.parse_command_line(cli.sweep_parser(), words)
