"""PrOntoQA and stories in one training set; the control that matches their labels."""

import dataclasses

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorjax.errors import ConfigError, UserError
from anchorjax.extras.corpora.tokenizers import make_bytes, make_words
from anchorjax.tasks.corpus.token_files import open_corpus
from anchorjax.tasks.mixture import (
    SOURCES,
    MixtureConfig,
    Sequences,
    describe_sources,
    measure_entropy,
    merge_tokens,
    read_mixture,
)
from anchorjax.tasks.prontoqa.texts import END, TRUE, list_tokens
from tests.support.corpora import write_corpora

SMALL = MixtureConfig(
    hops=1, num_sequences=12, num_heldout=5, seq_len=140, vocab=512, eval_examples=6
)


def test_the_first_half_of_the_examples_is_prontoqa():
    task = SMALL.make()
    batch = jax.jit(task.batch)(None, np.array([0, 11, 12, 23]))
    mixture = read_mixture(SMALL)
    for row, (source, number) in enumerate(
        [('prontoqa', 0), ('prontoqa', 11), ('stories', 0), ('stories', 11)]
    ):
        tokens, length = (part[number] for part in mixture.sequences[source])
        np.testing.assert_array_equal(batch.tokens_BT[row], tokens[:-1])
        np.testing.assert_array_equal(batch.targets_BQ[row], tokens[1:])
        assert batch.weights_BQ[row].sum() == length - 1
        assert (batch.weights_BQ[row, : length - 1] == 1).all()
    assert task.num_train == 24


def test_questions_end_with_their_judgement_and_words_are_shared():
    mixture = read_mixture(SMALL)
    tokens_NL, length_N = mixture.sequences['prontoqa']
    words = list_tokens()
    for row, length in zip(tokens_NL, length_N, strict=True):
        assert words[row[length - 2]] in ('True', 'False') and row[length - 1] == END
    assert TRUE in tokens_NL
    stories = mixture.sequences['stories'].tokens_NL
    shared = set(np.unique(stories).tolist()) & set(range(len(words)))
    assert {words[token] for token in shared} >= {'is', 'a'}
    assert stories.max() < mixture.vocab


def test_the_control_has_equal_labels_and_no_shared_token(tmp_path):
    # Stories of 600 words, the frequent ones as frequent as in a language.
    words = tuple(f'w{chr(97 + i // 26)}{chr(97 + i % 26)}' for i in range(600))
    share = 1 / np.arange(1, 601)
    drawn = np.random.default_rng(0).choice(600, 4_000, p=share / share.sum())
    text = ' '.join(words[i] for i in drawn)
    path = write_corpora(tmp_path / 'stories', make_words(words), [text])
    plain = dataclasses.replace(SMALL, story_path=path, vocab=900)
    matched = dataclasses.replace(plain, control='matched')
    (labels, entropy), (labels_2, entropy_2) = describe_sources(matched).values()
    assert labels == labels_2
    assert abs(entropy - entropy_2) < 0.03
    assert describe_sources(plain)['stories'][1] > entropy + 1  # without it
    sequences = read_mixture(matched).sequences
    tokens = [set(np.unique(sequences[source].tokens_NL)) for source in SOURCES]
    assert not tokens[0] & tokens[1]
    # The same words are the same class everywhere: stories are merged, not shuffled.
    unmerged = read_mixture(plain).sequences['stories'].tokens_NL
    pairs = np.stack([unmerged, sequences['stories'].tokens_NL], axis=-1)
    class_of = {}
    for word, merged in pairs.reshape(-1, 2).tolist():
        assert class_of.setdefault(word, merged) == merged
    assert len(set(class_of.values())) < len(class_of) / 4


def test_the_entropy_of_bigrams_by_hand():
    # 0 1, 1 0, 0 1 | 0 2 and padding: after 0 comes 1 twice and 2 once, after 1 a 0.
    tokens_NL = np.array([[0, 1, 0, 1], [0, 2, 9, 9]])
    sequences = Sequences(tokens_NL, np.array([4, 2]))
    after_zero = -(2 / 3 * np.log(2 / 3) + 1 / 3 * np.log(1 / 3))
    entropy = sequences.measure_bigram_entropy()
    assert entropy == pytest.approx(3 / 4 * after_zero)


def test_merging_by_hand():
    counts = np.array([0, 6, 1, 3])
    classes = merge_tokens(counts, np.array([0.4, 0.6]))
    # The most frequent token to the larger class, which it fills; the rest beside it.
    assert classes.tolist() == [-1, 1, 0, 0]
    assert measure_entropy(np.array([5, 0, 5])) == pytest.approx(np.log(2))


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(1, 50), min_size=40, max_size=80),
    st.lists(st.integers(1, 50), min_size=2, max_size=8),
)
def test_merged_shares_miss_their_target_by_a_token_at_most(counts, target):
    counts = np.array(counts)
    share = np.array(target) / sum(target)
    classes = merge_tokens(counts, share)
    found = np.bincount(classes, counts, minlength=len(share)) / counts.sum()
    assert (classes >= 0).all()
    assert np.abs(found - share).max() <= counts.max() / counts.sum() + 1e-9


def test_two_corpora_of_one_tokenizer(tmp_path):
    first = write_corpora(tmp_path / 'a', make_bytes(), ['ab', 'c' * 40, 'd'])
    second = write_corpora(tmp_path / 'b', make_bytes(), ['story ' * 20])
    config = MixtureConfig(
        reasoning_path=first,
        story_path=second,
        num_sequences=2,
        num_heldout=1,
        seq_len=8,
        vocab=257,
        eval_examples=1,
    )
    digests = config.make().digest_data()
    assert digests == {path: open_corpus(path).digest for path in (first, second)}
    (tokens_NL, length_N), stories = read_mixture(config).sequences.values()
    assert length_N.tolist() == [3, 9, 2]
    assert tokens_NL[0].tolist() == [97, 98] + [256] * 7
    assert bytes(stories.tokens_NL[1].tolist()) == b'ory story'
    words = write_corpora(tmp_path / 'c', make_words(('story',)), ['story ' * 120])
    of_words = {'reasoning_path': '', 'story_path': words, 'hops': 1}
    for error, changed, line in (
        (UserError, {'story_path': words}, 'other tokenizers'),
        (UserError, {'reasoning_path': ''}, 'must be in words'),
        (ConfigError, {'control': 'matched'}, r"task\.control = 'matched': must be"),
        (ConfigError, {'story_path': ''}, r"task\.story_path = '': must be given"),
        (UserError, {'num_sequences': 8}, '3 documents, 9 needed'),
        (UserError, of_words | {'num_sequences': 29}, 'are 15 .* of 8, 30 needed'),
        (ConfigError, {'hops': 3}, r'task\.hops = 3: .*task\.reasoning_path is given'),
    ):
        with pytest.raises(error, match=line):
            read_mixture(dataclasses.replace(config, **changed))
