"""The tables of the page, how sure they are, and which networks are shown."""

import numpy as np
import pytest

from analysis import frame, stats
from analysis.names import name_network, name_value
from analysis.p1 import accuracy
from analysis.report import words
from analysis.report.choose import choose_networks
from analysis.report.outcome import describe_outcome, describe_settings
from analysis.report.subject import read_subject
from tests.support.pages import samples
from tests.support.planted_results import open_planted

SEEDS = {'grid__seed': (0, 1)}
DEPTHS = {'static_axes': (('model.depth', (1, 2)),)}
INFERENTIAL = {'composed': 0.95}
SYMMETRIC = {'symmetric': 0.95}
SCORES = [  # exact match on the eval set `test` at the end, [gamma, decay, seed]
    [[0.1, 0.2, 0.3], [0.2, 0.2, 0.2]],
    [[0.4, 0.5, 0.9], [0.9, 1.0, 1.0]],
]


@pytest.fixture
def scan(tmp_path):
    run = samples.plant_scan(tmp_path)
    agreement = run.curves['agreement']
    place = {'eval_set': list(agreement.eval_set.values).index('test'), 'mapping': 0}
    shape = agreement[{**place, 'step': -1}].shape
    agreement[{**place, 'step': -1}] = np.reshape(SCORES, shape)
    return run


def test_the_first_table_has_means_over_seeds_by_axis(scan):
    outcome = describe_outcome(read_subject(scan))
    assert [heading for heading, _ in outcome['headings']] == ['γ', 'weight decay']
    assert outcome['names'][3:] == ['weight decay 0.01', 'weight decay 0.5']
    (tested,) = [row for row in outcome['rows'] if row['is_tested']]
    cells = tested['cells']
    # By hand: of each seed over its four settings, then over the three seeds.
    means = [cell['mean'] for cell in cells]
    assert means == ['0.49', '0.20', '0.78', '0.40', '0.58']
    of_seeds = [(0.1 + 0.2) / 2, (0.2 + 0.2) / 2, (0.3 + 0.2) / 2]
    _, low, high = stats.mean_interval(of_seeds)
    assert cells[1]['interval'] == f'{low:.2f} to {high:.2f}'
    assert outcome['networks'] == ['12 of 12'] + ['6 of 6'] * 4
    assert (outcome['seeds']['spread'], outcome['seeds']['widest']) == ('0.20', '0.50')


def test_every_setting_has_its_row_as_in_the_figure(scan):
    settings = describe_settings(read_subject(scan))
    first, *_, last = settings['rows']
    assert first['labels'] == [('0.5', '0.17 at width 400'), ('0.01', '')]
    assert last['labels'][1] == ('0.5', '')
    place = settings['measures'].index('test')
    cells = [row['cells'][place] for row in settings['rows']]
    assert [cell['mean'] for cell in cells] == ['0.20', '0.20', '0.60', '0.97']
    assert cells[1]['interval'] == '0.20 to 0.20'
    assert cells[3]['interval'].endswith('to 1.00')  # a share is at most 1
    drawn = accuracy.compute(scan)
    tested = drawn[drawn.measure == 'test_assigned']
    found = tested.pivot(index='setting', columns='value', values='mean')
    np.testing.assert_allclose(found, [[0.2, 0.6], [0.2, 2.9 / 3]], rtol=1e-6)


def test_the_best_and_the_worst_network_are_shown(scan):
    choices = choose_networks(read_subject(scan))
    best, worst = choices['best'].point, choices['worst'].point
    assert (best['gamma'], best['weight_decay'], best['seed']) == (0.7, 0.5, 1)
    assert (worst['gamma'], worst['weight_decay'], worst['seed']) == (0.5, 0.01, 0)


def test_counts_of_solutions_by_every_axis_but_the_seed(tmp_path):
    answers = {
        (1, 0.3, 0): SYMMETRIC,
        (1, 0.3, 1): SYMMETRIC,
        (1, 0.8, 0): INFERENTIAL,
        (1, 0.8, 1): SYMMETRIC,
        (2, 0.3, 0): INFERENTIAL,
        (2, 0.3, 1): {'composed': 0.95, 'train_loss': 0.4},  # not converged
        (2, 0.8, 0): {'composed': 0.95, 'diverged': 3},
    }
    subject = read_subject(open_planted(tmp_path, answers, **SEEDS, **DEPTHS))
    outcome = describe_outcome(subject)
    assert outcome['names'][1:3] == ['depth 1', 'depth 2']
    assert (outcome['trained'], outcome['converged']) == (7, 5)
    table = {}
    for row in outcome['rows']:
        table[row['label']] = [int(cell['mean']) for cell in row['cells']]
    # All; depth 1 and 2; gamma 0.3 and 0.8.
    assert table == {
        'composed': [2, 1, 1, 1, 1],
        'symmetric': [3, 3, 0, 2, 1],
        'not converged': [1, 0, 1, 1, 0],
        'diverged': [1, 0, 1, 0, 1],
    }
    assert (outcome['seeds']['alike'], outcome['seeds']['settings']) == (1, 2)
    rows = describe_settings(subject)['rows']
    assert [row['solutions'] for row in rows] == [
        '2 symmetric',
        '1 composed, 1 symmetric',
        '1 composed, 1 not converged',
        '1 diverged',
    ]


def test_converged_networks_at_the_solution_come_first(tmp_path):
    answers = {
        (1, 0.3, 0): SYMMETRIC,
        (1, 0.3, 1): {'symmetric': 1.0, 'heldout': 0.4},  # a table
        (1, 0.8, 0): {'composed': 0.92},
        (1, 0.8, 1): {'composed': 1.0, 'train_loss': 0.5},
        (2, 0.3, 0): {'symmetric': 0.99},  # another architecture than the first choice
        (2, 0.8, 0): {'composed': 1.0, 'diverged': 7},
    }
    run = open_planted(tmp_path, answers, **SEEDS, **DEPTHS)
    shown = {}
    for name, choice in choose_networks(read_subject(run)).items():
        point = choice.point
        shown[name] = (point['depth'], point['gamma'], point['seed'])
    assert shown == {'composed': (1, 0.8, 0), 'symmetric': (1, 0.3, 0)}


def test_a_gamma_is_named_with_its_equivalent_at_the_width_of_the_paper(tmp_path):
    """64 ** -0.72 = 400 ** -0.5 (PAPERS 1.2); of two widths there are two."""
    grid = {'grid__gamma': (0.72,), 'model__width': 64}
    run = open_planted(tmp_path / 'one', {}, **grid)
    name = name_network(run, {'gamma': 0.72, 'seed': 1})
    assert name == 'γ 0.72 (0.50 at width 400), seed 1'
    assert name_value(run, 'num_anchors', 4) == '4 anchors'
    widths = {'static_axes': (('model.width', (64, 400)),), 'grid__gamma': (0.72,)}
    run = open_planted(tmp_path / 'two', {}, **widths)
    name = name_network(run, {'width': 400, 'gamma': 0.72, 'seed': 0})
    assert name == 'width 400, γ 0.72 (0.50 or 0.72 at width 400), seed 0'


def test_a_gamma_that_is_a_factor_has_no_equivalent(tmp_path):
    """P4's std = gamma * d^-1/2: a larger gamma is larger weights (PAPERS 4.1)."""
    changes = {'model__init': 'scale', 'grid__gamma': (0.3, 0.8), 'model__width': 64}
    run = open_planted(tmp_path, {(0.3, 0): {}, (0.8, 0): {}}, **changes)
    assert name_network(run, {'gamma': 0.8, 'seed': 0}) == 'γ 0.8, seed 0'
    members = frame.read_members(run)
    assert members.gamma_at_400.isna().all()
    assert words.AXES['gamma'] not in words.explain_axes(run)
