"""Which members stand for a solution, on planted results."""

import pytest

from analysis.report.choose import MOST, choose_members
from analysis.report.member_rows import describe_left_out, list_members
from tests.support.planted_results import open_planted

SEEDS = {'grid__seed': (0, 1, 2, 3)}
DEPTHS = {'loop': (('model.depth', (1, 2)),)}
INFERENTIAL = {'inferential': 0.95}
SYMMETRIC = {'symmetric': 0.95}


def test_members_are_at_their_solution_and_the_best_of_every_seed_come_first(tmp_path):
    answers = {
        (0.3, 0): SYMMETRIC,
        (0.3, 1): {'symmetric': 0.99},
        (0.3, 2): {'symmetric': 1.0, 'heldout': 0.4},  # a table
        (0.3, 3): {'symmetric': 1.0, 'train_loss': 0.5},
        (0.8, 0): {'inferential': 0.92},
        (0.8, 1): {'inferential': 0.97},
        (0.8, 2): {'inferential': 1.0, 'diverged': 7},
        (0.8, 3): {'inferential': 0.6, 'symmetric': 0.4},
    }
    run = open_planted(tmp_path, answers, **SEEDS)
    choices = choose_members(run)
    inferential = choices['inferential']
    assert [point['seed'] for point in inferential.members] == [1, 0]
    assert inferential.shown == inferential.members[0]
    assert inferential.about == 'inferential: 0.97 on the unseen pair'
    symmetric = choices['symmetric']
    assert [point['seed'] for point in symmetric.members] == [1, 0]
    rows = list_members(run)
    expected = '2 of 8 members left out: 1 not converged, 1 diverged'
    assert describe_left_out(rows) == expected
    assert rows.solution.tolist().count('memorizing') == 1


def test_one_member_of_a_seed_so_that_intervals_are_over_seeds(tmp_path):
    answers = {(0.8, seed): {'inferential': 0.9 + seed / 100} for seed in range(4)}
    answers |= {(0.3, 3): {'inferential': 1.0}, (0.3, 2): {'inferential': 0.91}}
    choices = choose_members(open_planted(tmp_path, answers, **SEEDS))
    chosen = choices['inferential'].members
    found = [(point['gamma'], point['seed']) for point in chosen]
    assert found == [(0.3, 3), (0.8, 2), (0.8, 1), (0.8, 0)]


def test_at_most_five_members(tmp_path):
    seeds = range(MOST + 2)
    answers = {(0.8, seed): {'inferential': 0.92 + seed / 100} for seed in seeds}
    run = open_planted(tmp_path, answers, grid__seed=tuple(seeds))
    chosen = choose_members(run)['inferential'].members
    assert [point['seed'] for point in chosen] == [6, 5, 4, 3, 2]


def test_both_solutions_are_of_the_architecture_that_has_both(tmp_path):
    answers = {}
    for seed in range(4):
        answers[1, 0.3, seed] = INFERENTIAL
        answers[1, 0.8, seed] = INFERENTIAL
    answers[2, 0.3, 0] = SYMMETRIC
    answers[2, 0.8, 1] = INFERENTIAL
    choices = choose_members(open_planted(tmp_path, answers, **SEEDS, **DEPTHS))
    for solution, seed in (('inferential', 1), ('symmetric', 0)):
        [point] = choices[solution].members
        assert (point['depth'], point['seed']) == (2, seed)


@pytest.mark.parametrize(
    ('answer', 'about'),
    [
        (
            {'inferential': 0.41},
            'most inferential member: 0.41, not a solution (other)',
        ),
        (
            {'inferential': 0.95, 'train_loss': 0.312},
            'most inferential member: 0.95, not converged (train loss 0.31)',
        ),
    ],
)
def test_a_member_that_is_at_no_solution_is_shown_but_not_read(tmp_path, answer, about):
    answers = {(0.8, 0): answer, (0.3, 1): SYMMETRIC}
    choices = choose_members(open_planted(tmp_path, answers))
    inferential = choices['inferential']
    assert inferential.members == []
    assert inferential.about == about
    assert inferential.shown['gamma'] == 0.8
    assert choices['symmetric'].shown['gamma'] == 0.3


@pytest.mark.parametrize(
    ('answer', 'kept', 'hidden'),
    [
        ({'inferential': 0.4, 'symmetric': 0.4}, 'inferential', 'symmetric'),
        ({'inferential': 0.1, 'symmetric': 0.7}, 'symmetric', 'inferential'),
    ],
)
def test_one_network_is_never_shown_for_both(tmp_path, answer, kept, hidden):
    choices = choose_members(open_planted(tmp_path, {(0.8, 0): answer}))
    assert choices[kept].shown['gamma'] == 0.8
    assert choices[hidden].shown is None
    expected = f'none: the most {hidden} member is the most {kept} one'
    assert choices[hidden].about == expected
