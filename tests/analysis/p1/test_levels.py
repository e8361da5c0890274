"""A network that answers as one level is explained by it; tables explain no more."""

import itertools

import numpy as np
import pandas as pd
import pytest

from analysis.p1 import levels
from analysis.p1.claims import add_levels, read_when_known
from analysis.p1.predictors import LEVELS, explain_member, list_questions, score_tables
from tests.support import cases
from tests.support.networks.planted import plant_answers

SEED = 0


def ask_rule(monkeypatch, shift_of):
    member = plant_answers(monkeypatch, lambda a, b, x: x + shift_of(a, b))
    return explain_member(member)


SHIFTS = {1: 3, 2: 1, 3: -1, 4: -2}  # of cases.tiny; (3, 4) is trained on x + 2


def compose(a, b):
    return 2 if (a, b) == (3, 4) else SHIFTS[a] + SHIFTS[b]


def reverse(a, b):
    return 2 if {a, b} == {3, 4} else SHIFTS[a] + SHIFTS[b]


def test_a_composing_network_is_explained_by_composition(monkeypatch):
    found = ask_rule(monkeypatch, compose)
    assert found.loc['trained', 'datum'] == 1
    assert found.loc['held-out', 'ordered pair'] == 1
    assert found.loc['held-out', 'datum'] == 0
    assert found.loc['unseen', 'composed'] == 1
    assert found.loc['unseen', 'unordered pair'] == 0


def test_a_symmetric_network_by_the_reverse(monkeypatch):
    found = ask_rule(monkeypatch, reverse)
    assert found.loc['unseen', 'unordered pair'] == 1
    assert found.loc['unseen', 'composed'] == 0


def test_one_that_copies_the_key_by_nothing(monkeypatch):
    shares = ask_rule(monkeypatch, lambda a, b: 0)
    # Of all pairs (4, 1), (1, 4) ... none has the shift 0 but (2, 3) and (3, 2).
    is_zero = [compose(a, b) == 0 for a, b in itertools.product(SHIFTS, repeat=2)]
    explained = shares.loc['held-out', 'ordered pair']
    assert explained == pytest.approx(np.mean(is_zero) * 16 / 15, abs=0.02)
    assert shares.loc['unseen'].max() == 0


@pytest.mark.parametrize('both', [False, pytest.param(True, marks=pytest.mark.slow)])
def test_questions_are_all_there_and_trained_ones_are_examples(both):
    unseen = ((4, 3), (3, 4)) if both else ((4, 3),)
    fields = {'task__unseen': unseen}
    if both:
        fields['task__noninferential'] = ()
    config = cases.tiny(task__num_examples=400, **fields).task
    tokens_NT, questions = list_questions(config, SEED)
    position_N, key_N, pairs_N2 = cases.decode(tokens_NT)
    asked = set(zip(position_N, key_N, map(tuple, pairs_N2.tolist()), strict=True))
    assert len(asked) == len(key_N) == 16 * 2 * 8
    for n, pair in enumerate(map(tuple, pairs_N2.tolist())):
        kind = questions.kind[n]
        assert (kind == 'unseen') == (pair in unseen)
        datum, function, unordered, composed = questions[LEVELS].loc[n]
        assert np.isnan(datum) == (kind != 'trained')
        assert np.isnan(function) == (pair in unseen)
        assert np.isnan(unordered) == (pair in unseen and both)
        assert composed == key_N[n] + (compose(*pair) if not both else sum_of(pair))
    # 400 nominal examples are 25 a pair, of which 22 are drawn: not every question.
    assert 0 < (questions.kind == 'trained').sum() <= 22 * (16 - len(unseen))


def sum_of(pair):
    return SHIFTS[pair[0]] + SHIFTS[pair[1]]


def test_each_level_explains_itself_and_less_is_explained_by_those_before():
    config = cases.tiny().task
    scores = score_tables(config, SEED)
    own = {level: scores[level][level].tolist() for level in LEVELS}
    assert own == {
        'datum': [1, 0, 0],
        'ordered pair': [1, 1, 0],
        'unordered pair': [1, 1, 1],
        'composed': [1, 1, 1],
    }
    # The null of a line: the level before explains nothing of what the line shows.
    assert scores['datum'].loc['held-out'].max() == 0
    assert scores['ordered pair'].loc['unseen'].max() == 0
    assert scores['composed'].loc['unseen', 'unordered pair'] == 0
    assert scores['unordered pair'].loc['unseen', 'composed'] == 0


@pytest.mark.slow
def test_of_a_sweep_every_snapshot_is_asked(finished):
    answers = levels.compute(finished)
    assert len(answers) == 8 * 5 and answers.step.unique().tolist() == [0, 1, 4, 15, 40]
    assert set(answers.num_train) == {15 * 18}
    member = finished.network(15, depth=2, gamma=0.8, seed=1)
    here = answers[(answers.depth == 2) & (answers.gamma == 0.8) & (answers.seed == 1)]
    (share,) = here.heldout_as_function[here.step == 15]
    assert share == explain_member(member).loc['held-out', 'ordered pair']
    members = add_levels(finished, finished.members)
    last = answers[answers.step == 40]
    np.testing.assert_array_equal(members.unseen_as_composed, last.unseen_as_composed)
    assert {*levels.LINES, 'heldout_when_known'} <= set(members)


def test_what_is_known_is_read_between_two_snapshots():
    """Trained 0.7, then 1.0: 0.9 is two thirds of the way, and 0.5 from 0.1 to 0.7."""
    answers = pd.DataFrame(
        {'trained_as_data': [0, 0.7, 1], 'heldout_as_function': [0, 0.1, 0.7]}
    )
    assert read_when_known(answers) == pytest.approx(0.5)
    assert np.isnan(read_when_known(answers[:2]))
