"""The figures and the table of claims by their command lines, on a tiny sweep."""

import runpy

import numpy as np
import pandas as pd
import pytest

from analysis.families import claims
from analysis.families.claims import CLAIMS
from analysis.old_claims.claim_table import TITLES
from analysis.old_claims.verdicts import VERDICTS
from anchorjax import config
from tests.support.sweeps import ROOT

FIGURES = {
    'fitting_time': ('--thresholds=4.5,5', '--accuracy=0.5'),
    'decay_map': ('--depth=2', '--matrix=block_1/W_V'),
    'levels': (),
    'gamma_range': (),
}


def run_command(monkeypatch, capsys, name, *words):
    """(exit code, stdout, stderr) of a figure, or of analysis/NAME.py."""
    capsys.readouterr()  # what training the sweep has printed
    code = 0
    try:
        if name in FIGURES:
            monkeypatch.setattr('sys.argv', ['analysis', name, *map(str, words)])
            runpy.run_module('analysis', run_name='__main__')
        else:
            monkeypatch.setattr('sys.argv', [f'{name}.py', *map(str, words)])
            runpy.run_path(str(ROOT / 'analysis' / f'{name}.py'), run_name='__main__')
    except SystemExit as e:
        code = e.code
    return code, *capsys.readouterr()


@pytest.mark.slow
@pytest.mark.parametrize('name', FIGURES)
def test_a_figure_is_one_command(finished, tmp_path, monkeypatch, capsys, name):
    words = ('--run', finished.folder.workdir, '--out', tmp_path, *FIGURES[name])
    code, printed, error = run_command(monkeypatch, capsys, name, *words)
    assert not code, error
    paths = sorted(path.suffix for path in tmp_path.iterdir())
    assert paths == ['.npz', '.pdf', '.png'] and printed.count('\n') == 3


@pytest.mark.slow
def test_the_tables_are_one_command(finished, tmp_path, monkeypatch, capsys):
    words = ('--runs', finished.folder.workdir, '--out', tmp_path)
    code, printed, error = run_command(monkeypatch, capsys, 'anchor_claims', *words)
    assert not code, error
    names = ('verdicts.csv', 'verdicts.md', 'members.csv')
    assert printed.split() == [str(tmp_path / name) for name in names]
    verdicts = pd.read_csv(tmp_path / 'verdicts.csv', keep_default_na=False)
    assert list(verdicts.columns) == list(TITLES)
    assert set(verdicts.claim) == {claim.sentence for claim in CLAIMS}
    assert set(verdicts.verdict) <= {verdict.words for verdict in VERDICTS}
    # The tiny sweep has two depths and snapshots: it is about levels alone, and two
    # seeds decide nothing.
    read = verdicts[verdicts.run != '–']
    assert set(read.figure) == {'levels'} and set(read.verdict) == {'undecided'}
    members = pd.read_csv(tmp_path / 'members.csv')
    assert len(members) == 8 and np.isfinite(members.train_loss).all()
    assert (tmp_path / 'verdicts.md').read_text().startswith('undecided: ')


@pytest.mark.slow
def test_no_run_is_one_line(tmp_path, monkeypatch, capsys):
    folder = ROOT / 'no such run'
    words = ('--runs', folder, '--out', tmp_path)
    code, _, error = run_command(monkeypatch, capsys, 'anchor_claims', *words)
    assert code == 2 and error.count('\n') == 1


PRESETS = {
    'inferential_complexity.py': {'fitting_time'},
    'inferential_complexity.py:paper': {'fitting_time'},
    'decay.py': {'decay_map'},
    'decay.py:rates': {'decay_map'},
    'decay.py:paper_rates': {'decay_map'},
    'phase.py:p3': {'decay_map'},
    'levels.py': {'levels'},
    'levels.py:paper': {'levels'},
    'gpt2_range.py': {'gamma_range'},
    'gpt2_range.py:paper': {'gamma_range'},
    'law.py:anchors': {'levels'},
    'decay.py:parts': set(),
}


@pytest.mark.parametrize('spec', PRESETS)
def test_every_preset_is_what_its_claims_are_about(spec):
    experiment = config.resolve(config.load(str(ROOT / 'configs' / spec)))
    figures = set()
    for claim in CLAIMS:
        if claim.fits(experiment):
            figures.add(claim.figure.__name__.rpartition('.')[2])
    assert figures == PRESETS[spec]


def test_the_comparison_of_gpt2_is_the_network_of_one_head():
    fits = {}
    for preset in ('', 'one_head'):
        path = ROOT / 'configs' / f'gpt2_range.py:{preset}'
        experiment = config.resolve(config.load(str(path)))
        fits[preset] = (claims.is_gpt2(experiment), claims.is_one_head(experiment))
    assert fits == {'': (True, False), 'one_head': (False, True)}
