"""One vocabulary for both sources: shared words, or classes that are not shared."""

from typing import NamedTuple

import numpy as np

from anchorjax.tasks.mixture.matching import measure_entropy, merge_tokens
from anchorjax.tasks.prontoqa.texts import list_tokens

SOURCES = ('prontoqa', 'stories')


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

        It is the loss, on these sequences, of a table of which token follows which.
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
    vocab: int  # tokens that there are
    num_cut: int = 0  # questions of PrOntoQA that are longer than a sequence

    def count_labels(self, source: str, vocab: int) -> np.ndarray:
        """How often each token is asked for in a source, [vocab]."""
        return self.sequences[source].count_labels(vocab)


def mix(reasoning: Sequences, stories: Sequences, vocab: int) -> Mixture:
    """Both sources together, with `vocab` tokens."""
    both = (reasoning, stories)
    return Mixture(dict(zip(SOURCES, both, strict=True)), vocab)


def share_words(
    reasoning: Sequences, stories: Sequences, words: tuple[str, ...]
) -> Mixture:
    """The stories in PrOntoQA's tokens; a word that it lacks gets a new token.

    Args:
      words: what the tokens of the stories are.
    """
    token_of = {word: token for token, word in enumerate(list_tokens())}
    new_token = np.zeros(len(words), np.int32)
    vocab = len(token_of)
    for old, word in enumerate(words):
        if word in token_of:  # both sources write this word alike
            new_token[old] = token_of[word]
        else:
            new_token[old] = vocab
            vocab += 1
    stories = stories._replace(tokens_NL=new_token[stories.tokens_NL])
    return mix(reasoning, stories, vocab)


def match(reasoning: Sequences, stories: Sequences) -> Mixture:
    """The stories in classes that are as many and as frequent as PrOntoQA's words.

    The sources then share no token.
    """
    num_words = len(list_tokens())
    word_counts = reasoning.count_labels(num_words)
    target_K = word_counts[word_counts > 0] / word_counts.sum()
    num_tokens = int(stories.tokens_NL.max()) + 1
    token_counts = stories.count_labels(num_tokens)
    class_V = merge_tokens(token_counts, target_K)
    # A token that only begins a sequence is asked for nowhere; any class will do.
    class_V = np.maximum(class_V, 0)
    # The classes come after the words, so that the sources share no token.
    class_NL = num_words + class_V[stories.tokens_NL]
    stories = stories._replace(tokens_NL=class_NL)
    return mix(reasoning, stories, num_words + len(target_K))
