"""The one command of figures: flags from a signature, and every figure drawn."""

import pathlib
import re
import shutil
from types import ModuleType
from typing import Annotated, Literal

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from analysis import figure
from analysis.drawing import style
from analysis.p1 import condensation
from anchorjax.errors import UserError
from anchorjax.limits import at_least, at_most
from anchorjax.storage.reader import Run, open_run
from tests.support.drawing import SMALL
from tests.support.sweeps import opened

POINT = ('--depth=2', '--gamma=0.8', '--seed=0')  # of the fixture `finished`
OF_ONE_DEPTH = ('eigenvalues', 'decay_map')  # figures of a sweep that must be told


def compute(
    run: Run,
    number: Annotated[int, at_least(1), at_most(100_000), 'sequences to patch'] = 1024,
    measure: Literal['accuracy', 'moment'] = 'accuracy',
    contexts: tuple[int, ...] | None = None,
    **point,
) -> None:
    """A figure of a sweep."""


def test_flags_are_the_parameters_after_the_first():
    flags = {flag.name: flag for flag in figure.list_flags(compute)}
    assert list(flags) == ['number', 'measure', 'contexts']
    number = flags['number']
    assert (number.default, number.help) == (1024, 'sequences to patch')
    assert figure.parse_flag(number, '12') == 12
    assert figure.parse_flag(flags['measure'], 'moment') == 'moment'
    assert figure.parse_flag(flags['contexts'], '3') == (3,)
    assert figure.parse_flag(flags['contexts'], '3,4') == (3, 4)


@pytest.mark.parametrize(
    ('name', 'text', 'line'),
    [
        ('number', '0', '--number = 0: must be at least 1, at most 100,000'),
        ('number', '100001', '--number = 100001: must be at least 1, at most 100,000'),
        ('number', 'many', "--number = 'many': must be of type int"),
        ('measure', 'x', "--measure = 'x': must be one of ('accuracy', 'moment')"),
        ('contexts', '1.5', '--contexts[0] = 1.5: must be of type int'),
    ],
)
def test_a_flag_out_of_bounds_is_one_line(name, text, line):
    flags = {flag.name: flag for flag in figure.list_flags(compute)}
    with pytest.raises(UserError) as caught:
        figure.parse_flag(flags[name], text)
    assert str(caught.value) == line


def test_a_flag_may_be_given_as_help_shows_it_and_a_mistyped_one_is_named(
    tmp_path, monkeypatch
):
    """Of a figure of a whole sweep with a step, as condensation_grid."""
    opened(tmp_path)
    found = []
    monkeypatch.setattr(figure, 'save', lambda *saved: found.append(saved[1]))

    def take_step(run: Run, step: int | str = 'last') -> pd.DataFrame:
        return pd.DataFrame({'step': [step]})

    module = ModuleType('analysis.p1.stub', 'A stub.')
    module.TITLE, module.PAPER, module.compute = 'A stub', 'ours', take_step
    for word in ('--step=last', '--step=5'):
        figure.run_figure(module, ['--run', str(tmp_path), word])
    assert [result.step[0] for result in found] == ['last', 5]
    for word, reason in (
        ('--stp=5', "--stp: no such flag, did you mean 'step'"),
        ('--gamma=0.3', '--gamma: this figure shows the whole sweep'),
    ):
        with pytest.raises(UserError, match=reason):
            figure.run_figure(module, ['--run', str(tmp_path), word])


def test_a_member_that_still_trains_needs_a_step(finished, tmp_path):
    """Else its newest snapshot, of untrained weights perhaps, passes for the end."""
    shutil.copytree(finished.folder.workdir, tmp_path / 'run')
    chunk = tmp_path / 'run' / 'cohorts' / 'depth=1' / 'chunk_0000'
    (chunk / 'curves.npz').unlink()
    for step in (4, 15, 40):
        shutil.rmtree(chunk / 'snapshots' / str(step))
    run, point = open_run(tmp_path / 'run'), {'depth': 1, 'gamma': 0.3, 'seed': 0}
    with pytest.raises(UserError, match=r'not trained to its end: .*one of \[0, 1\]'):
        figure.compute(condensation, run, point)
    figure.compute(condensation, run, point | {'step': 1})


@pytest.mark.parametrize(('word', 'name'), [('t-SNE', 'tsne'), ('phas', 'phase')])
def test_a_word_of_others_finds_the_figure(word, name):
    with pytest.raises(UserError, match=rf'did you mean .*\b{name}\b'):
        figure.find_figure(word)
    for names in figure.SYNONYMS.values():
        assert set(names) <= set(FIGURES)


def test_where_no_network_is_named_it_is_the_most_composed_one(finished):
    members = finished.members
    best = members.loc[members.unseen_composed.idxmax()]
    point, chosen = figure.choose_network(finished, {})
    assert {axis: best[axis] for axis in point} == point and 'most composed' in chosen
    part = members[members.depth == 1]
    best = part.loc[part.unseen_composed.idxmax()]
    point, chosen = figure.choose_network(finished, {'depth': 1})
    assert {axis: best[axis] for axis in point} == point and chosen
    named = {'depth': 2, 'gamma': 0.3, 'seed': 0}
    point, chosen = figure.choose_network(finished, named)
    assert named.items() <= point.items() and not chosen
    with pytest.raises(UserError, match="unknown axis 'gama'"):
        figure.choose_network(finished, {'gama': 0.3})


NETWORK = {'depth': 2, 'gamma': 0.3, 'seed': 0}


@pytest.mark.parametrize(
    ('name', 'point', 'options', 'words'),
    [
        ('curves', NETWORK, {}, 'depth 2, γ 0.3 .*, seed 0, to step 40'),
        ('phase', {}, {'rates': 'mean'}, '8 networks, rates mean'),
        ('eigenvalues', {'depth': 2}, {}, 'depth 2, .*seed 0'),
    ],
)
def test_a_picture_says_which_run_and_which_networks(
    finished, name, point, options, words
):
    module = FIGURES[name]
    result = figure.compute(module, finished, point, **options)
    with style.draw_figure(result, module.draw, module.layout) as picture:
        title = picture.get_suptitle().replace('\n', ' ')
    assert re.match(f'{finished.folder.workdir.name}: {words}', title)


@pytest.mark.parametrize('name', OF_ONE_DEPTH)
def test_a_figure_of_one_depth_of_several_must_be_told_which(finished, name):
    with pytest.raises(
        UserError, match=r'--depth: the figure shows one, give it: 1, 2'
    ):
        figure.compute(FIGURES[name], finished, {})


def draw_nothing(result: pd.DataFrame, axes: np.ndarray) -> None:
    """A reference line and an empty legend are no data."""
    axes[0, 0].axhline(0)
    axes[0, 0].plot([], [], label='empty')
    axes[0, 1].scatter([np.nan], [0.0])


def draw_elsewhere(result: pd.DataFrame, axes: np.ndarray) -> None:
    """One panel is filled; what pyplot draws is in a figure that nobody sees."""
    axes[0, 0].plot([0.0], [1.0], 'o')
    plt.scatter([0.0], [1.0])


def test_a_figure_without_data_is_an_error_and_an_empty_panel_says_so():
    layout = style.Layout(1, 2, 2.0, 2.0)
    mistakes = {'nothing to draw': draw_nothing, 'not plt.scatter': draw_elsewhere}
    for reason, draw in mistakes.items():
        with (
            pytest.raises(UserError, match=reason),
            style.draw_figure(pd.DataFrame(), draw, layout),
        ):
            pass
    plt.close('all')

    def draw_one(result: pd.DataFrame, axes: np.ndarray) -> None:
        draw_nothing(result, axes)
        axes[0, 0].plot([0.0], [1.0], 'o')

    with style.draw_figure(pd.DataFrame(), draw_one, layout) as picture:
        texts = [[text.get_text() for text in axis.texts] for axis in picture.axes]
    assert texts == [[], ['no data']]


OWN = """
from analysis.drawing.style import Layout

TITLE, PAPER, CAPTION = 'Own', 'mine', 'A line.'

def compute(run):
    return run.members[['train_loss']]

def draw(result, axes):
    axes[0, 0].plot(result.train_loss)

layout = Layout(1, 1, 2.0, 2.0)
"""


@pytest.mark.parametrize('where', ['folder', 'file', 'package'])
def test_figures_of_ones_own(tmp_path, monkeypatch, where):
    folder = tmp_path / 'my_figures_54'
    folder.mkdir()
    (folder / 'own.py').write_text(OWN)
    (folder / 'helper.py').write_text('x = 1')
    (folder / '.#own.py').write_text('no Python')
    monkeypatch.syspath_prepend(tmp_path)
    given = {'folder': folder, 'file': folder / 'own.py'}
    found = figure.import_figures(given.get(where, pathlib.Path('my_figures_54')))
    assert list(found) == ['own']
    assert figure.list_figures(found).splitlines()[0].split()[:2] == ['own', 'mine']


@pytest.mark.parametrize(
    ('where', 'text', 'reason'),
    [
        ('typo', '', 'no such folder'),
        ('.', 'draw = 1', 'has no TITLE'),
        ('own.txt', '', 'no file of Python'),
        ('.', 'def draw(', r'own\.py: SyntaxError'),
        ('.', OWN.replace('run)', 'run, size=2)'), "'size' of compute has no type"),
        ('.', OWN.replace('run)', ')'), r'own\.py: compute takes no Run'),
        ('.', OWN.replace('run)', 'run, out: str = "")'), "'out' of compute: every"),
        ('.', OWN.replace('run)', 'run: "Rum")'), r"own\.py: types of .* 'Rum'"),
    ],
)
def test_what_is_no_figure_of_ones_own_is_one_line(
    tmp_path, monkeypatch, where, text, reason
):
    monkeypatch.chdir(tmp_path)
    for name in ('own.py', 'own.txt'):
        pathlib.Path(name).write_text(text)
    with pytest.raises(UserError, match=reason):
        figure.import_figures(pathlib.Path(where))


def test_types_of_a_figure_may_be_texts_and_its_table_is_none_but_a_table(tmp_path):
    head = 'from __future__ import annotations\n'
    head += 'from anchorjax.network import Network'
    path = tmp_path / 'own.py'
    path.write_text(head + OWN.replace('run)', 'net: Network, size: int = 2)'))
    own = figure.import_figures(path)['own']
    assert figure.name_subject(own) == 'network'
    assert figure.list_flags(own.compute)[0].hint is int
    path.write_text(OWN.replace("run.members[['train_loss']]", '{}'))
    with pytest.raises(UserError, match='compute gives dict, not a DataFrame'):
        figure.import_figures(path)['own'].compute(None)


FIGURES = figure.find_figures()
# A tiny trained sweep for each package, and for figures that need another one: the name
# of its fixture, and that of the sweep if the fixture has several.
RUNS = {
    'p1': ('converged_run', None),
    'p3': ('converged_run', None),
    'p2': ('open_sweep', 'transformer'),
    'label_groups': ('open_sweep', 'groups'),
    'theory_path': ('open_sweep', 'flow'),
    'reasoning_bias': ('open_sweep', 'mixture'),
    'token_cosines': ('open_sweep', 'mixture'),
    'p4': ('windows_run', None),
    'text_tasks': ('proofs_run', None),
}
# Of a table, and of random numbers: drawn twice the same to the byte.
REPEATED = ('phase', 'causal', 'tsne')


def find_fixture(name: str) -> tuple[str, str | None] | None:
    """The fixture of a figure; None: its own tests draw it, or its paper's."""
    if hasattr(FIGURES[name], 'command'):
        return None
    package = FIGURES[name].__name__.split('.')[1]
    return RUNS.get(name, RUNS.get(package))


def list_words(name: str) -> list[str]:
    """The words of the command line that choose a network, and small numbers."""
    module = FIGURES[name]
    words = [f'--{flag}={value}' for flag, value in SMALL.get(name, {}).items()]
    if name in OF_ONE_DEPTH:
        words.append('--depth=2')
    is_member = figure.name_subject(module) == 'network'
    return words + list(POINT) if is_member else words


@pytest.mark.parametrize('name', FIGURES)
def test_every_figure_says_what_it_is(name):
    module = FIGURES[name]
    assert module.TITLE and module.PAPER and module.__doc__
    assert f'python -m analysis {name} ' in module.__doc__
    assert hasattr(module, 'command') or module.CAPTION


@pytest.mark.slow
@pytest.mark.parametrize('name', filter(find_fixture, FIGURES))
def test_every_figure_draws_from_a_tiny_run(
    name, request, tmp_path, monkeypatch, capsys
):
    """A picture, its PDF and its numbers."""
    fixture, sweep = find_fixture(name)
    run = request.getfixturevalue(fixture)
    if sweep:
        run = run(sweep)
    monkeypatch.setattr(figure, 'open_run', lambda folder: run)
    capsys.readouterr()  # what the training of the sweep printed
    drawn = []
    for number in range(2 if name in REPEATED else 1):
        folder = tmp_path / str(number)
        words = ['--run', str(run.folder.workdir), '--out', str(folder)]
        figure.run_figure(FIGURES[name], words + list_words(name))
        paths = sorted(folder.iterdir())
        assert [str(path) for path in paths] == sorted(capsys.readouterr().out.split())
        drawn.append({path.name: path.read_bytes() for path in paths})
    assert drawn[0] == drawn[-1] and len(drawn[0]) == 3
