"""Every figure and the table of claims by their command lines, on tiny sweeps."""

import runpy

import numpy as np
import pandas as pd
import pytest

from analysis.bias import claims
from analysis.bias.claims import CLAIMS
from analysis.bias.tokens import TASK
from analysis.old_claims.by_setting import tabulate_claims
from analysis.old_claims.claim_table import TITLES
from analysis.old_claims.verdict_table import format_verdict_table
from analysis.old_claims.verdicts import VERDICTS, count_verdicts
from tests.support.p2_tasks import make_experiment
from tests.support.sweeps import ROOT

pytestmark = pytest.mark.slow

FIGURES = {
    'learning_order': ('near', '--share=0.9'),
    'anchor_cosines': ('transformer', '--permutations=5'),
    'label_law': ('flow', '--permutations=5'),
    'first_attention': ('transformer', '--number=20'),
    'embedding_pca': ('transformer', '--step=10'),
    'theory_path': ('flow', '--limit=0.2'),
    'label_groups': ('groups', '--early=5'),
    'embedding': ('transformer', '--gamma=0.8', '--seed=1', '--perplexity=5'),
}


def run_command(monkeypatch, capsys, name, *words):
    """(exit code, stdout, stderr) of analysis/NAME.py."""
    capsys.readouterr()  # what training the sweep has printed
    code = 0
    try:
        if name == 'embedding':  # in a room, drawn by the one command
            monkeypatch.setattr('sys.argv', ['analysis', name, *map(str, words)])
            runpy.run_module('analysis', run_name='__main__')
        else:
            monkeypatch.setattr('sys.argv', [f'{name}.py', *map(str, words)])
            runpy.run_path(str(ROOT / 'analysis' / f'{name}.py'), run_name='__main__')
    except SystemExit as e:
        code = e.code
    return code, *capsys.readouterr()


@pytest.mark.parametrize('name', FIGURES)
def test_a_figure_is_one_command(open_sweep, tmp_path, monkeypatch, capsys, name):
    sweep, *flags = FIGURES[name]
    folder = open_sweep(sweep).folder.workdir
    words = ('--run', folder, '--out', tmp_path, *flags)
    code, printed, error = run_command(monkeypatch, capsys, name, *words)
    assert not code, error
    paths = sorted(path.suffix for path in tmp_path.iterdir())
    assert paths == ['.npz', '.pdf', '.png'] and printed.count('\n') == 3
    (numbers,) = tmp_path.glob('*.npz')
    with np.load(numbers, allow_pickle=False) as arrays:
        if name != 'embedding':
            assert len(arrays['members_seed']) == (12 if sweep == 'near' else 6)


@pytest.mark.parametrize('name', FIGURES)
def test_another_task_is_one_line(finished, monkeypatch, capsys, name):
    if name == 'embedding':
        return  # it is of every task
    words = ('--run', finished.folder.workdir)
    code, _, error = run_command(monkeypatch, capsys, name, *words)
    assert code == 2 and error.count('\n') == 1
    assert "task 'anchors': this figure is about the task 'memory_reasoning'" in error


@pytest.fixture(scope='module')
def tabulated(open_sweep):
    runs = {
        name: open_sweep(name) for name in ('transformer', 'flow', 'near', 'groups')
    }
    return tabulate_claims(runs, CLAIMS, TASK)


def test_every_claim_has_a_row_with_a_verdict_and_its_reason(tabulated):
    assert list(tabulated.columns) == list(TITLES)
    assert set(tabulated.claim) == {claim.sentence for claim in CLAIMS}
    words = {verdict.words for verdict in VERDICTS}
    assert set(tabulated.verdict) <= words
    decided = tabulated[tabulated.run != '–']
    assert decided.note.str.contains('converged').all()
    assert decided.note.str.contains('train loss').all()
    assert (decided['null'] != '').all()
    # After 20 steps nothing is learned: no moment, and no end of training.
    of_learning = decided[decided.figure == 'learning_order']
    assert set(of_learning.verdict) == {'undecided'}
    assert of_learning.note.str.contains('0 of 3 converged').all()


def test_claims_read_the_runs_they_are_about(tabulated):
    by_figure = tabulated.groupby('figure').run.agg(set)
    assert by_figure['theory_path'] == {'flow'}
    assert by_figure['label_groups'] == {'groups'}
    assert by_figure['first_attention'] == {'transformer'}
    assert by_figure['anchor_cosines'] == {'flow', 'transformer'}
    near = tabulated[tabulated.source == 'P2 Fig 8 left']
    assert near.run.tolist() == ['near']  # one row for both settings
    no_run = tabulated[tabulated.run == '–']
    assert set(no_run.note) == {'no trained run is about this'}
    # No Emb-MLP trained by AdamW, and no model of one layer.
    assert set(no_run.source) == {'P2 Fig 3 B', 'P2 Sec 5, tested'}


def test_the_markdown_has_the_rows_and_the_counts(tabulated):
    text = format_verdict_table(tabulated, claims.INTRODUCTION)
    assert text.startswith(count_verdicts(tabulated.verdict.tolist()))
    lines = text.splitlines()
    assert len(lines) == 6 + len(tabulated)
    for line in lines[4:]:
        assert line.replace('\\|', '').count('|') == len(TITLES) + 1


def test_a_setting_is_a_row_of_its_own(open_sweep):
    runs = {'near': open_sweep('near')}
    claim = CLAIMS[0]._replace(fits=claims.has_near_labels)
    rows = tabulate_claims(runs, (claim,), TASK)
    names = rows.run.tolist()
    assert names == ['near, memory_labels=uniform', 'near, memory_labels=near']


def test_the_command_writes_the_tables(open_sweep, tmp_path, monkeypatch, capsys):
    folder = open_sweep('near').folder.workdir
    words = ('--runs', folder, '--out', tmp_path)
    name = 'memory_reasoning_claims'
    code, printed, error = run_command(monkeypatch, capsys, name, *words)
    assert not code, error
    assert printed.split() == [
        str(tmp_path / 'verdicts.csv'),
        str(tmp_path / 'verdicts.md'),
    ]
    read = pd.read_csv(tmp_path / 'verdicts.csv', keep_default_na=False)
    text = format_verdict_table(read, claims.INTRODUCTION)
    assert text == (tmp_path / 'verdicts.md').read_text()


def test_wrong_runs_are_one_line(finished, tmp_path, monkeypatch, capsys):
    cases = {
        "task 'anchors': must be 'memory_reasoning'": finished.folder.workdir,
        'no folder of a run matches': tmp_path / 'none*',
    }
    name = 'memory_reasoning_claims'
    for line, folder in cases.items():
        words = ('--runs', folder, '--out', tmp_path)
        code, _, error = run_command(monkeypatch, capsys, name, *words)
        assert code == 2 and line in error and error.count('\n') == 1


def test_tables_do_not_replace_those_of_a_run(open_sweep, monkeypatch, capsys):
    folder = open_sweep('near').folder.workdir
    members = (folder / 'members.csv').read_bytes()
    words = ('--runs', folder, '--out', folder)
    name = 'memory_reasoning_claims'
    code, _, error = run_command(monkeypatch, capsys, name, *words)
    assert code == 2 and error.count('\n') == 1
    assert 'is a run; give another folder' in error
    assert (folder / 'members.csv').read_bytes() == members


@pytest.mark.parametrize(
    ('experiment', 'fitting'),
    [
        (make_experiment('transformer'), 'is_transformer is_attention is_main_data'),
        (make_experiment('one_layer'), 'is_attention is_main_data is_one_layer'),
        (make_experiment('emb_mlp'), 'is_emb_mlp is_any_emb_mlp is_main_data'),
    ],
)
def test_runs_are_told_apart_by_their_experiment(experiment, fitting):
    tests = ('is_transformer', 'is_attention', 'is_main_data', 'is_emb_mlp')
    tests += ('is_any_emb_mlp', 'is_flow', 'has_near_labels', 'has_groups')
    tests += ('is_one_layer',)
    found = {name for name in tests if getattr(claims, name)(experiment)}
    assert found == set(fitting.split())
