"""Prompts: every equation is true, and nothing shown answers what is new."""

import re

import pytest

from anchorjax.errors import ConfigError
from anchorjax.prompts.equations import draw_questions, write_prompt
from anchorjax.tasks import AnchorsConfig
from tests.support.cases import TABLE

INFERENTIAL, SYMMETRIC, ASSIGNED = 0, 1, 2
EQUATION = re.compile(r'^\((\d+), (\d+), (\d+)\) = (-?\d+)$', re.M)


@pytest.fixture(scope='module')
def questions():
    return draw_questions(AnchorsConfig(), seed=0, number=30, shots=3)


def read(question):
    """The equations in the prompt's own text: {(a, b): [(x, y)]}."""
    shown = {}
    for a, b, x, y in EQUATION.findall(write_prompt(question, instruct=True)):
        shown.setdefault((int(a), int(b)), []).append((int(x), int(y)))
    return shown


def test_every_trained_pair_is_shown_as_the_table_by_hand_says(questions):
    for question in questions:
        shown = read(question)
        assert set(shown) == set(TABLE) - {(4, 3)}
        for pair, rows in shown.items():
            assert len({x for x, _ in rows}) == 3
            for x, y in rows:
                assert 20 <= x < 100 and y - x == TABLE[pair][ASSIGNED]


def test_the_answers_are_those_of_the_mappings(questions):
    assert {q.asked[:2] for q in questions if q.probe == 'unseen'} == {(4, 3)}
    seen = {q.asked[:2] for q in questions if q.probe == 'seen_heldout'}
    assert seen == set(TABLE) - {(4, 3)}
    for question in questions:
        first, second, x = question.asked
        shifts = [question.answers[m] - x for m in ('inferential', 'symmetric')]
        assert tuple(shifts) == TABLE[first, second][:2]
        assert question.answers['assigned'] - x == TABLE[first, second][ASSIGNED]


def test_a_new_key_is_shown_with_neither_order_of_the_pair(questions):
    for question in questions:
        first, second, x = question.asked
        shown = read(question)
        keys = [key for key, _ in shown.get((first, second), [])]
        both = keys + [key for key, _ in shown.get((second, first), [])]
        if question.probe == 'seen_train':
            assert x in keys
        else:
            assert x not in both


def test_the_prompt_ends_with_what_is_asked(questions):
    question = questions[0]
    first, second, x = question.asked
    prompt = write_prompt(question, instruct=False)
    assert prompt.endswith(f'\n({first}, {second}, {x}) =')
    assert prompt.startswith('(')
    assert write_prompt(question, instruct=True).endswith(prompt)


def test_a_larger_set_begins_with_the_smaller_and_seeds_differ(questions):
    fewer = draw_questions(AnchorsConfig(), seed=0, number=2, shots=3)
    assert fewer[:2] == questions[:2] and fewer[2:4] == questions[30:32]
    other = draw_questions(AnchorsConfig(), seed=1, number=2, shots=3)
    assert all(a != b for a, b in zip(fewer, other, strict=True))


def test_other_configs_have_their_own_probes():
    config = AnchorsConfig(num_anchors=4, exception='unseen', unseen=((4, 3),))
    asked = draw_questions(config, 0, 2, 2)
    pairs = {q.probe: q.asked[:2] for q in asked}
    assert pairs['unseen'] == (4, 3) and pairs['unseen_34'] == (3, 4)
    for question in asked:
        assert not {(3, 4), (4, 3)} & set(read(question))


@pytest.mark.parametrize(('shots', 'number'), [(0, 1), (80, 1), (1, 0)])
def test_impossible_numbers_are_refused(shots, number):
    with pytest.raises(ConfigError, match=r'^(shots|number) = \d+: must be'):
        draw_questions(AnchorsConfig(), 0, number, shots)
