"""The commands of figures that the docs show: of runs, members and steps that exist."""

import argparse
import ast
import pathlib
import re
import shlex

import pytest

from analysis.drawing.command import parse_axis
from anchorjax import config, grid
from tests.support.presets import list_specs
from tests.support.sweeps import ROOT

FIGURES = sorted((ROOT / 'analysis').glob('*.py'))
COMMAND = re.compile(r'python (analysis/\w+\.py) (--runs? .*)')
OF_MEMBER = 'command.run_member_figure('
STEPS = ('early', 'late', 'step')


def list_commands(text: str) -> list[tuple[str, list[str]]]:
    """(path of the figure, its words) of every command in a text."""
    joined = re.sub(r'\\\n\s*', '', text)
    commands = []
    for path, words in COMMAND.findall(joined):
        commands.append((path, shlex.split(words, comments=True)))
    return commands


def read_docs() -> list[tuple[str, list[str]]]:
    """Commands of the README and of the figures' docstrings."""
    texts = [(ROOT / 'README.md').read_text()]
    for path in FIGURES:
        texts.append(ast.get_docstring(ast.parse(path.read_text())) or '')
    return [command for text in texts for command in list_commands(text)]


@pytest.fixture(scope='module')
def experiments() -> dict[str, config.Experiment]:
    """What the configs train, by the name of its run."""
    return {spec.name: config.resolve(spec) for spec in map(config.load, list_specs())}


def read_flags(words: list[str]) -> tuple[list[str], dict[str, str]]:
    """The names of the runs, and {flag: value} of all other flags."""
    parser = argparse.ArgumentParser()
    parser.add_argument('--run')
    parser.add_argument('--runs', nargs='*', default=[])
    known, rest = parser.parse_known_args(words)
    flags = {}
    for word in rest:
        if word.startswith('--'):
            name, _, value = word[2:].partition('=')
            flags[name] = value
    folders = [known.run] if known.run else known.runs
    return [pathlib.Path(folder).name for folder in folders], flags


@pytest.mark.parametrize(
    ('path', 'words'), read_docs(), ids=[' '.join(words) for _, words in read_docs()]
)
def test_the_command_is_of_something_that_exists(path, words, experiments):
    figure = (ROOT / path).read_text()
    names, flags = read_flags(words)
    for name in names:
        if '*' not in name:
            assert name in experiments, f'no config makes runs/{name}'
    axes = experiments[names[0]].axes if names[0] in experiments else {}
    point = {}
    for flag, value in flags.items():
        if flag in axes:
            point[flag] = parse_axis(f'--{flag}={value}')[1]
            grid.match_value(flag, axes[flag], point[flag])
        elif flag in STEPS:
            assert int(value) in experiments[names[0]].train.snapshot_steps
        elif flag != 'out':
            assert f'{flag}=command.Flag' in figure or f"'--{flag}'" in figure
    if OF_MEMBER in figure:
        grid.locate(axes, point)
