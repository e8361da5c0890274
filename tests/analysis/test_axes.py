"""Figures and report of sweeps along axes of every type that a preset may have."""

import pathlib
import re

import ml_collections
import numpy as np
import pytest

from analysis import figure
from analysis.first_look import save_figures
from analysis.frame import read_members
from analysis.members.point import list_points
from analysis.members.selection import list_varying
from analysis.p1 import curves, eigenvalues, lazy, phase, solutions
from analysis.p3 import complexity
from analysis.report import figures
from analysis.report.choose import Choice, choose_networks
from analysis.report.subject import Subject
from analysis.report.write import write_report
from anchorjax import config
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run
from tests.support.converged import mark_converged
from tests.support.drawing import SMALL, draw_pixels
from tests.support.planted_results import plant_curves
from tests.support.presets import CONFIGS, list_kinds_of_axes

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
    assert html.count('data:image/png;base64,') == 14


@pytest.mark.parametrize('word', ['--step=True', '--step=4.0'])
def test_a_step_is_a_whole_number(word):
    with pytest.raises(UserError, match='must be a snapshot step or last'):
        figure.parse_axis(word)


def plant_agreement(values: ml_collections.ConfigDict, folder: pathlib.Path) -> Run:
    """A run along a config's axes whose members score at random; nothing is trained.

    All of them have converged.
    """
    if values.grid.decay_window == ((),):
        values.train.num_steps = 2
    # Else the windows of decay must stay within training. Two records in any case.
    values.train.eval_every = values.train.num_steps // 2
    values.train.snapshot_steps = ()
    values.train.lanes = 1
    values.optimizer.warmup_steps, values.optimizer.schedule_steps = 1, 0
    for axis, points in values.grid.items():  # the paper's grid has 1,782 members
        values.grid[axis] = points[:3]
    run = plant_curves(folder, config.resolve(values))
    deviation = run.curves['deviation']
    deviation[:] = 1 / max(1, deviation.sizes['offset'])
    return run


@pytest.mark.slow
@pytest.mark.parametrize('path', CONFIGS, ids=[path.name for path in CONFIGS])
def test_figures_on_the_axes_of_every_config(path, tmp_path):
    for spec in list_kinds_of_axes(path):
        folder = tmp_path / pathlib.Path(spec).name
        require_figures(plant_agreement(config.load(spec), folder))


def require_figures(run: Run) -> None:
    result = curves.compute(run, **list_points(run)[-1])
    recorded = run.curves.agreement.values[*[-1] * len(run.experiment.axes)]
    np.testing.assert_array_equal(result.agreement, recorded)
    if 'seen_heldout' not in run.results.eval_set.values:
        assert save_figures(run, run.folder.workdir / 'figures') == []
        return
    members = read_members(run)
    try:
        diagram = phase.compute(members)
    except UserError as error:
        assert 'answers' in str(error)
        diagram = phase.compute(members.drop(columns='unseen_composed'))
    assert diagram.trained.sum() == diagram.converged.sum() == len(members)
    assert draw_pixels(diagram, phase).std() > 0
    varying = list_varying(run.experiment.axes) or ['gamma']
    points = members.groupby(varying).ngroups
    assert len(solutions.compute(members)) == points
