"""Prompts: every equation is true, and nothing shown answers what is new."""

import re

import pytest

from anchorjax import config
from anchorjax.errors import ConfigError
from anchorjax.extras.prompts.questions import draw_prompts
from tests.support.cases import TABLE

INFERENTIAL, SYMMETRIC, ASSIGNED = 0, 1, 2
EQUATION = re.compile(r'^\((\d+), (\d+), (\d+)\) = (-?\d+)$', re.M)


def draw(number=20, shots=3, **task):
    loaded = config.default()
    loaded.task.update(task)
    loaded.grid.seed = (0,)
    return draw_prompts(config.resolve(loaded), number, shots, instruct=True)


@pytest.fixture(scope='module')
def prompts():
    return draw()


def read(prompt):
    """The equations in the text itself: {(a, b): [(x, y)]}."""
    shown = {}
    for a, b, x, y in EQUATION.findall(prompt.prompt):
        shown.setdefault((int(a), int(b)), []).append((int(x), int(y)))
    return shown


def test_every_trained_pair_is_shown_as_the_table_by_hand_says(prompts):
    for prompt in prompts:
        shown = read(prompt)
        assert set(shown) == set(TABLE) - {(4, 3)}
        for pair, rows in shown.items():
            assert len({x for x, _ in rows}) == 3
            for x, y in rows:
                assert 20 <= x < 100 and y - x == TABLE[pair][ASSIGNED]


def test_the_answers_are_those_of_the_mappings(prompts):
    assert {p.asked[:2] for p in prompts if p.eval_set == 'unseen'} == {(4, 3)}
    seen = {p.asked[:2] for p in prompts if p.eval_set == 'seen_heldout'}
    assert seen == set(TABLE) - {(4, 3)}
    for prompt in prompts:
        first, second, x = prompt.asked
        assert prompt.prompt.endswith(f'\n({first}, {second}, {x}) =')
        names = ('composed', 'symmetric', 'assigned')
        assert tuple(prompt.answers[m] - x for m in names) == TABLE[first, second]


def test_a_new_key_is_shown_with_neither_order_of_the_pair(prompts):
    for prompt in prompts:
        first, second, x = prompt.asked
        shown = read(prompt)
        keys = [key for key, _ in shown.get((first, second), [])]
        both = keys + [key for key, _ in shown.get((second, first), [])]
        if prompt.eval_set == 'seen_train':
            assert x in keys
        else:
            assert x not in both


def test_a_larger_set_contains_the_smaller(prompts):
    assert {prompt.id for prompt in prompts} > {prompt.id for prompt in draw(2)}
    text_of = {prompt.id: prompt.prompt for prompt in prompts}
    assert all(text_of[prompt.id] == prompt.prompt for prompt in draw(2))


@pytest.mark.parametrize(('shots', 'number'), [(0, 1), (80, 1), (1, 0)])
def test_impossible_numbers_are_refused(shots, number):
    with pytest.raises(ConfigError, match=r'^(shots|number) = \d+: must be'):
        draw(number, shots)
