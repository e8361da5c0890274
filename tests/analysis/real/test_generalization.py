"""The figure of real tasks: its numbers, its baselines, and when members converge."""

import dataclasses
import types

import matplotlib.pyplot as plt
import numpy as np
import pytest

from analysis import generalization
from analysis.real import baselines, panels
from analysis.real.members import list_points, tabulate_members
from anchorjax import config
from anchorjax.errors import UserError
from anchorjax.grid import DATA, random_key
from anchorjax.storage.reader import members_table
from anchorjax.sweeps.plan import summarize_members
from anchorjax.tasks import AdditionConfig, ProntoqaConfig, ScanConfig
from anchorjax.tasks.addition import list_probed_pairs
from tests.support import real_tasks
from tests.support.drawing import draw_pixels
from tests.support.real_tasks import AGREEING, plant_result

SIZES = (('task.num_examples', (32, 64)),)


@pytest.fixture
def no_baselines(monkeypatch):
    """The figure without its baselines, which take most of its time."""
    monkeypatch.setattr(generalization, 'score_baselines', lambda config, seed: {})


def test_the_numbers_are_those_of_the_run(open_planted, no_baselines):
    run = open_planted('scan', loop=SIZES)
    result = generalization.compute(run)
    points = list_points(run)
    assert len(points) == 8 and result.task == 'scan'
    for m, point in enumerate(points):
        member = run.results.sel(run.labels(**point)).squeeze()
        assert result.members['size'][m] == point['num_examples']
        assert result.members['weight_decay'][m] == point['weight_decay']
        for p, probe in enumerate(result.probe):
            of_probe = member.sel(probe=probe)
            assert result.agreement_MP[m, p] == of_probe.agreement
            assert result.perplexity_MP[m, p] == np.exp(of_probe.probe_loss)
            np.testing.assert_array_equal(
                result.agreement_MPG[m, p], of_probe.agreement_by_group
            )
    assert result.probe[result.tested] == 'test'
    assert set(result.members['setting']) == {''}


def test_a_size_of_zero_is_all(open_planted):
    loop = (('task.num_examples', (0, 64)),)
    run = open_planted('scan', loop=loop, grid__gamma=(0.5,))
    result = generalization.compute(run)
    assert set(result.members['size']) == {64, 21_890}
    # The whole split keeps nothing out, so there is nothing to ask.
    is_whole_M = result.members['size'] == 21_890
    heldout = result.probe.tolist().index('seen_heldout')
    assert np.isnan(result.baseline_KMP[:, is_whole_M, heldout]).all()
    assert np.isfinite(result.baseline_KMP[:, ~is_whole_M, heldout]).all()


def test_other_axes_are_settings(open_planted):
    run = open_planted('scan', loop=(('task.score_end', (True, False)),))
    members = tabulate_members(run, list_points(run))
    assert set(members['setting']) == {'score_end=True', 'score_end=False'}


@pytest.mark.parametrize(
    ('task', 'fields', 'curve'),
    [
        ('scan', {}, 'train_loss'),
        ('scan', {'task__loss_on': 'answer_and_padding'}, 'probe_loss'),
        ('addition', {'task__encoding': 'numbers', 'task__loss_on': 'all'}, None),
        ('prontoqa', {}, 'probe_loss'),
    ],
)
def test_convergence_is_judged_by_the_answers(open_planted, task, fields, curve):
    steps = {'train__num_steps': 4, 'grid__gamma': (0.5,)}
    run = open_planted(task, **steps, **fields)
    curve = curve or 'train_loss'
    for name in ('train_loss', 'probe_loss'):
        run.curves[name][:] = 1.0 if name == curve else 0.0
    losses = run.curves[curve]
    if curve == 'probe_loss':
        losses = losses.sel(probe='seen_train')
    first = losses.squeeze().isel(weight_decay=0)
    first[:] = [1.0, 0.5, 0.01, 0.03]  # falls, and rises again
    losses.squeeze().isel(weight_decay=1)[:] = [1.0, 0.5, 0.5, 0.02]
    members = tabulate_members(run, list_points(run))
    assert members['converged'].tolist() == [False, True]
    # Between steps 2 and 3, 0.48 of 0.49 down; 0.02 is not below itself.
    np.testing.assert_allclose(members['moment'], [2 + 0.48 / 0.49, np.nan], rtol=1e-5)


def test_members_that_diverged_are_counted_and_left_out(open_planted, no_baselines):
    run = open_planted('addition')
    run.curves['diverged'][{'gamma': 0, 'weight_decay': 1}] = 1
    result = generalization.compute(run)
    assert result.diverged == 1 and len(result.agreement_MP) == 3
    run.curves['trained'][:] = False
    del vars(run)['results']
    with pytest.raises(UserError, match='no member is trained yet'):
        generalization.compute(run)


def test_tables_have_the_perplexity_of_texts_beside_their_loss(open_planted):
    run = open_planted('scan')
    table = members_table(run)
    np.testing.assert_allclose(table.train_perplexity, np.exp(table.train_loss))
    np.testing.assert_allclose(table.perplexity_test, np.exp(table.loss_test))
    columns = table.columns.tolist()
    assert columns.index('perplexity_test') == columns.index('loss_test') + 1
    assert 'perplexity' in summarize_members(run).splitlines()[0].split()
    numbers = open_planted('addition', task__encoding='numbers')
    assert not members_table(numbers).columns.str.contains('perplexity').any()


def test_another_task_is_one_line():
    run = types.SimpleNamespace(experiment=config.resolve(config.default()))
    with pytest.raises(UserError, match="task 'anchors': this figure is about the"):
        generalization.compute(run)


@pytest.mark.parametrize(
    'sizes', [(500,), pytest.param((500, 5_000), marks=pytest.mark.slow)]
)
def test_drawn_twice_is_the_same(sizes):
    result = plant_result(AGREEING, 'cogs', sizes=sizes, seeds=3)
    result.members['converged'][:2] = False
    result.members['moment'][:3] = np.nan
    # A second setting of which only a part is trained.
    result.members['setting'][result.members['size'] == sizes[0]] = 'x'
    first = draw_pixels(result, generalization)
    assert np.ptp(first) > 0
    np.testing.assert_array_equal(first, draw_pixels(result, generalization))


def test_baselines_of_one_height_share_a_name():
    result = plant_result(AGREEING, 'cogs', sizes=(500, 5_000), seeds=3)
    heights = [[0.5, 0.9], [0.53, 0.9], [0.5, 0.8]]  # at either size
    is_first_M = result.members['size'] == 500
    baseline_KMP = np.zeros((3, *result.agreement_MP.shape))
    for k, (first, second) in enumerate(heights):
        baseline_KMP[k] = np.where(is_first_M, first, second)[:, None]
    result = result._replace(
        baseline=np.array(['table', 'constant', 'reverse']), baseline_KMP=baseline_KMP
    )
    axis = plt.figure().subplots()
    panels.draw_agreements(axis, result, 0, np.full(len(is_first_M), True))
    texts = {text.get_text() for text in axis.texts}
    assert {'table, constant', 'reverse'} <= texts and 'constant' not in texts
    plt.close(axis.figure)


def test_baselines_of_addition_by_hand():
    task = AdditionConfig(largest=9, square=(3, 5), num_examples=64, probe_examples=100)
    scores = baselines.score_baselines(task, 0)
    assert scores['table'] == {'seen_train': 1.0, 'seen_heldout': 0.0, 'test': 0.0}
    # Of the 9 sums of 3, 4 and 5 with each other three are 8.
    assert scores['constant']['test'] == pytest.approx(3 / 9)
    # 64 of 91 ordered pairs are trained, so of most others the reverse is.
    unordered = scores['unordered']
    assert unordered['seen_train'] == 1.0 and unordered['test'] == 0.0
    assert 0.4 < unordered['seen_heldout'] < 0.9
    numbers = dataclasses.replace(task, encoding='numbers')
    assert baselines.score_baselines(numbers, 0) == scores


def test_a_table_of_unordered_pairs_knows_the_reverse_of_what_was_trained():
    """Seven of the eight pairs of 0, 1 and 2 but (2, 2) are trained."""
    shares = set()
    for seed in range(8):
        task = AdditionConfig(largest=2, square=(2, 2), num_examples=7)
        probed = list_probed_pairs(task, random_key(seed, DATA))['seen_heldout']
        assert probed.is_real_B.sum() == 1
        is_double = probed.a_B[0] == probed.b_B[0]
        share = baselines.score_baselines(task, seed)['unordered']['seen_heldout']
        assert share == (0.0 if is_double else 1.0)
        shares.add(share)
    assert shares == {0.0, 1.0}


def test_a_table_knows_what_it_was_trained_on_alone():
    scan = ScanConfig(num_examples=50, probe_examples=64)
    assert baselines.score_baselines(scan, 3)['table'] == {
        'seen_train': 1.0,
        'seen_heldout': 0.0,
        'test': 0.0,
    }
    # The primitive is every tenth line, and the most frequent answer among them.
    constant = baselines.score_baselines(scan, 3)['constant']['seen_train']
    assert constant == pytest.approx(5 / 50)


@pytest.mark.slow
def test_answers_that_are_cut_are_in_no_table():
    whole = config.resolve(real_tasks.make_config('cogs')).task
    cut = dataclasses.replace(whole, seq_len=32)
    tables = [baselines.score_baselines(c, 0)['table'] for c in (whole, cut)]
    assert tables[0]['seen_train'] > 0.5 and tables[1]['seen_train'] < 0.5
    assert tables[0]['gen'] == tables[1]['gen'] == 0


def test_the_shortcuts_of_prontoqa_are_its_nulls():
    original = ProntoqaConfig(hops=2, num_examples=32, probe_examples=64)
    scores = baselines.score_baselines(original, 0)
    assert scores['recurrence']['seen_heldout'] == 1.0
    assert scores['conclusion']['seen_heldout'] == 1.0
    assert 0.5 <= scores['constant']['seen_heldout'] < 0.65
    assert scores['constant']['seen_heldout_proof'] < 0.1
    twin = dataclasses.replace(original, distractor='twin', chain_of_thought=False)
    without = baselines.score_baselines(twin, 0)
    assert without['recurrence']['seen_heldout'] < 0.7
    assert 'conclusion' not in without


def test_longer_data_are_read_in_pieces(monkeypatch):
    task = AdditionConfig(largest=9, square=(3, 5), probe_examples=16)
    maker = baselines.compile_maker(task)
    whole = baselines._list_training_texts(maker, 5)
    assert len(whole) == task.make().num_train == 91
    monkeypatch.setattr(baselines, '_PIECE', 40)
    assert baselines._list_training_texts(maker, 5) == whole
