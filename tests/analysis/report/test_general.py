"""The report of tasks other than the anchor task, and the numbers of figures."""

import pathlib
import runpy
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from analysis.drawing import style
from analysis.members.measures import count_members
from analysis.members.statistics import mean_interval
from analysis.p1 import accuracy
from analysis.report import figures, numbers, page
from analysis.report.general.collect import collect_general
from analysis.report.general.pictures import choose_ends, explain_absence
from analysis.report.general.questions import WORDS
from analysis.report.general.subject import read_subject
from analysis.report.general.words import find_words
from analysis.report.write import write_report
from anchorjax import config, tasks
from anchorjax.errors import UserError
from anchorjax.storage.reader import open_run
from tests.support import text_tasks
from tests.support.pages import general_sample
from tests.support.sweeps import ROOT, experiment, opened


def ignore(line: str) -> None:
    """Takes the lines about progress."""


def plant_test_scores(run, scores) -> None:
    """Sets the exact match on the probe `test` at the end, [gamma, decay, seed]."""
    agreement = run.curves['agreement']
    place = {'probe': list(agreement.probe.values).index('test'), 'mapping': 0}
    shape = agreement[{**place, 'step': -1}].shape
    agreement[{**place, 'step': -1}] = np.reshape(scores, shape)


SCORES = [  # [gamma, decay, seed]
    [[0.1, 0.2, 0.3], [0.2, 0.2, 0.2]],
    [[0.4, 0.5, 0.9], [0.9, 1.0, 1.0]],
]


@pytest.fixture
def scan(tmp_path):
    run = general_sample.plant_scan(tmp_path)
    plant_test_scores(run, SCORES)
    return run


def find_row(payload):
    (row,) = [row for row in payload['outcome']['rows'] if row['is_tested']]
    return row


def test_the_first_screen_has_means_over_seeds_by_axis(scan):
    outcome = collect_general(read_subject(scan), ignore)['outcome']
    assert outcome['headings'] == [
        ('γ', ['0.5', '0.7']),
        ('weight decay', ['0.01', '0.5']),
    ]
    row = find_row({'outcome': outcome})
    assert row['label'] == 'test'
    # By hand: of each seed over its four settings, then over the three seeds.
    assert [cell['mean'] for cell in row['cells']] == [
        '0.49',
        '0.20',
        '0.78',
        '0.40',
        '0.58',
    ]
    _, low, high = mean_interval([(0.1 + 0.2) / 2, (0.2 + 0.2) / 2, (0.3 + 0.2) / 2])
    assert row['cells'][1]['interval'] == f'{low:.2f} to {high:.2f}'
    assert outcome['networks'] == ['12 of 12'] + ['6 of 6'] * 4
    assert 'lie 0.20 apart on average, at most 0.50' in outcome['sure'][0]


def test_every_setting_has_its_row(scan):
    every = collect_general(read_subject(scan), ignore)['general']['settings']
    assert every['axes'] == ['γ', 'weight decay']
    assert [row['labels'] for row in every['rows']] == [
        ['0.5', '0.01'],
        ['0.5', '0.5'],
        ['0.7', '0.01'],
        ['0.7', '0.5'],
    ]
    place = every['measures'].index('test')
    means = [row['cells'][place]['mean'] for row in every['rows']]
    assert means == ['0.20', '0.20', '0.60', '0.97']
    intervals = [row['cells'][place]['interval'] for row in every['rows']]
    assert intervals[1] == '0.20 to 0.20'
    assert intervals[3].endswith('to 1.00')  # a share is at most 1
    result = accuracy.compute(scan)
    k = result.measures.tolist().index('test assigned')
    np.testing.assert_allclose(
        result.mean_KZX[k], [[0.2, 0.6], [0.2, 2.9 / 3]], rtol=1e-6
    )
    assert result.settings.tolist() == ['weight_decay=0.01', 'weight_decay=0.5']


def title_of(result: accuracy.Result) -> str:
    """The words above the figure of accuracies."""
    layout = accuracy.layout(result)
    figure, axes = style.plt.subplots(layout.rows, layout.columns, squeeze=False)
    accuracy.draw(result, axes)
    title = figure.get_suptitle()
    style.plt.close(figure)
    return title


def test_the_title_of_the_accuracies_says_which_networks_they_are_of(scan):
    scan.curves['converged'][:] = True
    before = title_of(accuracy.compute(scan))
    assert before.startswith(
        'mean over seeds and its 95 % interval; converged networks'
    )
    scan.curves['converged'][:] = False
    result = accuracy.compute(scan)
    assert '; no network converged (' in title_of(result)
    no_interval = np.full_like(result.low_KZX, np.nan)
    few = result._replace(low_KZX=no_interval, high_KZX=no_interval)
    assert title_of(few).startswith('mean over seeds, too few for an interval; ')
    one = few._replace(members_ZX=np.minimum(few.members_ZX, 1))
    assert title_of(one).startswith('one seed; ')


def test_networks_that_have_not_converged_are_left_out(scan):
    scan.curves['converged'][0, 0, 0, 0] = False  # gamma 0.5, decay 0.01, seed 0
    scan.curves['train_loss'][0, 0, 0, 0] = 0.7
    scan.curves['converged'][-1, :, -1] = False  # gamma 0.7, decay 0.5
    payload = collect_general(read_subject(scan), ignore)
    assert payload['outcome']['counted'] == 8
    assert payload['outcome']['networks'][:2] == ['8 of 12', '5 of 6']
    assert payload['members'][0]['status'] == 'not converged (train loss 0.7)'
    first = payload['general']['settings']['rows'][0]
    assert first['networks'] == '2 of 3'
    assert first['cells'][payload['general']['settings']['measures'].index('test')] == {
        'mean': '0.25',
        'interval': '',  # of two seeds
    }
    assert '4 of 12 trained networks did not get there' in payload['outcome']['sure'][1]
    last = payload['general']['settings']['rows'][-1]
    assert last['networks'] == '0 of 3'
    place = payload['general']['settings']['measures'].index('test')
    assert last['cells'][place]['mean'] == '(0.97)'  # of all that did not diverge


def test_without_a_converged_network_all_but_diverged_ones_count(scan):
    scan.curves['converged'][:] = False
    scan.curves['diverged'][-1, -1, -1, -1] = 1
    payload = collect_general(read_subject(scan), ignore)
    assert payload['outcome']['counted'] == 11
    assert not payload['outcome']['has_converged']
    assert payload['members'][-1]['status'] == 'diverged at step 1'
    assert 'No network has converged' in payload['outcome']['sure'][1]
    html = page.render(payload | {'figures': []})
    assert 'None of the 12 trained networks has learned its training data' in html


def test_a_loss_that_counts_the_prompt_is_not_the_criterion(tmp_path):
    run = general_sample.plant_scan(tmp_path, task__loss_on='text')
    run.curves['converged'][:] = False
    run.curves['probe_loss'][:] = 1.0
    run.curves['probe_loss'][0, ..., -1, 0] = 0.01  # seen_train at gamma 0.5
    counted = count_members(run)
    assert counted.is_counted.values.sum() == 6
    assert counted.criterion.startswith('loss on the answers of training examples')


def test_the_best_and_the_worst_network_are_shown(scan):
    ends = choose_ends(read_subject(scan))
    best, worst = ends['best'], ends['worst']
    assert (best['gamma'], best['weight_decay'], best['seed']) == (0.7, 0.5, 1)
    assert (worst['gamma'], worst['weight_decay'], worst['seed']) == (0.5, 0.01, 0)


def test_a_figure_of_an_axis_that_does_not_vary_says_so():
    axes = {'gamma': (0.5,), 'weight_decay': (0.1,), 'decay_window': ((), (0, 2))}
    grid = next(
        row for row in figures.OF_TASK['anchor_permutations'] if 'grid' in row.name
    )
    assert explain_absence(grid, axes) == 'needs several values of γ or weight decay'
    assert explain_absence(grid, axes | {'gamma': (0.5, 0.7)}) == ''
    assert explain_absence(figures.GENERAL[0], axes) == ''


def test_every_task_has_words_for_all_that_it_asks():
    for name, task_config in tasks.TASKS.items():
        if not task_config.__module__.startswith('anchorjax.'):
            continue  # a task that another test has added
        task = task_config().make()
        words = WORDS[name]
        unknown = set(words.probes) - set(task.probe_names)
        assert unknown <= {'seen_heldout'}  # where nothing is kept out
        if name == 'anchors':  # with an unseen pair it has another page
            continue
        assert words.tested in task.probe_names
        assert set(task.probe_names) <= set(words.probes)
        assert set(task.mapping_names) <= {task.trained_mapping, *words.mappings}


@pytest.mark.parametrize('name', sorted(tasks.TASKS.keys() - {'anchors', 'scan'}))
def test_every_task_has_a_page(name, tmp_path):
    c = config.default(task=name)
    c.grid.gamma = (0.5, 0.7)
    c.model.max_len = 1024
    c.train.batch_size = 8
    run = general_sample.plant_curves(tmp_path, config.resolve(c))
    payload = collect_general(read_subject(run), ignore)
    html = page.render(payload | {'figures': []})
    assert f'this sweep trains the task {name}.' in html
    assert '{task.' not in html
    first = find_row(payload)
    assert first['cells'][0]['mean'] != '–'
    sources = {reading['source'] for reading in payload['readings']}
    has_losses = name in ('corpus', 'mixture')
    assert ('probe_loss' in sources) == has_losses
    assert ('agreement' in sources) != has_losses


def test_the_anchor_task_without_an_unseen_pair(tmp_path):
    run = general_sample.plant_curves(tmp_path, experiment(task__unseen=()))
    payload = collect_general(read_subject(run), ignore)
    assert payload['first_reading'] == 'seen_heldout assigned'
    left_out = payload['general']['left_out']
    assert left_out.endswith('in this sweep every pair is trained (task.unseen = ()).')
    assert left_out.count('.') == 2  # one sentence: the other is in task.unseen
    page.render(payload | {'figures': []})


def test_an_axis_of_the_task_is_named_in_the_question(tmp_path):
    loop = (('task.split', ('length', 'addprim_jump')),)
    run = general_sample.plant_scan(tmp_path, loop=loop)
    question = find_words(run).question
    assert 'length or addprim_jump' in question


def test_nothing_trained_is_one_line(tmp_path):
    opened(tmp_path, task__unseen=())
    with pytest.raises(UserError, match='no member is trained yet'):
        write_report(open_run(tmp_path), tmp_path / 'report.html', ignore)
    assert not (tmp_path / 'report.html').exists()


def test_two_sweeps_are_one_line(tmp_path, monkeypatch, capsys):
    opened(tmp_path / 'anchors')
    c = config.resolve(text_tasks.make_config('addition'))
    general_sample.plant_curves(tmp_path / 'sums', c)
    words = ['report.py', '--run', f'{tmp_path}/anchors', '--run', f'{tmp_path}/sums']
    monkeypatch.setattr(sys, 'argv', words)
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(
            str(pathlib.Path(ROOT) / 'launch/report.py'), run_name='__main__'
        )
    assert stopped.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert 'a report shows one sweep, and these are 2' in line
    assert 'anchors (task anchors)' in line and 'sums (task addition)' in line


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


def test_the_text_of_numbers():
    array = np.array([[[0.5, np.nan]], [[1e-9, 3.0]]])
    assert numbers.format_array('a', array) == 'a[0, 0]\t0.5\t\na[1, 0]\t1e-09\t3'
    assert numbers.format_array('flag', np.array(True)) == 'flag\tTrue'
    assert numbers.format_array('n\te', np.array(['a\tb\nc'])) == 'n e\ta b c'


def test_arrays_that_are_too_large_are_named(monkeypatch):
    class Result:
        def _asdict(self):
            return {'large': np.zeros((30, 40)), 'empty': [], 'small': [1, 2]}

    monkeypatch.setattr(numbers, 'MOST_CHARACTERS', 100)
    shown = numbers.format_numbers(Result())
    assert shown.text == 'small\t1\t2'
    assert shown.left_out == ['large (30 × 40)']


@pytest.mark.slow
def test_a_trained_sweep_of_a_text_task_is_a_page(make_once, tmp_path):
    def train(folder):
        text_tasks.train_sweep(folder, 'scan', grid__gamma=(0.5,))

    folder = make_once('report_scan', train)
    lines = []
    path = tmp_path / 'report.html'
    write_report(open_run(folder), path, lines.append)
    text = path.read_text()
    assert not path.with_name('claims.md').exists()
    # Accuracy, the grid, generalization, and the curves of one network: after two steps
    # none is right about anything, so that the best is the worst.
    assert text.count('data:image/png;base64,') == 4, lines
    assert text.count('class="figure-numbers"') == 4
    assert 'id="try"' not in text
    assert 'this sweep trains the task scan.' in text
    assert 'a table of the training data scores' in text
    assert 'mean_KZX[0, 0]\t' in text
    assert (tmp_path / 'figures' / 'accuracy.npz').exists()
