"""Addition: every text by hand, every pair counted, the square never trained."""

import functools
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorjax import config
from anchorjax.tasks import addition, texts
from anchorjax.tasks.addition import AdditionConfig
from anchorjax.training import evaluation
from anchorjax.training.curves import DEVIATION_LIMIT
from tests.support.official_data import find_official
from tests.tasks.draws import draw_eval_sets

CHARACTERS = '0123456789+=.'  # the last is END
OFFICIAL = 'addition/case_or_rule_1hole_50_50_len10_test.json'


write_digits = jax.jit(addition.write_digits, static_argnums=0)
to_training_batch = jax.jit(texts.to_training_batch, static_argnums=1)


def spell(tokens_T: np.ndarray) -> str:
    return ''.join(CHARACTERS[token] for token in tokens_T)


def is_inside(pair: tuple[int, int], square: tuple[int, int] = (400, 600)) -> bool:
    return all(square[0] <= operand <= square[1] for operand in pair)


@pytest.mark.parametrize(
    ('a', 'b', 'text', 'asked'),
    [
        #             reads         is asked        what counts, at '=' first
        (0, 0, '0+0=0........', '   0.       '),
        (12, 340, '12+340=352...', '      352.  '),
        (999, 1, '999+1=1000...', '     1000.  '),
        (999, 999, '999+999=1998.', '       1998.'),
    ],
)
def test_texts_by_hand(a, b, text, asked):
    config = AdditionConfig()
    written = write_digits(config, jnp.array([a]), jnp.array([b]))
    assert spell(written.tokens_BL[0]) == text
    batch = to_training_batch(written, 'answer')
    assert spell(batch.tokens_BT[0]) == text[:-1]
    assert spell(batch.targets_BQ[0]) == text[1:]
    weights = [character != ' ' for character in asked]
    np.testing.assert_array_equal(batch.weights_BQ[0], weights)
    scored = texts.to_scored_batch(written, score_end=False)
    without_end = [character not in ' .' for character in asked]
    np.testing.assert_array_equal(scored.weights_BQ[0], without_end)


@pytest.mark.parametrize(
    ('loss_on', 'counted'),
    [
        #                  what 7+5=12....... is asked for, place by place
        ('answer', '000111000000'),
        ('answer_and_padding', '000111111111'),
        ('text', '111111000000'),
        ('all', '111111111111'),
    ],
)
def test_what_counts_in_the_loss(loss_on, counted):
    written = write_digits(AdditionConfig(), jnp.array([7]), jnp.array([5]))
    batch = to_training_batch(written, loss_on)
    assert batch.weights_BQ[0].tolist() == [int(digit) for digit in counted]


def test_padding_is_no_answer_of_the_histogram(monkeypatch):
    """Planted: 9 is the answer to everything; the square asks 4+4, 4+5, 5+4, 5+5."""

    def say_nine(experiment, params, tokens_BT, last_only):
        return jax.nn.one_hot(jnp.full((len(tokens_BT), 1), 9), 19)

    monkeypatch.setattr(evaluation, 'compute_logits', say_nine)
    c = config.default(task='addition')
    c.task.update(largest=9, square=(4, 5), encoding='numbers', eval_examples=8)
    c.train.update(batch_size=8, num_steps=1)
    c.optimizer.warmup_steps = 0
    experiment = config.resolve(c)
    task = experiment.task.make()
    evaluate = jax.jit(functools.partial(evaluation.evaluate, experiment, task))
    scores = evaluate(jax.random.key(0), None)
    shares = scores['deviation'][DEVIATION_LIMIT - 1 : DEVIATION_LIMIT + 2]
    np.testing.assert_array_equal(shares, [1 / 4, 2 / 4, 1 / 4])


@settings(max_examples=10)
@given(st.data())
def test_pairs_inside_and_outside_of_any_square_are_all_pairs(data):
    largest = data.draw(st.integers(1, 25))
    low = data.draw(st.integers(0, largest))
    high = data.draw(st.integers(low, largest))
    if (low, high) == (0, largest):
        return
    config = AdditionConfig(largest=largest, square=(low, high))
    number_N = jnp.arange(26**2)  # as many as there are at most: nothing new compiles
    outside = addition.row_outside(config, number_N)[: config.num_outside].tolist()
    inside = addition.row_inside(config, number_N)[: config.num_inside].tolist()
    rows = range((largest + 1) ** 2)
    is_in = [is_inside(divmod(row, largest + 1), (low, high)) for row in rows]
    assert inside == [row for row in rows if is_in[row]]
    assert outside == [row for row in rows if not is_in[row]]


def test_the_format_is_that_of_the_case_based_test():
    rows = json.loads(find_official(OFFICIAL).read_text())
    config = AdditionConfig(largest=99, square=(40, 60), eval_examples=441)
    eval_sets = draw_eval_sets(config)
    last_BQ = eval_sets.targets_PRBQ[-1, 0, :, -1:]
    texts_BL = np.concatenate([eval_sets.tokens_PBT[-1], last_BQ], axis=1)
    ours = {spell(text_L).rstrip('.') for text_L in texts_BL}
    official = {row['question'] + row['answers'][0] for row in rows}
    assert ours == official and len(ours) == 441
