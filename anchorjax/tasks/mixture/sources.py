"""The sequences of both sources, drawn or read from files."""

import functools

import numpy as np

from anchorjax.errors import ConfigError, UserError
from anchorjax.tasks import prontoqa
from anchorjax.tasks.corpus.sample import DOCUMENTS
from anchorjax.tasks.corpus.token_files import (
    Corpus,
    count_windows,
    open_corpus,
    read_document,
    read_windows,
)
from anchorjax.tasks.mixture.config import MixtureConfig
from anchorjax.tasks.mixture.matching import measure_entropy
from anchorjax.tasks.mixture.vocabulary import (
    SOURCES,
    Mixture,
    Sequences,
    match,
    mix,
    share_words,
)
from anchorjax.tasks.prontoqa.texts import (
    END,
    encode,
    write_answer,
    write_prompt,
)


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
        mixture = match(reasoning, stories)
    else:
        mixture = share_words(reasoning, stories, words)
    return mixture._replace(num_cut=_count_cut(reasoning, END))


def describe_sources(config: MixtureConfig) -> dict[str, tuple[int, float]]:
    """{source: (labels that occur, their entropy in nats)}."""
    mixture = make_mixture(config)
    described = {}
    for source in SOURCES:
        counts = mixture.count_labels(source, config.vocab)
        num_labels = np.count_nonzero(counts)
        described[source] = (int(num_labels), measure_entropy(counts))
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
        prompt = encode(write_prompt(question))
        answer = encode(write_answer(question, chain_of_thought=True))
        texts.append([*prompt, *answer, END])
    return _pad(texts, config.seq_len + 1, END)


def _read_stories(config: MixtureConfig) -> tuple[Sequences, tuple[str, ...]]:
    """Windows of the stories, and what their tokens are; the last is their END."""
    if not config.story_path:
        sample, words = _split_sample()
        tokens = np.resize(sample, config.num_needed)  # repeats the sample
        return _cut(config, tokens), words
    corpus = open_corpus(config.story_path)
    if not corpus.words:
        raise UserError(
            f'task.story_path = {config.story_path!r}: must be in words, like the '
            'questions (launch/data.py --tokenizer words); or give task.reasoning_path'
        )
    return _cut(config, corpus.tokens), corpus.words


def _join_corpora(config: MixtureConfig) -> Mixture:
    """Both sources from files of the same tokenizer."""
    if not config.story_path or config.control != 'none':
        given = f'task.reasoning_path = {config.reasoning_path!r}'
        raise ConfigError(f'{given}: needs task.story_path and no control')
    of_reasoning = open_corpus(config.reasoning_path)
    of_stories = open_corpus(config.story_path)
    if of_reasoning.tokenizer != of_stories.tokenizer:
        raise UserError(
            f'{config.reasoning_path} and {config.story_path}: other tokenizers'
        )
    stories = _cut(config, of_stories.tokens)
    reasoning = _list_documents(config, of_reasoning)
    num_cut = _count_cut(reasoning, of_reasoning.end)
    return mix(reasoning, stories, of_reasoning.vocab)._replace(num_cut=num_cut)


def _list_documents(config: MixtureConfig, corpus: Corpus) -> Sequences:
    """The first documents of a corpus, cut or padded to T + 1 tokens."""
    if len(corpus.start_N) < config.num_all:
        raise UserError(
            f'task.reasoning_path: {len(corpus.start_N)} documents, '
            f'{config.num_all} needed'
        )
    texts = []
    for number in range(config.num_all):
        document = read_document(corpus, number)
        texts.append([*document.tolist(), corpus.end])
    return _pad(texts, config.seq_len + 1, corpus.end)


def _cut(config: MixtureConfig, tokens: np.ndarray) -> Sequences:
    """The first windows of the stories, a stream of tokens."""
    total = count_windows(len(tokens), config.seq_len)
    if total < config.num_all:
        raise UserError(
            f'task.story_path: {len(tokens):,} tokens are {total} sequences of '
            f'{config.seq_len}, {config.num_all} needed'
        )
    windows = read_windows(tokens, np.arange(config.num_all), config.seq_len)
    length_N = np.full(config.num_all, config.seq_len + 1, np.int32)
    return Sequences(windows.astype(np.int32), length_N)


def _pad(texts: list[list[int]], size: int, end: int) -> Sequences:
    """Texts as sequences of `size` tokens, cut or padded with `end`."""
    tokens_NL = np.full((len(texts), size), end, np.int32)
    length_N = np.zeros(len(texts), np.int32)
    for i, text in enumerate(texts):
        kept = text[:size]
        tokens_NL[i, : len(kept)] = kept
        length_N[i] = len(kept)
    return Sequences(tokens_NL, length_N)


def _count_cut(texts: Sequences, end: int) -> int:
    """How many texts do not end with their END."""
    row_N = np.arange(len(texts.length_N))
    last_N = texts.tokens_NL[row_N, texts.length_N - 1]
    return int(np.count_nonzero(last_N != end))


def _split_sample() -> tuple[np.ndarray, tuple[str, ...]]:
    """The bundled sample as tokens of its words, and the words."""
    stream = []
    for document in DOCUMENTS:
        stream += [*document.split(), '<end>']
    token_of: dict[str, int] = {}
    for word in stream:
        token_of.setdefault(word, len(token_of))
    tokens = np.array([token_of[word] for word in stream])
    return tokens, tuple(token_of)
