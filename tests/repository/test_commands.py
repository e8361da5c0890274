"""The commands of figures that the docs show: of runs, members and steps that exist."""

import argparse
import pathlib
import re
import shlex

import pytest

from analysis import figure
from anchorjax import config, grid
from tests.support.presets import list_specs
from tests.support.sweeps import ROOT

FIGURES = figure.find_figures()
COMMAND = re.compile(r'python -m analysis (\w+) (--runs? .*)')


def list_commands(text: str) -> list[tuple[str, list[str]]]:
    """(name of the figure, its words) of every command in a text."""
    joined = re.sub(r'\\\n\s*', '', text)
    commands = []
    for name, words in COMMAND.findall(joined):
        commands.append((name, shlex.split(words, comments=True)))
    return commands


def read_docs() -> list[tuple[str, list[str]]]:
    """Commands of the README and of the figures' docstrings."""
    texts = [(ROOT / 'README.md').read_text()]
    texts += [module.__doc__ for module in FIGURES.values()]
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
    ('name', 'words'), read_docs(), ids=[' '.join(words) for _, words in read_docs()]
)
def test_the_command_is_of_something_that_exists(name, words, experiments):
    module = FIGURES[name]
    runs, given = read_flags(words)
    for run in runs:
        if '*' not in run:
            assert run in experiments, f'no config makes runs/{run}'
    axes = experiments[runs[0]].axes if runs[0] in experiments else {}
    known = set()
    has_own_flags = hasattr(module, 'command')
    if not has_own_flags:
        known = {flag.name for flag in figure.list_flags(module.compute)}
    point = {}
    for flag, value in given.items():
        if flag in axes:
            point[flag] = figure.parse_axis(f'--{flag}={value}')[1]
            grid.match_value(flag, axes[flag], point[flag])
        elif flag == 'step':
            assert int(value) in experiments[runs[0]].train.snapshot_steps
        elif flag != 'out' and not has_own_flags:
            assert flag in known
    if figure.name_subject(module) == 'network':
        grid.locate(axes, point)
