"""The report of a run: numbers of every member, and figures or why there are none."""

import functools
import html
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from matplotlib import pyplot as plt

from analysis import figure, papers
from analysis.members.point import list_points
from analysis.p1 import phase
from analysis.report import figures, numbers, page, words
from analysis.report.pictures import explain_absence
from analysis.report.subject import read_subject
from analysis.report.write import collect, write_report
from anchorjax import config, tasks
from anchorjax.config.registry import find_class
from anchorjax.errors import StoreError
from anchorjax.importing import dotted_name
from anchorjax.storage.reader import Run, open_run
from tests.support import in_process
from tests.support.pages import samples


def keep_figures(monkeypatch, *sweep: str, member: tuple[str, ...] = ()) -> None:
    """Leaves only these figures in the page of a sweep of anchors."""
    section = figures.Section('All networks', sweep)
    monkeypatch.setattr(figures, 'ANCHORS', (section,))
    monkeypatch.setattr(figures, 'ANCHORS_MEMBER', member)


@pytest.fixture(scope='module')
def payload(finished: Run) -> dict:
    return collect(read_subject(finished), samples.ignore)


@pytest.mark.slow
def test_every_member_has_its_own_numbers_and_insides(finished, payload):
    json.dumps(payload, allow_nan=False)
    points = list_points(finished)
    assert [member['point'] for member in payload['data']['members']] == points
    steps = len(payload['data']['record_steps'])
    for member in payload['data']['members']:
        agreement = finished.results.sel(member['point']).agreement
        score = float(agreement.sel(eval_set='unseen', mapping='symmetric'))
        shown = member['numbers']['symmetric on the unseen pair']
        assert shown == pytest.approx(score, rel=1e-3)
        assert member['agreement'][2][1][-1] == pytest.approx(score, rel=5e-3)
        assert np.shape(member['agreement']) == (3, 3, steps)
        loss = member['numbers']['loss on training examples']
        assert loss == member['fit_loss'][-1] == member['eval_set_loss'][0][-1]
        depth = member['point']['depth']
        assert np.shape(member['attention']['layers']) == (depth, 4, 4)
        assert np.shape(member['embedding']['xy']) == (80, 2)


@pytest.mark.slow
def test_the_command_writes_one_page_and_says_what_is_missing(
    one_member, tmp_path, monkeypatch, capsys
):
    """The run has one snapshot: no kernel distance."""
    keep_figures(monkeypatch, 'answers', 'lazy', member=('curves',))
    path = tmp_path / 'page.html'
    words = ['--run', str(one_member), '--out', str(path)]
    said = in_process.run('report.py', words, monkeypatch, capsys)
    assert said.code == 0, said.errors
    text = path.read_text()
    # The answers, and the curves of the one member that is shown.
    assert text.count('src="data:image/svg+xml;base64,') == 2
    assert 'two snapshots' in text
    assert 'no number for any' in text and 'are about other runs' in text
    assert (tmp_path / 'figures' / 'answers.csv').exists()


@pytest.mark.slow
def test_a_report_elsewhere_leaves_the_run_as_it_is(finished, tmp_path, monkeypatch):
    """A run of others, on a disk that is mounted read-only, can have a report."""
    keep_figures(monkeypatch, 'phase')
    workdir = finished.folder.workdir
    before = {path: path.stat().st_mtime_ns for path in workdir.rglob('*')}
    write_report(open_run(workdir), tmp_path / 'page.html', samples.ignore)
    assert {path: path.stat().st_mtime_ns for path in workdir.rglob('*')} == before


def test_figures_that_cannot_be_written_end_the_report(finished, tmp_path, monkeypatch):
    """A page without figures would look as if the run did not support them."""
    keep_figures(monkeypatch, 'answers')
    (tmp_path / 'figures').symlink_to(tmp_path / 'gone')
    path = tmp_path / 'page.html'
    with pytest.raises(StoreError, match=r'cannot write .*answers\.csv'):
        write_report(finished, path, samples.ignore)
    assert not path.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ('part', 'error'),
    [
        ('compute', OverflowError('Python int too large')),
        ('draw', PermissionError(13, 'x')),
    ],
)
def test_a_figure_that_fails_is_listed_and_the_others_are_drawn(
    finished, tmp_path, monkeypatch, part, error
):
    keep_figures(monkeypatch, 'phase', 'answers')

    @functools.wraps(getattr(phase, part))
    def fail(*args: Any, **options: Any) -> None:
        raise error

    monkeypatch.setattr(phase, part, fail)
    path = tmp_path / 'page.html'
    write_report(open_run(finished.folder.workdir), path, samples.ignore)
    text = path.read_text()
    assert text.count('src="data:image/svg+xml;base64,') == 1
    assert html.escape(f'{phase.TITLE} (', quote=False) in text
    shown = getattr(error, 'strerror', None) or str(error)
    assert shown in html.unescape(text)
    assert not plt.get_fignums()


def test_every_figure_of_a_page_is_there_and_some_need_several_values():
    names = {*figures.ANY, *figures.MEMBER, *figures.ANCHORS_MEMBER}
    for section in figures.ANCHORS:
        names.update(section.names)
    for paper in papers.list_papers().values():
        names.update(*paper.figures.values())
    assert names <= figure.find_figures().keys()
    axes = {'gamma': (0.5,), 'weight_decay': (0.1,), 'decay_window': ((), (0, 2))}
    expected = 'needs several values of γ or weight decay'
    assert explain_absence('decay_grid', axes) == expected
    assert explain_absence('decay_grid', axes | {'gamma': (0.5, 0.7)}) == ''


def test_every_task_has_words_for_all_that_it_asks():
    for name, cls in tasks.TASKS.items():
        if not dotted_name(cls).startswith('anchorjax.'):
            continue  # a task that another test has added
        task = find_class('task', name)().make()
        of_task = words.read_words()[name]
        unknown = set(of_task.eval_sets) - set(task.eval_set_names)
        assert unknown <= {'seen_heldout'}  # where nothing is kept out
        if name == 'anchors':  # the unseen pair is explained by a drawing
            continue
        assert of_task.tested in task.eval_set_names
        assert set(task.eval_set_names) <= set(of_task.eval_sets)
        assert set(task.mapping_names) <= {task.trained_mapping, *of_task.mappings}


@pytest.mark.parametrize('name', sorted(tasks.TASKS.keys() - {'anchors', 'scan'}))
def test_every_task_has_a_page(name, tmp_path):
    c = config.default(task=name)
    c.grid.gamma = (0.5, 0.7)
    c.model.max_len = 1024
    c.train.batch_size = 8
    run = samples.plant_curves(tmp_path, config.resolve(c))
    payload = samples.make_payload(run)
    html = page.render(payload)
    assert '{task.' not in html and 'id="try"' not in html
    sources = {reading['source'] for reading in payload['data']['readings']}
    has_losses = name in ('corpus', 'mixture')
    assert ('eval_set_loss' in sources) == has_losses
    assert ('agreement' in sources) != has_losses


@settings(max_examples=30)
@given(
    arrays.arrays(
        np.float64,
        arrays.array_shapes(min_dims=0, max_dims=4, min_side=1, max_side=4),
        elements=st.floats(-1e6, 1e6, width=32),
    )
)
def test_numbers_read_back_as_the_array(array):
    lines = numbers.format_array('x', array).split('\n')
    values = [float(cell) for line in lines for cell in line.split('\t')[1:]]
    np.testing.assert_allclose(np.reshape(values, array.shape), array, rtol=1e-4)
    labels = {line.split('\t')[0] for line in lines}
    assert len(labels) == len(lines)
