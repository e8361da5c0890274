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
from anchorjax.grid import DATA, random_key
from anchorjax.tasks import TaskConfig

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
    task = config.make()

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


def _normalize(mass_VV: np.ndarray) -> LabelLaws:
    """Laws from the mean number of occurrences of every token with every label."""
    rate_V = mass_VV.sum(1)
    rate_V1 = rate_V[:, None]
    law_VV = np.zeros_like(mass_VV, np.float64)
    np.divide(mass_VV, rate_V1, out=law_VV, where=rate_V1 > 0)
    return LabelLaws(rate_V, law_VV)
