"""PrOntoQA: every proof is checked by rules of its own, ours and the official ones."""

import collections
import dataclasses
import json
import pathlib

import numpy as np
import pytest

from anchorjax.errors import ConfigError, UserError
from anchorjax.tasks.prontoqa import ProntoqaConfig, sentences, shortcuts, worlds
from anchorjax.tasks.prontoqa import files as prontoqa_files
from anchorjax.tasks.prontoqa import task as prontoqa
from anchorjax.tasks.prontoqa.sentences import Question, Statement, parse
from anchorjax.tasks.prontoqa.words import list_concepts
from tests.support.official_data import find_official

OFFICIAL = 'prontoqa/logic_llm_prontoqa_dev.json.gz'
SETTINGS = [
    (ontology, order, 'original')
    for ontology in ('fictional', 'false', 'true')
    for order in ('postorder', 'preorder', 'random')
]
SETTINGS += [('fictional', 'postorder', 'twin'), ('fictional', 'random', 'twin')]
# By hand: 'Rex' is a wumpus, hence a yumpus, hence not red.
BY_HAND = Question(
    (
        'Impuses are red.',
        'Each wumpus is an impus.',
        'Yumpuses are not red.',
        'Every wumpus is a yumpus.',
    ),
    'Rex is a wumpus.',
    'Rex is red.',
    (
        'Rex is a wumpus.',
        'Every wumpus is a yumpus.',
        'Rex is a yumpus.',
        'Yumpuses are not red.',
        'Rex is not red.',
    ),
    False,
)


def draw(number: int, hops: int, *setting: str, seed: int = 0) -> list[Question]:
    random = np.random.default_rng(seed)
    return [worlds.draw_question(random, hops, *setting) for _ in range(number)]


def count_hops(question: Question) -> int:
    return len(question.chain) // 2


def check_proof(question: Question) -> None:
    """Fails unless the proof follows from the context, step by step, to the answer."""
    assert question.chain[0] == question.premise
    known = parse(question.premise)
    entity = known.subject
    steps = zip(question.chain[1::2], question.chain[2::2], strict=True)
    for rule_text, fact_text in steps:
        assert question.rules.count(rule_text) == 1
        rule, fact = parse(rule_text), parse(fact_text)
        assert known.is_true and rule.subject == known.predicate
        assert fact == rule._replace(subject=entity)
        known = fact
    assert known.predicate not in list_concepts()
    query = parse(question.query)
    assert (query.subject, query.predicate) == (entity, known.predicate)
    assert question.answer == (query.is_true == known.is_true)


def find_distractors(question: Question) -> list[Statement]:
    """The rules that say the opposite of the conclusion."""
    conclusion = parse(question.chain[-2])
    rules = [parse(rule) for rule in question.rules]
    asked = [rule for rule in rules if rule.predicate == conclusion.predicate]
    return [rule for rule in asked if rule.is_true != conclusion.is_true]


def count_mentions(question: Question, concept: str) -> int:
    statements = [parse(rule) for rule in (*question.rules, question.premise)]
    return sum(concept in (s.subject, s.predicate) for s in statements)


def read_official() -> list[Question]:
    return prontoqa_files.read_questions(find_official(OFFICIAL))


@pytest.mark.parametrize(
    ('sentence', 'statement'),
    [
        ('Every wumpus is an impus.', Statement('wumpus', 'impus')),
        ('Each wumpus is not red.', Statement('wumpus', 'red', False)),
        ('Wumpuses are not red.', Statement('wumpus', 'red', False)),
        ('Painted ladies are butterflies.', Statement('painted lady', 'butterfly')),
        ('Sheep are not carnivorous.', Statement('sheep', 'carnivorous', False)),
        ('Mersenne primes are prime.', Statement('Mersenne prime', 'prime')),
        ('7 is a Mersenne prime.', Statement('7', 'Mersenne prime')),
        ('Every real number is real.', Statement('real number', 'real')),
        ('Max is not cold-blooded.', Statement('Max', 'cold-blooded', False)),
    ],
)
def test_sentences_by_hand(sentence, statement):
    assert parse(sentence) == statement
    if statement.subject in ('Max', '7'):
        assert sentences.write_fact(statement) == sentence
        return
    random = np.random.default_rng(0)
    forms = {sentences.write_rule(statement, random) for _ in range(50)}
    assert sentence in forms and len(forms) == 3
    assert {parse(form) for form in forms} == {statement}


def test_every_official_example_is_as_specified():
    questions = read_official()
    assert len(questions) == 500
    for question in questions:
        check_proof(question)
        assert count_hops(question) == 5
        (odd_one,) = find_distractors(question)
        assert count_mentions(question, odd_one.subject) == 1


@pytest.mark.parametrize('setting', SETTINGS, ids='-'.join)
@pytest.mark.parametrize('hops', [pytest.param(1, marks=pytest.mark.slow), 5])
def test_every_question_is_as_specified(hops, setting):
    ontology, order, distractor = setting
    config = ProntoqaConfig(
        hops=hops, ontology=ontology, order=order, distractor=distractor
    )
    questions = draw(80, hops, *setting)
    for question in questions:
        check_proof(question)
        assert count_hops(question) == hops
        (odd_one,) = find_distractors(question)
        if distractor == 'original' and ontology != 'true':
            assert count_mentions(question, odd_one.subject) == 1
        assert len(set(question.rules)) == len(question.rules)
        text = prontoqa.encode(prontoqa.write_prompt(question))
        proof = prontoqa.encode(prontoqa.write_answer(question, True))
        assert len(text + proof) <= config.seq_len
    num_true = sum(question.answer for question in questions)
    assert abs(num_true - 40) < 3 * 20**0.5


@pytest.mark.slow
def test_the_shares_are_those_of_the_official_generator():
    """Fictional, 5 hops: DATASETS 4.3 has the prediction and the official counts."""
    questions = draw(4_000, 5)
    negated = sum(not parse(question.chain[-1]).is_true for question in questions)
    assert abs(negated / 4_000 - 0.4715) < 0.025
    sizes = collections.Counter(len(question.rules) + 1 for question in questions)
    predicted = {12: 36, 14: 33, 16: 31, 18: 400}
    assert set(sizes) == set(predicted)
    for size, of_500 in predicted.items():
        assert abs(sizes[size] / 8 - of_500) < 4 * of_500**0.5 / 8**0.5 + 1


@pytest.mark.slow
def test_the_shortcut_solves_the_original_and_not_the_twin():
    for questions in (read_official(), draw(500, 5)):
        guesses = [shortcuts.guess_by_recurrence(q) for q in questions]
        assert guesses == [question.answer for question in questions]
    for order in ('postorder', 'random'):
        questions = draw(1_000, 5, 'fictional', order, 'twin')
        for guess in (shortcuts.guess_by_recurrence, shortcuts.guess_by_distance):
            num_right = sum(guess(q) == q.answer for q in questions)
            assert abs(num_right / 1_000 - 0.5) < 0.07


def test_the_shortcuts_by_hand():
    # Impuses and yumpuses are mentioned twice each; the first rule is trusted.
    assert shortcuts.guess_by_recurrence(BY_HAND) is True
    rules = ('Tumpuses are yumpuses.', *BY_HAND.rules)
    assert shortcuts.guess_by_recurrence(BY_HAND._replace(rules=rules)) is False
    # 'Impuses are red' is next to a rule about wumpuses, and so is the other.
    assert shortcuts.guess_by_distance(BY_HAND) is True
    apart = (BY_HAND.rules[0], 'Tumpuses are small.', *BY_HAND.rules[2:])
    assert shortcuts.guess_by_distance(BY_HAND._replace(rules=apart)) is False


@pytest.mark.parametrize('chain_of_thought', [True, False])
def test_texts_by_hand(chain_of_thought):
    prompt = prontoqa.encode(prontoqa.write_prompt(BY_HAND))
    answer = prontoqa.encode(prontoqa.write_answer(BY_HAND, chain_of_thought))
    words = prontoqa.list_tokens()
    assert ' '.join(words[token] for token in prompt) == (
        'Q : impuses are red . each wumpus is an impus . yumpuses are not red . '
        'every wumpus is a yumpus . Rex is a wumpus . True or false : Rex is red . A :'
    )
    proof = (
        'Rex is a wumpus . every wumpus is a yumpus . Rex is a yumpus . '
        'yumpuses are not red . Rex is not red . '
    )
    expected = f'{proof if chain_of_thought else ""}False'
    assert ' '.join(words[token] for token in answer) == expected


def test_a_larger_pool_begins_with_the_smaller_one():
    small = ProntoqaConfig(hops=1, num_examples=20, eval_examples=10)
    large = ProntoqaConfig(hops=1, num_examples=90, eval_examples=10)
    ours = prontoqa.list_questions(large)
    assert ours[:30] == prontoqa.list_questions(small)
    other = ProntoqaConfig(hops=1, num_examples=20, eval_examples=10, pool_seed=1)
    assert not set(prontoqa.list_questions(other)) & set(ours)


def write_questions(path: pathlib.Path, questions: list[Question]) -> None:
    path.write_text(json.dumps(prontoqa_files.format_questions(questions)))


def test_a_file_is_read_back_and_holds_enough_questions_that_fit(tmp_path):
    questions = draw(20, 3)
    path = tmp_path / 'ours.json'
    write_questions(path, questions)
    config = ProntoqaConfig(hops=3, path=str(path), num_examples=12, eval_examples=8)
    assert prontoqa.list_questions(config) == questions
    assert len(prontoqa.make_table(config).length_N) == 20
    too_many = dataclasses.replace(config, num_examples=13)
    with pytest.raises(ConfigError, match=r'task.num_examples: 21 .* at most the 20 q'):
        prontoqa.list_questions(too_many)
    fewer_hops = dataclasses.replace(config, hops=1)
    with pytest.raises(ConfigError, match=r'ours.json.: question \d+ has \d+ tokens'):
        prontoqa.make_table(fewer_hops)


@pytest.mark.parametrize(
    ('changed', 'reason'),
    [
        ({'answer': True}, 'the answer True contradicts the proof'),
        ({'query': 'Rex is small.'}, 'which is not asked'),
        ({'chain': (*BY_HAND.chain[:-1], 'Rex is red.')}, "'Rex is red.' of the proof"),
    ],
)
def test_a_wrong_proof_in_a_file_is_named(tmp_path, changed, reason):
    path = tmp_path / 'wrong.json'
    write_questions(path, [BY_HAND, BY_HAND._replace(**changed)])
    with pytest.raises(UserError, match=f'example2 test_example: .*{reason}'):
        prontoqa_files.read_questions(path)
