"""The documents: their commands, sweeps, links, citations and log of predictions.

Numbers of pages are looked up by tests/analysis/test_pages.py. The commands of a page
are run by bash, in which `python` writes its arguments down, so that variables, loops
and quotes are read as a reader's shell reads them. 'PAPERS 1.2, 3.2' and 'DATASETS 3.2'
cite headings, 'PAPERS quirk 11' a row of the table of quirks.
"""

import argparse
import json
import pathlib
import re
import shlex
import shutil
import subprocess
from types import SimpleNamespace
from typing import Any

import pytest

from analysis import figure
from anchorjax import cli, config, grid
from tests.support.sweeps import ROOT, list_specs

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


PREDICTIONS = tuple(sorted(GALLERY.glob('log/predictions_*.md')))
LINKING = (ROOT / 'README.md', ROOT / 'RESULTS.md', *sorted(GALLERY.rglob('*.md')))
LINK = re.compile(r'\]\(([^)#:]+)(?:#[^)]*)?\)|src="([^"]+)"')  # to a file of ours
HEADING_LINK = re.compile(r'\]\(([^)#:]*)#([^)]+)\)')
OUTCOME = '\nOutcome: '


def name_page(page: pathlib.Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize('page', PREDICTIONS, ids=name_page)
def test_every_prediction_says_what_came_out(page):
    """'Outcome: open' until the run is read."""
    _, *entries = page.read_text().split('\n## ')
    assert entries
    for entry in entries:
        assert OUTCOME in entry, entry.splitlines()[0]


@pytest.mark.parametrize('page', LINKING, ids=name_page)
def test_every_linked_file_exists(page):
    for link, picture in LINK.findall(page.read_text()):
        assert (page.parent / (link or picture)).exists(), link or picture


def name_anchors(page: pathlib.Path) -> set[str]:
    """What links to the headings of a Markdown page end in, as GitHub makes it."""
    headings = re.findall(r'^#+ (.+)$', page.read_text(), flags=re.M)
    letters = [re.sub(r'[^\w\- ]', '', heading.lower()) for heading in headings]
    return {text.replace(' ', '-') for text in letters}


@pytest.mark.parametrize('page', LINKING, ids=name_page)
def test_every_linked_heading_exists(page):
    for link, heading in HEADING_LINK.findall(page.read_text()):
        target = page.parent / link if link else page
        assert heading in name_anchors(target), f'{link}#{heading}'


FOLDERS = ('anchorjax', 'analysis', 'configs', 'launch', 'tests')
CITATION = re.compile(
    r'\b(PAPERS|DATASETS) (quirk \d+|\d+(?:\.\d+)?)'
    r'((?:(?:,| and|, and) (?:quirk \d+|\d+\.\d+))*)'
)
PLACE = re.compile(r'quirk \d+|\d+\.\d+')
HEADING = re.compile(r'^#+ (\d+(?:\.\d+)?)\.? ', re.M)
QUIRK = re.compile(r'^\| (\d+) \|', re.M)


def list_citations(text: str) -> list[tuple[str, str]]:
    """(PAPERS or DATASETS, place) of every citation, also across the ends of lines."""
    joined = re.sub(r'\s+(?:# )?\s*', ' ', text)
    citations = []
    for name, first, others in CITATION.findall(joined):
        citations.append((name, first))
        citations += [(name, place) for place in PLACE.findall(others)]
    return citations


def list_places(text: str) -> list[str]:
    """Numbers of headings, and 'quirk n' for the rows of the section Quirks."""
    _, _, after = text.partition('\n# Quirks\n')
    quirks, _, _ = after.partition('\n# ')
    rows = [f'quirk {number}' for number in QUIRK.findall(quirks)]
    return HEADING.findall(text) + rows


def test_every_place_that_is_cited_exists_once():
    places = {}
    for name in ('PAPERS', 'DATASETS'):
        places[name] = list_places((ROOT / f'{name}.md').read_text())
        assert len(set(places[name])) == len(places[name])
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob('*.py')]
    number = 0
    for path in paths:
        if path == pathlib.Path(__file__):
            continue
        for name, place in list_citations(path.read_text()):
            assert place in places[name], f'{path}: {name} {place}'
            number += 1
    assert number > 50  # else the citations are no longer found


BLOCK = re.compile(r'```python\n(writers = .*?)```', re.DOTALL)


class Writer(list):
    """A tracker's: the scalars that it was given, as (name, value, step)."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def add_scalar(self, *scalar: Any) -> None:
        self.append(scalar)


def test_a_tracker_gets_the_curves_of_each_network(tmp_path, monkeypatch, finished):
    (tmp_path / 'runs').mkdir()
    (tmp_path / 'runs/phase').symlink_to(finished.folder.workdir)
    monkeypatch.chdir(tmp_path)
    (code,) = BLOCK.findall((ROOT / 'README.md').read_text())
    names = {'json': json, 'tensorboardX': SimpleNamespace(SummaryWriter=Writer)}
    exec(code, names)
    writers = {writer.folder: writer for writer in names['writers'].values()}
    assert len(writers) == len(finished.members)
    for row in finished.members.itertuples():
        writer = writers[f'tracked/{row.depth}/{row.gamma}/{row.seed}']
        point = {'depth': row.depth, 'gamma': row.gamma, 'seed': row.seed}
        curves = finished.curves.sel(point).squeeze()
        unseen = curves.agreement.sel(eval_set='unseen')
        expected = {'train_loss': curves.train_loss}
        for mapping in ('composed', 'symmetric'):
            expected[f'unseen_{mapping}'] = unseen.sel(mapping=mapping)
        for name, curve in expected.items():
            found = {step: value for key, value, step in writer if key == name}
            steps = curve.step.values.tolist()
            assert found == pytest.approx(dict(zip(steps, curve.values, strict=True)))
