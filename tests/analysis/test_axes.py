"""Figures and report of sweeps along axes of every type that a preset may have."""

import re

import pytest

from analysis import figure
from analysis.frame import read_members
from analysis.p1 import eigenvalues, lazy, solutions
from analysis.p3 import complexity
from analysis.report import figures
from analysis.report.choose import Choice, choose_networks
from analysis.report.subject import Subject
from analysis.report.write import write_report
from anchorjax.errors import UserError
from tests.support.converged import mark_converged
from tests.support.drawing import SMALL, draw_pixels

SHAPES = ('warmup_cosine', 'constant')
# xarray takes an array for a dict if it has labels along an axis called `keys`.
KEYS = ((20, 60), (20, 100))
POINT = {'shape': 'constant', 'keys': KEYS[1], 'gamma': 0.8}


@pytest.fixture(scope='module')
def run(train_once):
    """A sweep along a static axis of strings and one of tuples."""
    return train_once(
        'typed_axes',
        static_axes=(('optimizer.shape', SHAPES), ('task.keys', KEYS)),
        train__snapshot_steps=(0, 4),
        train__resume_every=1e9,
        train__lanes=2,
        grid__seed=(0,),
        model__depth=2,
    )


@pytest.mark.slow
def test_the_figures_of_the_sweep_take_every_member(run):
    result = lazy.compute(run, 6)
    one_shape = 2 * ['(20, 60)'] + 2 * ['(20, 100)']
    assert result['keys'].tolist() == 2 * one_shape
    # Two untrained networks are asked the questions of their own task.
    assert result.groupby(['gamma', 'keys']).null.nunique().tolist() == 4 * [1]
    assert result.null.nunique() == 4
    assert draw_pixels(result.assign(row_name='keys'), lazy).std() > 0
    assert set(complexity.compute(run).row.values) == set(SHAPES)
    assert solutions.compute(read_members(run))['keys'].tolist() == 2 * one_shape
    spectra = eigenvalues.compute(run, **POINT)
    W = run.params(learning_rate=1e-2, seed=0, **POINT)['W_embed']
    assert spectra.followed == 0.8
    assert spectra.sizes['index'] == min(W.shape)


def choose_first(subject: Subject) -> dict[str, Choice]:
    """One network: another has the same figures."""
    return dict([*choose_networks(subject).items()][:1])


@pytest.mark.slow
def test_the_report_draws_every_figure(run, tmp_path, monkeypatch):
    """40 steps are too few to converge, and only converged members have mechanisms."""
    monkeypatch.setattr('analysis.report.write.choose_networks', choose_first)
    converged = mark_converged(run, run.results['shape'] == 'constant')
    monkeypatch.setattr(figures, 'OPTIONS', SMALL)
    lines = []
    path = tmp_path / 'report.html'
    write_report(converged, path, lines.append)
    html = path.read_text()
    # A grid over other axes must be told the value of keys, and says so.
    missing = re.findall(r'<dt>(.*?) \(.*?</dt><dd>--keys: the figure shows one', html)
    assert missing == ['Condensation over the grid', 'Embedding over the grid'], lines
    assert html.count('<dd>--') == len(missing)
    assert 'shape constant, keys (20, 100)' in html
    assert html.count('src="data:image/svg+xml;base64,') == 13


@pytest.mark.parametrize('word', ['--step=True', '--step=4.0'])
def test_a_step_is_a_whole_number(word):
    with pytest.raises(UserError, match='must be a snapshot step or last'):
        figure.parse_axis(word)
