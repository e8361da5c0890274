"""The one command of figures: flags from a signature, and every figure drawn."""

from types import ModuleType
from typing import Annotated, Literal

import pytest

from analysis import figure
from analysis.drawing import style
from analysis.members.member import Member
from anchorjax.errors import UserError
from anchorjax.limits import at_least, at_most
from anchorjax.storage.reader import Run

POINT = ('--depth=2', '--gamma=0.8', '--seed=0')  # of the fixture `finished`
AT_POINT = ('curves', 'position')  # take a network by its point, too


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


def test_an_unknown_figure_gets_the_nearest_name():
    with pytest.raises(UserError, match="no figure 'phas', did you mean 'phase'"):
        figure.find_figure('phas')


def test_a_figure_is_about_a_sweep_or_a_member():
    def of_member(member: Member) -> None:
        pass

    subjects = []
    for function in (compute, of_member):
        module = ModuleType('figure')
        module.compute = function
        subjects.append(figure.name_subject(module))
    assert subjects == ['sweep', 'member']


FIGURES = figure.find_figures()
# A tiny trained sweep for each room, and for figures that need another one: the name of
# its fixture, and that of the sweep if the fixture has several.
RUNS = {
    'p1': ('converged_run', None),
    'p3': ('converged_run', None),
    'p2': ('open_sweep', 'transformer'),
    'label_groups': ('open_sweep', 'groups'),
    'theory_path': ('open_sweep', 'flow'),
    'reasoning_bias': ('open_sweep', 'mixture'),
    'p4': ('windows_run', None),
    'text_tasks': ('proofs_run', None),
}
# Small numbers.
WORDS = {
    'attention_flow': ['--number=64'],
    'causal': ['--number=64', '--draws=2'],
    'cosine': ['--contexts=4'],
    'embedding': ['--perplexity=3', '--permutations=5'],
    'embedding_grid': ['--permutations=5'],
    'fitting_time': ['--thresholds=4.5,5'],
    'lazy': ['--number=6'],
    'pair_order': ['--number=64'],
    'tsne': ['--number=100', '--map_number=50', '--perplexity=5'],
}


def find_fixture(name: str) -> tuple[str, str | None] | None:
    """The fixture of a figure; None: its own tests draw it, or its paper's."""
    if figure.name_subject(FIGURES[name]) == 'text':
        return None
    room = FIGURES[name].__name__.split('.')[1]
    return RUNS.get(name, RUNS.get(room))


def list_words(name: str) -> list[str]:
    """The words of the command line that choose a network, and small numbers."""
    module = FIGURES[name]
    words = list(WORDS.get(name, ()))
    is_member = figure.name_subject(module) == 'member'
    return words + list(POINT) if is_member or name in AT_POINT else words


@pytest.mark.parametrize('name', FIGURES)
def test_every_figure_says_what_it_is(name):
    module = FIGURES[name]
    assert module.TITLE and module.PAPER and module.__doc__
    assert f'python -m analysis {name} ' in module.__doc__
    if figure.name_subject(module) != 'text':
        assert module.CAPTION.endswith(('.', '?', ')'))


@pytest.mark.slow
@pytest.mark.parametrize('name', filter(find_fixture, FIGURES))
def test_every_figure_draws_from_a_tiny_run(
    name, request, tmp_path, monkeypatch, capsys
):
    """A picture, its PDF and its numbers, which are twice the same to the byte.

    That equal numbers give equal pictures is tested where a sweep ends with them.
    """
    fixture, sweep = find_fixture(name)
    run = request.getfixturevalue(fixture)
    if sweep:
        run = run(sweep)
    monkeypatch.setattr(figure, 'open_run', lambda folder: run)
    words = [f'--run={run.folder.workdir}', *list_words(name)]
    capsys.readouterr()  # what the training of the sweep printed
    figure.run_figure(FIGURES[name], [*words, f'--out={tmp_path}'])
    paths = sorted(tmp_path.iterdir())
    assert [str(path) for path in paths] == sorted(capsys.readouterr().out.split())
    assert len(paths) == 3

    written = []

    def save_numbers(module, result, path):
        written.append(style.write_numbers(result, path))

    monkeypatch.setattr(figure, 'save', save_numbers)
    figure.run_figure(FIGURES[name], [*words, f'--out={tmp_path}/second'])
    (numbers,) = written
    assert numbers.read_bytes() == (tmp_path / numbers.name).read_bytes()
