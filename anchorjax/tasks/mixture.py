"""Next-token prediction on PrOntoQA with proofs and on stories (P2 Figs 1, 7).

Half of the sequences are of each source, and the loss of each is recorded: the eval
sets are trained and held-out sequences of both. P2 compares them by
Delta L = (L_stories - L_prontoqa) / L_prontoqa (PAPERS 2.3).

Reasoning data use few words, and some of them all the time. A network may learn them
earlier for that reason alone. The control 'matched' merges the words of the stories
into as many classes as PrOntoQA has words, each class as frequent as one of these
words: both sources then have the same number of labels and the same label entropy. The
order of the classes is still that of the stories.
"""

import dataclasses
import functools
from typing import Annotated, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from anchorjax.caching import cache_files
from anchorjax.errors import ConfigError, UserError, require
from anchorjax.limits import at_least, at_most, check_fields, require_default
from anchorjax.tasks import Batch, EvalSets, Task, prontoqa, texts
from anchorjax.tasks.corpus import token_files
from anchorjax.tasks.corpus.sample import write_documents
from anchorjax.tasks.prontoqa.texts import (
    END,
    encode,
    list_tokens,
    write_answer,
    write_prompt,
)

SOURCES = ('prontoqa', 'stories')
EVAL_SETS = ('prontoqa', 'stories', 'prontoqa_heldout', 'stories_heldout')


@dataclasses.dataclass(frozen=True)
class MixtureConfig:
    """Defaults are P2's number of sequences; what it does not state is ours."""

    name: str = 'mixture'
    # The stories as words: a folder that launch/data.py wrote; '': the bundled text.
    story_path: str = ''
    # PrOntoQA as such a folder too, of the same tokenizer; '': questions are drawn, a
    # token a word.
    reasoning_path: str = ''
    # 'matched': labels of both sources are equally frequent.
    control: Literal['none', 'matched'] = 'none'
    hops: Annotated[int, at_least(1), at_most(5)] = 2  # of drawn questions
    num_sequences: Annotated[int, at_least(1), at_most(10**6)] = 5_000  # per source
    num_heldout: Annotated[int, at_least(1), at_most(10**5)] = 100  # per source
    seq_len: Annotated[int, at_least(8), at_most(2**14)] = 128  # longer texts are cut
    vocab: Annotated[int, at_least(2), at_most(2**20)] = 8_192  # of both sources
    eval_examples: Annotated[int, at_least(1), at_most(2**20)] = 100  # per eval set

    def __post_init__(self) -> None:
        check_fields(self, 'task')
        if self.reasoning_path:
            for field in ('hops', 'control'):
                require_default(self, 'task', field, 'task.reasoning_path is given')
            has_both = self.story_path != ''
            allowed = 'given, as task.reasoning_path is'
            require(has_both, 'task.story_path', self.story_path, allowed)

    def make(self) -> Task:
        """Seeds differ only in their initialization and the order of the examples."""
        return Task(
            vocab=self.vocab,
            seq_len=self.seq_len,
            num_train=2 * self.num_sequences,
            eval_set_names=EVAL_SETS,
            make_data=lambda key: key,
            batch=functools.partial(make_batch, self),
            eval_sets=functools.partial(make_eval_sets, self),
            trained_eval_sets=SOURCES,
            describe_data=functools.partial(describe_sequences, self),
            digest_data=functools.partial(
                token_files.digest_corpora, self.story_path, self.reasoning_path
            ),
            last_only=False,
            is_language_modeling=True,
        )

    @property
    def num_all(self) -> int:
        """Sequences of each source, trained and held out."""
        return self.num_sequences + self.num_heldout


def make_batch(config: MixtureConfig, key: jax.Array, index_B: jax.Array) -> Batch:
    """The training examples with these numbers, PrOntoQA's before the stories."""
    number = config.num_sequences
    asked = [_ask(config, source, index_B % number) for source in SOURCES]
    is_first_B1 = index_B[:, None] < number

    def choose(first: jax.Array, second: jax.Array) -> jax.Array:
        return jnp.where(is_first_B1, first, second)

    return jax.tree.map(choose, *asked)


def make_eval_sets(config: MixtureConfig, key: jax.Array) -> EvalSets:
    """The first trained sequences of each source, and held-out ones."""
    trained_N = np.arange(config.num_sequences)
    rows = [trained_N for _ in SOURCES]
    rows += [find_heldout(config, source) for source in SOURCES]
    asked, are_real = [], []
    for source, row_N in zip((*SOURCES, *SOURCES), rows, strict=True):
        number_B, is_real_B = texts.count_up(len(row_N), config.eval_examples)
        asked.append(_ask(config, source, jnp.asarray(row_N)[number_B]))
        are_real.append(is_real_B)
    return texts.join_eval_sets(asked, are_real, [None])


@cache_files(maxsize=8)
def find_heldout(config: MixtureConfig, source: str) -> np.ndarray:
    """The numbers [N] of a source's held-out sequences that are not trained as well.

    Short ones may be: of questions that are cut, only the beginnings are left.

    Raises:
      ConfigError: there is none.
    """
    read_NT = read_mixture(config).sequences[source].tokens_NL[:, :-1]
    trained_NT = read_NT[: config.num_sequences]
    heldout = {row.tobytes() for row in read_NT[config.num_sequences :]}
    repeated = {row for row in map(np.ndarray.tobytes, trained_NT) if row in heldout}
    new = []
    for number in range(config.num_sequences, config.num_all):
        if read_NT[number].tobytes() not in repeated:
            new.append(number)
    allowed = f'longer: all held-out sequences of {source} are trained as well'
    require(len(new) > 0, 'task.seq_len', config.seq_len, allowed)
    return np.array(new, np.int32)


def _ask(config: MixtureConfig, source: str, row_B: jax.Array) -> Batch:
    """Sequences of a source; padding does not count."""
    tokens_NL, length_N = read_mixture(config).sequences[source]
    tokens_BL = jnp.asarray(tokens_NL)[row_B]
    length_B = jnp.asarray(length_N)[row_B]
    read = texts.Texts(tokens_BL, jnp.zeros_like(length_B), length_B)
    return texts.to_training_batch(read, 'text')


class Sequences(NamedTuple):
    """Sequences of one source, padded with END."""

    tokens_NL: np.ndarray  # int32
    length_N: np.ndarray  # tokens that count

    def count_labels(self, vocab: int) -> np.ndarray:
        """How often each token is asked for, [vocab]."""
        _, labels = self._list_bigrams()
        return np.bincount(labels, minlength=vocab)

    def measure_bigram_entropy(self) -> float:
        """Entropy of a label given the token before it, nats.

        This is the loss of a table of bigrams on these sequences.
        """
        befores, labels = self._list_bigrams()
        bigrams = np.stack([befores, labels])
        _, of_bigrams = np.unique(bigrams, axis=1, return_counts=True)
        return measure_entropy(of_bigrams) - measure_entropy(np.bincount(befores))

    def _list_bigrams(self) -> tuple[np.ndarray, np.ndarray]:
        """Every label that counts, and the token before it: (tokens, labels)."""
        befores, labels = [], []
        for row, length in zip(self.tokens_NL, self.length_N, strict=True):
            befores.append(row[: length - 1])
            labels.append(row[1:length])
        return np.concatenate(befores), np.concatenate(labels)


class Mixture(NamedTuple):
    """Both sources; the first sequences of each are trained, the rest held out."""

    sequences: dict[str, Sequences]  # by SOURCES
    vocab: int  # number of tokens
    end: int  # the token END of the questions of PrOntoQA


def read_mixture(config: MixtureConfig) -> Mixture:
    """The sequences of a config.

    Raises:
      ConfigError: task.vocab is too small for them.
      UserError: a corpus cannot be read, is too short, or has another tokenizer.
    """
    # They do not depend on what the eval sets show or the vocabulary.
    mixture = _make_mixture(dataclasses.replace(config, vocab=2, eval_examples=1))
    if mixture.vocab > config.vocab:
        raise ConfigError(
            f'task.vocab = {config.vocab}: must be at least the {mixture.vocab} tokens '
            'of both sources'
        )
    return mixture


def describe_sequences(config: MixtureConfig) -> str:
    """How many questions are cut, most of them before the judgement; what is left out.

    Errors as `find_heldout`.
    """
    num_new = sum(len(find_heldout(config, source)) for source in SOURCES)
    num_repeated = 2 * config.num_heldout - num_new
    mixture = read_mixture(config)
    tokens_NL, length_N = mixture.sequences['prontoqa']
    last_N = tokens_NL[np.arange(config.num_all), length_N - 1]
    num_cut = np.count_nonzero(last_N != mixture.end)
    return (
        f'{num_cut:,} of {config.num_all:,} questions of PrOntoQA are longer than '
        f'task.seq_len, {config.seq_len} tokens, and are cut; {num_repeated:,} of '
        f'{2 * config.num_heldout:,} held-out sequences are trained as well, and not '
        'asked'
    )


def describe_sources(config: MixtureConfig) -> dict[str, tuple[int, float]]:
    """{source: (labels that occur, their entropy in nats)}."""
    described = {}
    for source, sequences in read_mixture(config).sequences.items():
        counts = sequences.count_labels(config.vocab)
        num_labels = np.count_nonzero(counts)
        described[source] = (int(num_labels), measure_entropy(counts))
    return described


@cache_files(maxsize=4)
def _make_mixture(config: MixtureConfig) -> Mixture:
    if config.reasoning_path:
        return _join_corpora(config)
    reasoning = _write_questions(config)
    stories, words = _read_stories(config)
    if config.control == 'matched':
        stories, vocab = match_words(reasoning, stories)
    else:
        stories, vocab = share_words(stories, words)
    return Mixture({'prontoqa': reasoning, 'stories': stories}, vocab, END)


def share_words(stories: Sequences, words: tuple[str, ...]) -> tuple[Sequences, int]:
    """The stories in PrOntoQA's tokens, and the number of tokens of both.

    A word that PrOntoQA lacks gets a new token.

    Args:
      words: what the tokens of the stories are.
    """
    token_of = {word: token for token, word in enumerate(list_tokens())}
    for word in words:
        token_of.setdefault(word, len(token_of))
    new_token = np.array([token_of[word] for word in words], np.int32)
    stories = stories._replace(tokens_NL=new_token[stories.tokens_NL])
    return stories, len(token_of)


def match_words(reasoning: Sequences, stories: Sequences) -> tuple[Sequences, int]:
    """The stories in classes as frequent as PrOntoQA's words, and the tokens of both.

    The sources then share no token.
    """
    num_words = len(list_tokens())
    word_counts = reasoning.count_labels(num_words)
    target_K = word_counts[word_counts > 0] / word_counts.sum()
    num_tokens = int(stories.tokens_NL.max()) + 1
    class_V = merge_tokens(stories.count_labels(num_tokens), target_K)
    # A token that only begins a sequence is asked for nowhere; any class will do.
    class_V = np.maximum(class_V, 0)
    class_NL = num_words + class_V[stories.tokens_NL]
    return stories._replace(tokens_NL=class_NL), num_words + len(target_K)


def merge_tokens(counts_V: np.ndarray, target_K: np.ndarray) -> np.ndarray:
    """The class of every token, [V], int32; -1 for a token that does not occur.

    The most frequent token goes first, each to the class that misses the largest share
    of what `target_K` gives it.

    Args:
      counts_V: how often every token occurs.
      target_K: the share of each class; sums to 1.
    """
    share_V = counts_V / counts_V.sum()
    missing_K = np.array(target_K, float)
    class_V = np.full(len(counts_V), -1, np.int32)
    for token in np.argsort(-counts_V, kind='stable'):
        if counts_V[token] == 0:
            break
        chosen = int(missing_K.argmax())
        class_V[token] = chosen
        missing_K[chosen] -= share_V[token]
    return class_V


def measure_entropy(counts: np.ndarray) -> float:
    """The entropy of a distribution in nats; counts [label]: how often each occurs."""
    share = counts[counts > 0] / counts.sum()
    entropy = -(share * np.log(share)).sum()
    return float(entropy)


def _write_questions(config: MixtureConfig) -> Sequences:
    """New questions with their proofs, a token a word, of at most T + 1 tokens."""
    asked = prontoqa.ProntoqaConfig(
        hops=config.hops,
        num_examples=config.num_sequences,
        eval_examples=config.num_heldout,
    )
    questions = []
    for question in prontoqa.list_questions(asked):
        prompt = encode(write_prompt(question))
        answer = encode(write_answer(question, chain_of_thought=True))
        questions.append([*prompt, *answer, END])
    return _pad(questions, config.seq_len + 1, END)


def _read_stories(config: MixtureConfig) -> tuple[Sequences, tuple[str, ...]]:
    """Windows of the stories, and what their tokens are."""
    if not config.story_path:
        tokens, words = _split_sample(config.num_all * config.seq_len + 1)
        return _cut(config, tokens), words
    corpus = token_files.open_corpus(config.story_path)
    if not corpus.words:
        raise UserError(
            f'task.story_path = {config.story_path!r}: must be in words, like the '
            'questions (launch/data.py --tokenizer words); or give task.reasoning_path'
        )
    return _cut(config, corpus.tokens), corpus.words


def _join_corpora(config: MixtureConfig) -> Mixture:
    """Both sources from files of the same tokenizer."""
    of_reasoning = token_files.open_corpus(config.reasoning_path)
    of_stories = token_files.open_corpus(config.story_path)
    if of_reasoning.tokenizer != of_stories.tokenizer:
        raise UserError(
            f'{config.reasoning_path} and {config.story_path}: other tokenizers'
        )
    num_documents = len(of_reasoning.start_N)
    if num_documents < config.num_all:
        raise UserError(
            f'task.reasoning_path: {num_documents} documents, {config.num_all} needed'
        )
    end = of_reasoning.end
    questions = []
    for number in range(config.num_all):
        questions.append(
            [*token_files.read_document(of_reasoning, number).tolist(), end]
        )
    reasoning = _pad(questions, config.seq_len + 1, end)
    stories = _cut(config, of_stories.tokens)
    sequences = {'prontoqa': reasoning, 'stories': stories}
    return Mixture(sequences, of_reasoning.vocab, end)


def _cut(config: MixtureConfig, tokens: np.ndarray) -> Sequences:
    """The first windows of the stories, a stream of tokens."""
    total = token_files.count_windows(len(tokens), config.seq_len)
    if total < config.num_all:
        raise UserError(
            f'task.story_path: {len(tokens):,} tokens are {total} sequences of '
            f'{config.seq_len}, {config.num_all} needed'
        )
    windows = token_files.read_windows(
        tokens, np.arange(config.num_all), config.seq_len
    )
    length_N = np.full(config.num_all, config.seq_len + 1, np.int32)
    return Sequences(windows.astype(np.int32), length_N)


def _pad(questions: list[list[int]], size: int, end: int) -> Sequences:
    """Texts as sequences of `size` tokens, cut or padded with `end`."""
    tokens_NL = np.full((len(questions), size), end, np.int32)
    length_N = np.zeros(len(questions), np.int32)
    for i, question in enumerate(questions):
        kept = question[:size]
        tokens_NL[i, : len(kept)] = kept
        length_N[i] = len(kept)
    return Sequences(tokens_NL, length_N)


def _split_sample(number: int) -> tuple[np.ndarray, tuple[str, ...]]:
    """So many words of the bundled text as tokens, and the words."""
    stream: list[str] = []
    documents = write_documents()
    while len(stream) < number:
        stream += [*next(documents).split(), '<end>']
    token_of: dict[str, int] = {}
    for word in stream:
        token_of.setdefault(word, len(token_of))
    tokens = np.array([token_of[word] for word in stream[:number]])
    return tokens, tuple(token_of)
