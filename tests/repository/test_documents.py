"""The sweeps that the pages show: each is one that the sweep accepts.

The commands of a page are run by bash, in which `python` writes its arguments down, so
that variables, loops and quotes are read as a reader's shell reads them.
"""

import re
import shutil
import subprocess

import pytest

from anchorjax import cli
from tests.support.sweeps import ROOT

GALLERY = ROOT / 'analysis' / 'gallery'
COMMANDS = GALLERY / 'log' / 'commands.md'
CONFIGS = re.compile(r'`(configs/\w+\.py(?::\w+)?)`')
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


def test_every_sweep_of_the_log_is_accepted(monkeypatch):
    monkeypatch.chdir(ROOT)
    text = COMMANDS.read_text()
    sweeps = list_sweeps(text)
    # A block that the shell gave up would hide its commands; a loop repeats one.
    assert len(sweeps) >= text.count('python launch/sweep.py')
    for words in sweeps:
        cli.parse_command_line(cli.sweep_parser(), words)


@pytest.mark.parametrize('page', ('RESULTS.md', 'analysis/gallery/README.md'))
def test_every_config_that_a_page_names_is_there(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    names = set(CONFIGS.findall((ROOT / page).read_text()))
    assert names
    for name in names:
        cli.parse_command_line(cli.sweep_parser(), ['--config', name])
