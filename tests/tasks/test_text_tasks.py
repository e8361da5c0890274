"""What holds of every text task: its rows are trained and asked as they are written."""

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from anchorjax.tasks import Batch, EvalSets, cogs, prontoqa
from anchorjax.tasks.addition import AdditionConfig
from anchorjax.tasks.cogs.task import list_tokens as list_words_of_cogs
from anchorjax.tasks.prontoqa.texts import list_tokens, write_answer, write_prompt
from anchorjax.tasks.scan import grammar
from anchorjax.tasks.scan.task import TOKENS, ScanConfig
from anchorjax.tasks.texts import TextTask

SCAN = ScanConfig(num_examples=200, eval_examples=300)
COGS = cogs.CogsConfig(num_examples=90, eval_examples=105, seq_len=640)
PRONTOQA = {'hops': 2, 'num_examples': 40, 'eval_examples': 50}
PROOFS = prontoqa.ProntoqaConfig(**PRONTOQA)
JUDGEMENTS = prontoqa.ProntoqaConfig(**PRONTOQA, chain_of_thought=False)
ADDITION = {'largest': 29, 'square': (10, 15), 'num_examples': 300, 'eval_examples': 50}
DIGITS = AdditionConfig(**ADDITION)
NUMBERS = AdditionConfig(**ADDITION, encoding='numbers')


class Text(NamedTuple):
    """A row as it is written by hand: words between spaces."""

    prompt: str
    answer: str
    group: str
    asked: str = ''  # of the answer in eval sets; '': all


def write_command(row: int) -> Text:
    command = grammar.list_commands()[row]
    actions = grammar.interpret(command)
    first = 1 + 8 * ((len(actions) - 1) // 8)
    group = f'actions_{first}_{first + 7}'
    return Text(f'IN {command} OUT', f'{" ".join(actions)} END', group)


def write_sentence(row: int) -> Text:
    sentence, form, case = cogs.list_rows('', 0, 105, 105)[row]
    group = 'exposure' if case.startswith('exposure') else case
    return Text(f'IN {sentence} OUT', f'{form} END', group)


def write_question(config: prontoqa.ProntoqaConfig, row: int) -> Text:
    question = prontoqa.list_questions(config)[row]
    words = ' '.join(spread(write_prompt(question)))
    answer = write_answer(question, config.chain_of_thought)
    judgement = str(question.answer)
    return Text(words, ' '.join([*spread(answer), 'END']), judgement.lower(), judgement)


def spread(text: str) -> list[str]:
    """The words and marks of PrOntoQA's sentences, which begin with small letters."""
    names = list_tokens()
    words = text.replace('.', ' .').replace(':', ' :').split()
    return [word if word in names else word[0].lower() + word[1:] for word in words]


def write_digits(row: int) -> Text:
    a, b = divmod(row, 30)
    return Text(' '.join(f'{a}+{b}='), ' '.join(f'{a + b}.'), name_region(a, b))


def write_numbers(row: int) -> Text:
    a, b = divmod(row, 30)
    return Text(f'{a} {b}', f'{a + b}', name_region(a, b))


def name_region(*operands: int) -> str:
    places = ['low' if x < 10 else 'inside' if x <= 15 else 'high' for x in operands]
    return '_'.join(places)


NUMBERED = [str(number) for number in range(600)]
CASES: dict[str, tuple[TextTask, Sequence[str], Callable[[int], Text]]] = {
    'scan': (SCAN, TOKENS, write_command),
    'cogs': (COGS, list_words_of_cogs(), write_sentence),
    'proofs': (PROOFS, list_tokens(), functools.partial(write_question, PROOFS)),
    'judgements': (
        *(JUDGEMENTS, list_tokens()),
        functools.partial(write_question, JUDGEMENTS),
    ),
    'digits': (DIGITS, '0123456789+=.', write_digits),
    'numbers': (NUMBERS, NUMBERED, write_numbers),
}
# Sequences of each eval set, which are not padding.
NUM_ASKED = {
    'scan': [200, 300, 300],
    'cogs': [90, 105, 105],
    'proofs': [40, 50, 50],
    'judgements': [40, 50],
    'digits': [50, 50, 36],
    'numbers': [50, 50, 36],
}


# Those that take longest, or are as another one, are slow.
every_case = pytest.mark.parametrize(
    'case',
    [
        pytest.param(name, marks=pytest.mark.slow)
        if name in ('cogs', 'judgements')
        else name
        for name in CASES
    ],
)


class Drawn(NamedTuple):
    """What a case draws from a key."""

    row_N: np.ndarray  # of its training examples
    batch: Batch
    asked: dict[str, tuple[np.ndarray, np.ndarray]]  # rows of an eval set, which count
    eval_sets: EvalSets


@functools.cache
def draw(case: str) -> Drawn:
    """By one program, since each is compiled for seconds."""
    config = CASES[case][0]
    task = config.make()

    @jax.jit
    def run(key: jax.Array) -> Drawn:
        data, number_N = task.make_data(key), jnp.arange(config.num_train)
        row_N, batch = config.train(key, number_N), task.batch(data, number_N)
        return Drawn(row_N, batch, config.draw_asked(key), task.eval_sets(data))

    return jax.device_get(run(jax.random.key(0)))


def spell(names: Sequence[str], tokens: np.ndarray, weights: np.ndarray) -> str:
    return ' '.join(names[token] for token in tokens[weights > 0])


@every_case
def test_the_trained_texts_are_those_of_their_rows(case):
    config, names, write = CASES[case]
    row_N, batch, _, _ = draw(case)
    weights_BQ = batch.weights_BQ
    if weights_BQ is None:
        weights_BQ = np.ones(batch.targets_BQ.shape)
    for b, row in enumerate(row_N.tolist()):
        text = write(row)
        written = f'{text.prompt} {text.answer}'
        read = np.append(batch.tokens_BT[b], batch.targets_BQ[b, -1])
        read = read[: len(written.split())]
        assert ' '.join(names[token] for token in read) == written
        rest = written.partition(' ')[2]
        expected = rest if config.loss_on == 'text' else text.answer
        assert spell(names, batch.targets_BQ[b], weights_BQ[b]) == expected


@every_case
def test_eval_sets_ask_for_the_answers_of_their_rows(case):
    config, names, write = CASES[case]
    task = config.make()
    _, _, asked, eval_sets = draw(case)
    assert set(task.eval_set_names) == set(asked)
    for p, name in enumerate(task.eval_set_names):
        rows, is_real_B = asked[name]
        weights_BQ = eval_sets.weights_PBQ[p]
        np.testing.assert_array_equal(weights_BQ.any(-1), is_real_B)
        assert is_real_B.sum() == NUM_ASKED[case][p]
        for b, row in enumerate(rows[is_real_B].tolist()):
            text = write(row)
            found = spell(names, eval_sets.targets_PRBQ[p, 0, b], weights_BQ[b])
            is_whole = name.endswith('proof') or not text.asked
            assert found == (text.answer if is_whole else text.asked)
            assert task.group_names[eval_sets.groups_PB[p, b]] == text.group
