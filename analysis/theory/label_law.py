"""The label law P_s of a token: how labels are distributed where the token occurs.

P2's theory reads the early embeddings from it (PAPERS 2.4). A token that occurs twice
in a sequence counts twice, so that the law of a reasoning anchor s is that of
s + Z + A_1 + ... + A_(q-1), and so that rate times law is what the gradient sees.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from anchorjax import tasks
from anchorjax.config.grid import DATA, random_key
from anchorjax.tasks import MemoryReasoningConfig, TaskConfig
from anchorjax.tasks.memory_reasoning.labels import combinations, label_ranges

_PART = 2**16  # examples that are drawn at once


class Examples(NamedTuple):
    """The training examples of a seed."""

    tokens_BT: np.ndarray
    label_B: np.ndarray


class LabelLaws(NamedTuple):
    """Of every token: how often it occurs, and the labels where it does."""

    rate_V: np.ndarray  # r_s: mean number of occurrences in a sequence
    law_VV: (
        np.ndarray
    )  # P_s: [token, label], rows sum to 1, or are 0 if it never occurs

    @property
    def deviation_VV(self) -> np.ndarray:
        """P_s - 1/V; rows of zeros for tokens that never occur."""
        occurs_V1 = self.rate_V[:, None] > 0
        return np.where(occurs_V1, self.law_VV - 1 / len(self.rate_V), 0.0)

    @property
    def residual_VV(self) -> np.ndarray:
        """r_s (P_s - 1/V): the mean of (label - 1/V) over all occurrences of s."""
        return self.rate_V[:, None] * self.deviation_VV


@functools.lru_cache(maxsize=8)
def read_examples(config: TaskConfig, seed: int) -> Examples:
    """All training examples of a seed, of a task with one label per sequence.

    The arrays are shared by all who ask for them: read them, never change them.
    """
    task = tasks.make(config)

    @jax.jit
    def draw(seed: jax.Array, index_B: jax.Array) -> tasks.Batch:
        return task.batch(task.make_data(random_key(seed, DATA)), index_B)

    tokens, labels = [], []
    for start in range(0, task.num_train, _PART):
        end = min(start + _PART, task.num_train)
        batch = draw(seed, jnp.arange(start, end))
        tokens.append(batch.tokens_BT)
        labels.append(batch.targets_BQ[:, -1])
    tokens_BT = np.concatenate(tokens)
    label_B = np.concatenate(labels)
    return Examples(tokens_BT, label_B)


def count_laws(tokens_BT: np.ndarray, label_B: np.ndarray, vocab: int) -> LabelLaws:
    """The laws of a data set, by counting.

    Args:
      tokens_BT: all positions, or some: tokens_BT[:, -1:] gives what the last position
        alone sees.
    """
    counts_VV = np.zeros((vocab, vocab))
    for tokens_B in tokens_BT.T:
        np.add.at(counts_VV, (tokens_B, label_B), 1)
    return _normalize(counts_VV / len(tokens_BT))


def expected_laws(config: MemoryReasoningConfig) -> LabelLaws:
    """The laws over all data sets of a task: of random labels, positions and noise.

    Trained combinations and keys are equally likely. Each has a uniform law of labels
    (`label_ranges`), and the law of a token is the mean of those where it occurs.
    """
    num_trained = config.num_trained  # masked combinations come after them
    ranges = label_ranges(config)
    keys = np.arange(*config.keys)
    mass_VV = np.zeros((config.vocab, config.vocab))
    for i, anchors in enumerate(combinations(config)[:num_trained]):
        law_KV = _uniform_laws(ranges.low[i], ranges.size[i], config.vocab)
        mass_VV[keys] += law_KV / config.num_keys
        law_V = law_KV.mean(0)
        for anchor in anchors:
            mass_VV[anchor] += law_V
    mass_VV /= num_trained
    # Noise is any key, and tells nothing about the label.
    law_of_all_V = mass_VV[keys].sum(0)
    num_noise = config.seq_len - config.q - 1
    mass_VV[keys] += num_noise / config.num_keys * law_of_all_V
    return _normalize(mass_VV)


def convolve_law(config: MemoryReasoningConfig, anchor: int) -> np.ndarray:
    """P(Z + A_1 + ... + A_(q-1) = i - s) for a reasoning anchor s, [V] (PAPERS 2.4).

    P2's formula, in which no combination is masked.
    """
    vocab = config.vocab
    (law_V,) = _uniform_laws(config.keys[0], config.num_keys, vocab)
    first, end = config.reasoning_anchors
    (anchor_law_V,) = _uniform_laws(first, end - first, vocab)
    for _ in range(config.q - 1):
        law_V = np.convolve(law_V, anchor_law_V)[:vocab]
    shifted_V = np.zeros(vocab)
    shifted_V[anchor:] = law_V[: vocab - anchor]
    return shifted_V


def _uniform_laws(
    low: np.ndarray | int, size: np.ndarray | int, vocab: int
) -> np.ndarray:
    """Uniform laws of the labels low, ..., low + size - 1, a row for each, [law, V]."""
    low_column = np.reshape(low, (-1, 1))
    size_column = np.reshape(size, (-1, 1))
    offset = np.arange(vocab) - low_column
    is_possible = (offset >= 0) & (offset < size_column)
    return is_possible / size_column


def _normalize(mass_VV: np.ndarray) -> LabelLaws:
    """Laws from the mean number of occurrences of every token with every label."""
    rate_V = mass_VV.sum(1)
    rate_V1 = rate_V[:, None]
    law_VV = np.zeros_like(mass_VV, np.float64)
    np.divide(mass_VV, rate_V1, out=law_VV, where=rate_V1 > 0)
    return LabelLaws(rate_V, law_VV)
