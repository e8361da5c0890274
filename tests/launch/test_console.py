"""`anchorjax COMMAND` runs the command line of the same purpose."""

import contextlib
import importlib.metadata
import sys

import pytest

from launch.__main__ import COMMANDS, main
from tests.support.sweeps import ROOT


def test_it_is_installed_under_its_name():
    (script,) = importlib.metadata.entry_points(
        group='console_scripts', name='anchorjax'
    )
    assert script.load() is main


@pytest.mark.parametrize('name', [name for name in COMMANDS if name != 'figure'])
def test_every_command_says_how_it_is_used(name, monkeypatch, capsys):
    monkeypatch.setattr(sys, 'argv', ['anchorjax', name, '--help'])
    with contextlib.suppress(SystemExit):
        main()
    said = capsys.readouterr()
    assert said.out and not said.err


def test_figures_are_listed_and_bad_commands_are_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, 'argv', ['anchorjax', 'figure', '--list'])
    main()
    assert 'attention_flow' in capsys.readouterr().out
    monkeypatch.setattr(sys, 'argv', ['anchorjax', 'trian'])
    with pytest.raises(SystemExit) as done:
        main()
    assert done.value.code == 2
    assert "'trian', did you mean 'train'?" in capsys.readouterr().err


def test_every_command_line_is_reachable_and_in_the_help(monkeypatch, capsys):
    """Of launch/ all but the file that is to be read."""
    monkeypatch.setattr(sys, 'argv', ['anchorjax', '--help'])
    main()
    said = capsys.readouterr().out
    files = {path.stem for path in (ROOT / 'launch').glob('[!_]*.py')} - {'minimal'}
    reached = {path.partition('launch.')[2] for path, _ in COMMANDS.values()} - {''}
    assert reached == files
    assert all(f'anchorjax {name}' in said for name in COMMANDS)
