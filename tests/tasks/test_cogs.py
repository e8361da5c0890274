"""COGS: logical forms by hand and on every official row, sentences, the 21 cases."""

import collections
import re

import chex
import numpy as np
import pandas as pd
import pytest

from anchorjax.tasks.cogs import CogsConfig
from anchorjax.tasks.cogs import cases as cogs_cases
from anchorjax.tasks.cogs import files as cogs_files
from anchorjax.tasks.cogs import task as cogs
from anchorjax.tasks.cogs import words as cogs_words
from anchorjax.tasks.cogs.logic import write_logical_form
from anchorjax.tasks.cogs.sampler import Sampler, write_sentence
from tests.support.official_data import find_official
from tests.tasks.draws import draw_batch, draw_eval_sets

NOUN = r'(?:\w+|(?:[Tt]he|[Aa]) \w+)'  # a name, or a noun without a place
PLACE = r'(?: (?:on|in|beside) (?:the|a) \w+)*'
# What every sentence of a case has, ours and the official ones.
PATTERNS = {
    'subj_to_obj_common': r' (?:the|a) hedgehog\b',
    'subj_to_obj_proper': r' Lina\b',
    'obj_to_subj_common': r'\b(?:[Tt]he|[Aa]) cockroach \w+ed|cockroach \w+',
    'obj_to_subj_proper': r'\bCharlie \w+',
    'prim_to_subj_common': r'\b(?:[Tt]he|[Aa]) shark \w+',
    'prim_to_subj_proper': r'\bPaula \w+',
    'prim_to_obj_common': r'\w+ (?:the|a) shark\b',
    'prim_to_obj_proper': r'\w+ Paula\b',
    'prim_to_inf_arg': r'\w+ to crawl\b',
    'active_to_passive': r' was blessed\b',
    'passive_to_active': rf'(?<!was) squeezed {NOUN}',
    'obj_omitted_transitive_to_transitive': rf'(?<!was) baked {NOUN}',
    'unacc_to_transitive': rf'(?<!was) shattered {NOUN}',
    'do_dative_to_pp_dative': rf'\bteleported {NOUN}{PLACE} to {NOUN}',
    'pp_dative_to_do_dative': rf'(?<!was) shipped {NOUN} {NOUN}',
    'only_seen_as_transitive_subj_as_unacc_subj': r'cobra \w+ \.$',
    'only_seen_as_unacc_subj_as_obj_omitted_transitive_subj': r'hippo \w+ \.$',
    'only_seen_as_unacc_subj_as_unerg_subj': r'hippo \w+ \.$',
    'obj_pp_to_subj_pp': r'^(?:The|A) \w+ (?:on|in|beside) (?:the|a) \w+',
    'cp_recursion': r'(?: that .*){3}',
    'pp_recursion': r'(?: (?:on|in|beside) (?:the|a) \w+){3}',
}


def read_official(name: str) -> list[cogs_cases.Row]:
    return cogs_files.read_split(find_official('cogs'), name)


def draw_sentences(number: int) -> list[str]:
    random = np.random.default_rng(0)
    rows = cogs_cases.draw_in_distribution(random, number, set())
    return [row.sentence for row in rows]


@pytest.mark.parametrize(
    ('sentence', 'form'),
    [
        ('Oliver crumpled .', 'crumple . theme ( x _ 1 , Oliver )'),
        (
            'The girl needed to cook .',
            '* girl ( x _ 1 ) ; need . agent ( x _ 2 , x _ 1 ) AND need . xcomp '
            '( x _ 2 , x _ 4 ) AND cook . agent ( x _ 4 , x _ 1 )',
        ),
        (
            'A cat hoped that the dog slept .',
            '* dog ( x _ 5 ) ; cat ( x _ 1 ) AND hope . agent ( x _ 2 , x _ 1 ) AND '
            'hope . ccomp ( x _ 2 , x _ 6 ) AND sleep . agent ( x _ 6 , x _ 5 )',
        ),
        (
            'The girl shipped the cat the brush beside a machine .',
            '* girl ( x _ 1 ) ; * cat ( x _ 4 ) ; * brush ( x _ 6 ) ; ship . agent '
            '( x _ 2 , x _ 1 ) AND ship . recipient ( x _ 2 , x _ 4 ) AND ship . theme '
            '( x _ 2 , x _ 6 ) AND brush . nmod . beside ( x _ 6 , x _ 9 ) AND machine '
            '( x _ 9 )',
        ),
        (
            'Emma was given the cake by a boy .',
            '* cake ( x _ 4 ) ; give . recipient ( x _ 2 , Emma ) AND give . theme '
            '( x _ 2 , x _ 4 ) AND give . agent ( x _ 2 , x _ 7 ) AND boy ( x _ 7 )',
        ),
        ('Emma', 'Emma'),
        ('TV', 'LAMBDA a . tv ( a )'),
        (
            'touch',
            'LAMBDA a . LAMBDA b . LAMBDA e . touch . agent ( e , b ) AND '
            'touch . theme ( e , a )',
        ),
    ],
)
def test_logical_forms_by_hand(sentence, form):
    assert write_logical_form(sentence) == form


def test_sentences_obey_the_limits_of_the_official_ones():
    sentences = draw_sentences(1_000)
    assert len(set(sentences)) == 1_000
    targets = {*cogs_words.TARGET_NOUNS, *cogs_words.TARGET_NAMES}
    nouns = cogs_words.list_nouns() | cogs_words.list_names()
    for sentence in sentences:
        words = sentence.split(' ')
        assert write_logical_form(sentence)
        assert words.count('that') <= 2
        assert not re.search(r'(?: (?:on|in|beside) (?:the|a) \w+){3}', sentence)
        of_sentence = [word for word in words if word in nouns]
        assert len(set(of_sentence)) == len(of_sentence)
        assert not targets & set(of_sentence)


def measure_shares(sentences: list[str]) -> pd.Series:
    """The share of every word."""
    return pd.Series(' '.join(sentences).split(' ')).value_counts(normalize=True)


def total_variation(first: pd.Series, second: pd.Series) -> float:
    return first.sub(second, fill_value=0).abs().sum() / 2


@pytest.mark.slow
def test_the_words_are_as_frequent_as_in_the_official_sentences():
    rows = read_official('train') + read_official('dev')
    official = [row.sentence for row in rows if row.case == 'in_distribution']
    halves = [measure_shares(official[first::2]) for first in (0, 1)]
    noise = total_variation(*halves)
    expected = measure_shares(official)
    ours = measure_shares(draw_sentences(len(official)))
    assert total_variation(ours, expected) < noise
    for word in ('was', 'that', 'to', 'by', 'Emma'):
        assert abs(ours[word] - expected[word]) < 0.1 * expected[word]
    # The null: with verbs of other kinds equally likely the distance is far larger.
    sampler = Sampler(np.random.default_rng(0))
    flat = []
    for _ in range(3_000):
        sampler.used.clear()
        flat.append(write_sentence(sampler.fill('unergative')))
    assert total_variation(measure_shares(flat), expected) > 5 * noise


@pytest.mark.parametrize('case', cogs_cases.CASES)
def test_a_case_has_what_its_name_says(case):
    sampler = Sampler(np.random.default_rng(0))
    for number in range(20):
        depth = 3 + number % 10
        sentence = write_sentence(cogs_cases.draw_case(sampler, case, depth))
        assert re.search(PATTERNS[case], sentence), sentence
        form = write_logical_form(sentence)
        if case == 'cp_recursion':
            assert form.count('ccomp') == depth
        if case == 'pp_recursion':
            assert form.count('nmod') == depth


def test_the_official_rows_of_a_case_have_what_its_name_says():
    for row in read_official('gen'):
        assert re.search(PATTERNS[row.case], row.sentence), row


def test_our_own_training_rows_show_every_target_word_once():
    special = cogs_cases.draw_special(np.random.default_rng(0))
    labels = collections.Counter(row.case for row in special)
    assert labels.pop('primitive') == 143
    assert labels == dict.fromkeys(cogs_cases.EXPOSURES, 1)
    ordinary = cogs_cases.draw_in_distribution(np.random.default_rng(1), 3_000, set())
    sentences = [row.sentence for row in special + ordinary]
    words = collections.Counter(' '.join(sentences).split(' '))
    for word in (*cogs_words.TARGET_NOUNS, *cogs_words.TARGET_NAMES):
        assert words[word] == 1, word
    for verb in cogs_words.TARGET_VERBS:
        forms = {verb, cogs_words.past_of(verb)}
        assert sum(words[form] for form in forms) == 1, verb


@pytest.fixture(scope='module')
def own_rows() -> list[cogs_cases.Row]:
    return cogs.list_rows('', 0, 1050, 1050)


@pytest.mark.slow
def test_our_own_rows_are_as_many_as_the_official_ones(own_rows):
    sentences = [row.sentence for row in own_rows]
    assert len(set(sentences)) == len(sentences) == 24_155 + 1050 + 1050
    trained = collections.Counter(row.case for row in own_rows[:24_155])
    assert trained['in_distribution'] == 24_000
    gen = collections.Counter(row.case for row in own_rows[-1050:])
    assert gen == dict.fromkeys(cogs_cases.CASES, 50)


@pytest.mark.slow
@pytest.mark.parametrize('seq_len', [32, 96])  # 32: some answers are not even begun
def test_what_is_cut_asks_for_a_word_that_is_never_trained(seq_len):
    short = CogsConfig(seq_len=seq_len, num_examples=2_000, eval_examples=210)
    batch, eval_sets = draw_batch(short, 2_000), draw_eval_sets(short)
    cut, end = cogs.list_tokens().index('CUT'), cogs.list_tokens().index('END')
    assert not (batch.tokens_BT == cut).any() and not (batch.targets_BQ == cut).any()
    asks_cut_PB = (eval_sets.targets_PRBQ[:, 0] == cut).any(-1)
    asks_end_PB = (eval_sets.targets_PRBQ[:, 0] == end).any(-1)
    assert (asks_cut_PB != asks_end_PB).all()
    assert (asks_cut_PB[1:].mean(-1) > 0).all()
    is_cut = np.nonzero(asks_cut_PB)
    assert (eval_sets.weights_PBQ[is_cut][:, -1] == 1).all()


def test_the_official_rows_are_trained_from_their_folder():
    folder = str(find_official('cogs'))
    config = CogsConfig(path=folder, eval_examples=21)
    rows = cogs.list_rows(folder, 0, 21, 21)
    assert [row.case for row in rows[-21:]] == list(cogs_cases.CASES)
    assert all(row.case != 'in_distribution' for row in rows[:155])
    assert all(row.case == 'in_distribution' for row in rows[155:24_176])
    table = config.make_table()
    chex.assert_equal_shape(table[1:])
    assert len(table.length_N) == 24_155 + 42
    assert table.length_N[:24_155].max() <= config.seq_len + 1
