"""A network that answers as one level is explained by it; tables explain no more."""

import itertools
from typing import NamedTuple

import numpy as np
import pytest

from analysis.families.readings import levels as readings
from analysis.members.levels import (
    KINDS,
    LEVELS,
    explain_answers,
    explain_member,
    list_questions,
    score_tables,
)
from analysis.p1 import levels
from analysis.p1.levels import LINES, Result
from anchorjax.errors import UserError
from tests.support import cases
from tests.support.drawing import draw_pixels
from tests.support.networks.planted import make_member

SEED = 0


class Answers(NamedTuple):
    logits: np.ndarray  # [B, T, V]


class Rule:
    """Answers as a function of pair and key, at the last position."""

    def __init__(self, config, shift_of):
        self.config = config
        self.shift_of = shift_of

    def apply(self, variables, tokens_BT, last_only=True, edit=None):
        tokens_BT = np.asarray(tokens_BT)
        _, keys_B, pairs_B2 = cases.decode(tokens_BT)
        logits = np.zeros((*tokens_BT.shape, self.config.vocab))
        for b, pair in enumerate(map(tuple, pairs_B2.tolist())):
            logits[b, -1, keys_B[b] + self.shift_of(*pair)] = 1
        return Answers(logits)


def ask_rule(monkeypatch, shift_of, **fields):
    member = make_member(None, **fields)
    rule = Rule(member.experiment.task, shift_of)
    monkeypatch.setattr(type(member), 'forward', lambda self, x: rule.apply({}, x))
    return explain_member(member)


SHIFTS = {1: 3, 2: 1, 3: -1, 4: -2}  # of cases.tiny; (3, 4) is trained on x + 2


def compose(a, b):
    return 2 if (a, b) == (3, 4) else SHIFTS[a] + SHIFTS[b]


def reverse(a, b):
    return 2 if {a, b} == {3, 4} else SHIFTS[a] + SHIFTS[b]


def test_a_composing_network_is_explained_by_composition(monkeypatch):
    found = ask_rule(monkeypatch, compose)
    assert found.read('trained', 'datum') == 1
    assert found.read('held-out', 'ordered pair') == 1
    assert found.read('held-out', 'datum') == 0
    assert found.read('unseen', 'composed') == 1
    assert found.read('unseen', 'unordered pair') == 0


def test_a_symmetric_network_by_the_reverse(monkeypatch):
    found = ask_rule(monkeypatch, reverse)
    assert found.read('unseen', 'unordered pair') == 1
    assert found.read('unseen', 'composed') == 0


def test_one_that_copies_the_key_by_nothing(monkeypatch):
    shares = ask_rule(monkeypatch, lambda a, b: 0).share_KL
    # Of all pairs (4, 1), (1, 4) ... none has the shift 0 but (2, 3) and (3, 2).
    is_zero = [compose(a, b) == 0 for a, b in itertools.product(SHIFTS, repeat=2)]
    assert shares[1, 1] == pytest.approx(np.mean(is_zero) * 16 / 15, abs=0.02)
    assert shares[2].max() == 0


@pytest.mark.parametrize('both', [False, True])
def test_questions_are_all_there_and_trained_ones_are_examples(both):
    unseen = ((4, 3), (3, 4)) if both else ((4, 3),)
    fields = {'task__unseen': unseen}
    if both:
        fields['task__noninferential'] = ()
    config = cases.tiny(task__num_examples=400, **fields).task
    questions = list_questions(config, SEED)
    position_N, key_N, pairs_N2 = cases.decode(questions.tokens_NT)
    asked = set(zip(position_N, key_N, map(tuple, pairs_N2.tolist()), strict=True))
    assert len(asked) == len(key_N) == 16 * 2 * 8
    for n, pair in enumerate(map(tuple, pairs_N2.tolist())):
        kind = KINDS[questions.kind_N[n]]
        assert (kind == 'unseen') == (pair in unseen)
        datum, function, unordered, composed = questions.answer_LN[:, n]
        assert (datum == -1) == (kind != 'trained')
        assert (function == -1) == (pair in unseen)
        assert (unordered == -1) == (pair in unseen and both)
        assert composed == key_N[n] + (compose(*pair) if not both else sum_of(pair))
    # 400 nominal examples are 25 a pair, of which 22 are drawn: not every question.
    assert 0 < (questions.kind_N == 0).sum() <= 22 * (16 - len(unseen))


def sum_of(pair):
    return SHIFTS[pair[0]] + SHIFTS[pair[1]]


def test_each_level_explains_itself_and_less_is_explained_by_those_before():
    config = cases.tiny().task
    scores = score_tables(config, SEED)
    for i in range(len(LEVELS)):
        own = scores[i, :, i]
        kinds = {0: [1, 0, 0], 1: [1, 1, 0], 2: [1, 1, 1], 3: [1, 1, 1]}
        assert own.tolist() == kinds[i]
    # The null of a line: the level before explains nothing of what the line shows.
    assert scores[0, 1].max() == 0 and scores[1, 2].max() == 0
    assert scores[3, 2, 2] == scores[2, 2, 3] == 0


def test_random_answers_are_explained_by_chance_alone():
    config = cases.tiny(task__keys=(20, 100), task__vocab=201).task
    questions = list_questions(config, SEED)
    answers_N = np.random.default_rng(0).integers(0, 201, len(questions.kind_N))
    share_KL = explain_answers(answers_N, questions).share_KL
    assert np.nanmax(share_KL) < 0.05


@pytest.mark.slow
def test_of_a_sweep_every_snapshot_is_asked(finished):
    result = levels.compute(finished)
    assert result.share_MSKL.shape == (8, 5, 3, 4)
    assert result.step_S.tolist() == [0, 1, 4, 15, 40]
    assert result.num_train_M.tolist() == [15 * 18] * 8
    first = draw_pixels(result, levels)
    assert np.ptp(first) > 0
    np.testing.assert_array_equal(first, draw_pixels(result, levels))


def test_another_task_is_one_line():
    member = make_member(None)
    task = type('Other', (), {'name': 'modular'})()
    wrong = member._replace(experiment=type('E', (), {'task': task})())
    with pytest.raises(UserError, match="levels are about the task 'anchors'"):
        explain_member(wrong)


LARGE, SMALL = 0.3, 1.3


def make_result(explain, seeds=4, sizes=(100, 1_000)) -> Result:
    """A member for both gammas and every size; explain(gamma, size) -> [S, line]."""
    rows = []
    for size, gamma, seed in itertools.product(sizes, (LARGE, SMALL), range(seeds)):
        rows.append((gamma, seed, size, np.array(explain(gamma, size)) - 1e-3 * seed))
    gamma_M, seed_M, size_M, line_M = map(np.array, zip(*map(list, rows), strict=True))
    share = np.zeros((len(rows), line_M.shape[1], len(KINDS), len(LEVELS)))
    for i, (kind, level) in enumerate(LINES):
        share[..., KINDS.index(kind), LEVELS.index(level)] = line_M[..., i]
    members = {
        'gamma': gamma_M,
        'seed': seed_M,
        'setting': np.array([f'num_examples={size}' for size in size_M]),
        'train_loss': np.full(len(rows), 0.01),
        'converged': np.full(len(rows), True),
    }
    table = np.zeros((len(rows), len(LEVELS), len(KINDS), len(LEVELS)))
    return Result(members, size_M, True, np.array([0, 10, 100]), share, table)


def explain_as_slides(gamma, size):
    """Large: data first, then the reverse; small: composes, with enough examples."""
    know = 1.0 if size > 500 else 0.1
    if gamma == LARGE:
        return [[0, 0, 0, 0], [1, 0.1, 0, 0], [1, 0.5 * know, 0.9, 0]]
    return [[0, 0, 0, 0], [0.2, 0.2 * know, 0, 0.1], [1, 0.9 * know, 0, 0.95]]


def explain_reversed(gamma, size):
    swapped = LARGE if gamma == SMALL else SMALL
    return explain_as_slides(swapped, 1_100 - size)


def read_all(result) -> dict[str, str]:
    setting = 'num_examples=1000'
    found = {
        'composed': readings.read_composed(result, setting),
        'reversed': readings.read_reversed(result, setting),
        'memory': readings.read_memory_first(result, setting, 'large'),
        'at once': readings.read_memory_first(result, setting, 'small'),
        'examples': readings.read_examples(result, ''),
        'fewer': readings.read_fewer_examples(result, ''),
    }
    return {name: reading.verdict.words for name, reading in found.items()}


def test_what_the_slides_say_holds_where_it_is_planted():
    assert set(read_all(make_result(explain_as_slides)).values()) == {'holds'}


def test_what_is_known_is_read_between_two_snapshots():
    """Trained 0.7, then 1.0: 0.9 is two thirds of the way, and 0.5 from 0.1 to 0.7."""

    def explain(gamma, size):
        return [[0, 0, 0, 0], [0.7, 0.1, 0, 0], [1, 0.7, 0, 0]]

    result = make_result(explain, seeds=1)
    number = readings.read_memory_first(result, 'num_examples=1000', 'large').number
    assert '(by step 100): 0.50' in number


def test_the_reversed_pattern_does_not():
    words = read_all(make_result(explain_reversed))
    assert words['composed'] == words['reversed'] == words['fewer'] == 'opposite'
    assert words['examples'] == 'opposite'
    assert words['memory'] == 'holds'  # little is known of anything with few examples
    assert words['at once'] == 'opposite'


def test_numbers_of_examples_at_which_a_seed_is_unconverged_do_not_count():
    result = make_result(explain_as_slides)
    is_open = (result.num_train_M == 1_000) & (result.members['gamma'] == SMALL)
    is_open &= result.members['seed'] == 1
    result.members['converged'][is_open] = False
    reading = readings.read_fewer_examples(result, '')
    assert reading.note.startswith('100 examples; 15 of 16 converged')
    assert f'γ {SMALL:g}: 0.09' in reading.number  # with 1,000 examples 0.9
    result.members['seed'][is_open] = 9  # no seed 1 of that size at the small start
    result.members['converged'][:] = True
    reading = readings.read_fewer_examples(result, '')
    assert reading.verdict.words == 'holds'
    assert 'difference 0.22 [0.22, 0.22]' in reading.number


def test_unconverged_members_or_two_seeds_decide_nothing():
    result = make_result(explain_as_slides)
    result.members['converged'][:] = False
    words = read_all(result)
    assert words['composed'] == words['reversed'] == words['examples'] == 'undecided'
    few = read_all(make_result(explain_as_slides, seeds=2))
    assert set(few.values()) == {'undecided'}
