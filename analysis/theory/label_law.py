"""The label law P_s of a token: how labels are distributed where the token occurs.

P2's theory reads the early embeddings from it (PAPERS 2.4). A token that occurs twice
in a sequence counts twice, so that the law of a reasoning anchor s is that of
s + Z + A_1 + ... + A_(q-1), and so that rate times law is what the gradient sees.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from anchorjax import tasks
from anchorjax.config.grid import DATA, random_key
from anchorjax.tasks import MemoryReasoningConfig, TaskConfig
from anchorjax.tasks.memory_reasoning_labels import combinations, label_ranges

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


def read_examples(config: TaskConfig, seed: int) -> Examples:
    """All training examples of a seed, of a task with one label per sequence."""
    task = tasks.make(config)

    @jax.jit
    def draw(seed: jax.Array, index_B: jax.Array) -> tasks.Batch:
        return task.batch(task.make_data(random_key(seed, DATA)), index_B)

    tokens, labels = [], []
    for start in range(0, task.num_train, _PART):
        end = min(start + _PART, task.num_train)
        batch = draw(seed, jnp.arange(start, end))
        tokens.append(np.asarray(batch.tokens_BT))
        labels.append(np.asarray(batch.targets_BQ[:, -1]))
    return Examples(np.concatenate(tokens), np.concatenate(labels))


def count_laws(tokens_BT: np.ndarray, label_B: np.ndarray, vocab: int) -> LabelLaws:
    """The laws of a data set, by counting.

    Args:
      tokens_BT: all positions, or some: tokens_BT[:, -1:] gives what the last position
        alone sees.
    """
    cell_BT = tokens_BT.astype(np.int64) * vocab + label_B[:, None]
    counts = np.bincount(cell_BT.ravel(), minlength=vocab * vocab)
    return _normalize(counts.reshape(vocab, vocab) / len(tokens_BT))


def expected_laws(config: MemoryReasoningConfig) -> LabelLaws:
    """The laws over all data sets of a task: of random labels, positions and noise.

    Trained combinations and keys are equally likely. Each has a uniform law of labels
    (`label_ranges`), and the law of a token is the mean of those where it occurs.
    """
    rows = combinations(config)[: config.num_trained]
    low, size = label_ranges(config)
    keys = np.arange(*config.keys)
    label_V = np.arange(config.vocab)
    mass_VV = np.zeros((config.vocab, config.vocab))
    for row, low_K, size_K in zip(
        rows, low, size, strict=False
    ):  # masked rows are last
        low_K1, size_K1 = low_K[:, None], size_K[:, None]
        is_possible_KV = (label_V >= low_K1) & (label_V < low_K1 + size_K1)
        law_KV = is_possible_KV / size_K1
        mass_VV[keys] += law_KV / len(keys)
        for anchor in row:
            mass_VV[anchor] += law_KV.mean(0)
    mass_VV /= len(rows)
    # Noise is any key, and tells nothing about the label.
    law_of_all_V = mass_VV[keys].sum(0)
    num_noise = config.seq_len - config.q - 1
    mass_VV[keys] += num_noise / len(keys) * law_of_all_V
    return _normalize(mass_VV)


def convolve_law(config: MemoryReasoningConfig, anchor: int) -> np.ndarray:
    """P(Z + A_1 + ... + A_(q-1) = i - s) for a reasoning anchor s, [V] (PAPERS 2.4).

    P2's formula, in which no combination is masked.
    """
    first, end = config.reasoning_anchors
    anchor_law = np.zeros(config.vocab)
    anchor_law[first:end] = 1 / (end - first)
    law = np.zeros(config.vocab)
    law[config.keys[0] : config.keys[1]] = 1 / config.num_keys
    for _ in range(config.q - 1):
        law = np.convolve(law, anchor_law)[: config.vocab]
    shifted = np.zeros(config.vocab)
    shifted[anchor:] = law[: config.vocab - anchor]
    return shifted


def _normalize(mass_VV: np.ndarray) -> LabelLaws:
    """Laws from the mean number of occurrences of every token with every label."""
    rate_V = mass_VV.sum(1)
    rate_V1 = rate_V[:, None]
    law_VV = np.zeros_like(mass_VV, np.float64)
    np.divide(mass_VV, rate_V1, out=law_VV, where=rate_V1 > 0)
    return LabelLaws(rate_V, law_VV)
