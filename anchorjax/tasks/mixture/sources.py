"""The sequences of both sources, in one vocabulary."""

import functools
from typing import NamedTuple

import numpy as np

from anchorjax.errors import ConfigError, UserError
from anchorjax.tasks import prontoqa
from anchorjax.tasks.corpus.sample import DOCUMENTS
from anchorjax.tasks.corpus.token_files import (
    Corpus,
    count_windows,
    open_corpus,
    read_windows,
)
from anchorjax.tasks.mixture.config import MixtureConfig
from anchorjax.tasks.mixture.matching import measure_entropy, merge_tokens
from anchorjax.tasks.prontoqa.texts import (
    END,
    encode,
    list_tokens,
    write_answer,
    write_prompt,
)

SOURCES = ('prontoqa', 'stories')


class Sequences(NamedTuple):
    """Sequences of one source, padded with END."""

    tokens_NL: np.ndarray  # int32
    length_N: np.ndarray  # tokens that count


class Mixture(NamedTuple):
    """Both sources; the first sequences of each are trained, the rest held out."""

    sequences: dict[str, Sequences]  # by SOURCES
    vocab: int  # tokens that there are

    def count_labels(self, source: str, vocab: int) -> np.ndarray:
        """How often each token is asked for in a source, [vocab]."""
        of_source = self.sequences[source]
        counts = np.zeros(vocab, np.int64)
        for row, length in zip(*of_source, strict=True):
            counts += np.bincount(row[1:length], minlength=vocab)
        return counts


@functools.lru_cache(maxsize=4)
def make_mixture(config: MixtureConfig) -> Mixture:
    """The sequences of a config.

    Raises:
      UserError: a corpus cannot be read, is too short, or has another tokenizer.
    """
    if config.reasoning_path:
        return _join_corpora(config)
    reasoning = _write_questions(config)
    stories, words = _read_stories(config)
    if config.control == 'matched':
        return _match(config, reasoning, stories)
    token_of = {word: token for token, word in enumerate(list_tokens())}
    new_token = np.zeros(len(words), np.int32)
    total = len(token_of)
    for old, word in enumerate(words):
        if word in token_of:  # both sources write this word alike
            new_token[old] = token_of[word]
        else:
            new_token[old] = total
            total += 1
    stories = stories._replace(tokens_NL=new_token[stories.tokens_NL])
    return Mixture(dict(zip(SOURCES, (reasoning, stories), strict=True)), total)


def describe_sources(config: MixtureConfig) -> dict[str, tuple[int, float]]:
    """{source: (labels that occur, their entropy in nats)}."""
    mixture = make_mixture(config)
    described = {}
    for source in SOURCES:
        counts = mixture.count_labels(source, config.vocab)
        described[source] = (int((counts > 0).sum()), measure_entropy(counts))
    return described


def _write_questions(config: MixtureConfig) -> Sequences:
    """New questions with their proofs, a token a word, of at most T + 1 tokens."""
    asked = prontoqa.ProntoqaConfig(
        hops=config.hops,
        num_examples=config.num_sequences,
        probe_examples=config.num_heldout,
    )
    texts = []
    for question in prontoqa.list_questions(asked):
        answer = write_answer(question, chain_of_thought=True)
        texts.append([*encode(write_prompt(question)), *encode(answer), END])
    return _pad(texts, config.seq_len + 1, END)


def _read_stories(config: MixtureConfig) -> tuple[Sequences, tuple[str, ...]]:
    """Windows of the stories, and what their tokens are; the last is their END."""
    if not config.story_path:
        tokens, words = _split_sample()
        windows = _cut(config, np.resize(tokens, config.num_needed))
        return windows, words
    corpus = open_corpus(config.story_path)
    if not corpus.words:
        raise UserError(
            f'task.story_path = {config.story_path!r}: must be in words, like the '
            'questions (launch/data.py --tokenizer words); or give task.reasoning_path'
        )
    return _cut(config, corpus.tokens, 'task.story_path'), corpus.words


def _join_corpora(config: MixtureConfig) -> Mixture:
    """Both sources from files of the same tokenizer."""
    paths = (config.reasoning_path, config.story_path)
    if not config.story_path or config.control != 'none':
        raise ConfigError('task.reasoning_path: needs task.story_path and no control')
    first, second = (open_corpus(path) for path in paths)
    if first._replace(tokens=0, start_N=0, digest='') != second._replace(
        tokens=0, start_N=0, digest=''
    ):
        raise UserError(f'{paths[0]} and {paths[1]}: other tokenizers')
    stories = _cut(config, second.tokens, 'task.story_path')
    both = (_list_documents(config, first), stories)
    return Mixture(dict(zip(SOURCES, both, strict=True)), first.vocab)


def _list_documents(config: MixtureConfig, corpus: Corpus) -> Sequences:
    """The first documents of a corpus, cut or padded to T + 1 tokens."""
    if len(corpus.start_N) < config.num_all:
        raise UserError(
            f'task.reasoning_path: {len(corpus.start_N)} documents, '
            f'{config.num_all} needed'
        )
    starts = [*corpus.start_N[: config.num_all + 1].tolist(), len(corpus.tokens)]
    texts = []
    for i in range(config.num_all):
        texts.append(corpus.tokens[starts[i] : starts[i + 1]].tolist())
    return _pad(texts, config.seq_len + 1, corpus.end)


def _match(config: MixtureConfig, reasoning: Sequences, stories: Sequences) -> Mixture:
    """The stories in classes that are as many and as frequent as PrOntoQA's words.

    The sources share no token then.
    """
    num_words = len(list_tokens())
    both = Mixture(dict(zip(SOURCES, (reasoning, stories), strict=True)), 0)
    target = both.count_labels('prontoqa', num_words)
    target = target[target > 0] / target.sum()
    counts = both.count_labels('stories', int(stories.tokens_NL.max()) + 1)
    class_of = merge_tokens(counts, target)
    # A token that only begins a sequence is asked for nowhere; any class will do.
    class_of = np.maximum(class_of, 0)
    stories = stories._replace(tokens_NL=num_words + class_of[stories.tokens_NL])
    sequences = dict(zip(SOURCES, (reasoning, stories), strict=True))
    return Mixture(sequences, num_words + len(target))


def _cut(
    config: MixtureConfig, tokens: np.ndarray, field: str = 'task.story_path'
) -> Sequences:
    """The first windows of a stream of tokens."""
    total = count_windows(len(tokens), config.seq_len)
    if total < config.num_all:
        raise UserError(
            f'{field}: {len(tokens):,} tokens are {total} sequences of '
            f'{config.seq_len}, {config.num_all} needed'
        )
    windows = read_windows(tokens, np.arange(config.num_all), config.seq_len)
    length_N = np.full(config.num_all, config.seq_len + 1, np.int32)
    return Sequences(windows.astype(np.int32), length_N)


def _pad(texts: list[list[int]], size: int, end: int) -> Sequences:
    tokens_NL = np.full((len(texts), size), end, np.int32)
    length_N = np.zeros(len(texts), np.int32)
    for i, text in enumerate(texts):
        length_N[i] = min(len(text), size)
        tokens_NL[i, : length_N[i]] = text[:size]
    return Sequences(tokens_NL, length_N)


def _split_sample() -> tuple[np.ndarray, tuple[str, ...]]:
    """The bundled sample as tokens of its words, and the words."""
    stream = []
    for document in DOCUMENTS:
        stream += [*document.split(), '<end>']
    words = tuple(dict.fromkeys(stream))
    token_of = {word: token for token, word in enumerate(words)}
    return np.array([token_of[word] for word in stream]), words
