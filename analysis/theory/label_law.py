"""The label law P_s of a token: how labels are distributed where the token occurs.

P2's theory reads the early embeddings from it (PAPERS 2.4). A token that occurs twice
in a sequence counts twice, so that the law of a reasoning anchor s is that of
s + Z + A_1 + ... + A_(q-1), and so that rate times law is what the gradient sees.
"""

from typing import NamedTuple

import numpy as np

from analysis.members.untrained import draw_training
from anchorjax.caching import cache
from anchorjax.tasks import TaskConfig


class Examples(NamedTuple):
    """The training examples of a seed."""

    tokens_BT: np.ndarray
    label_B: np.ndarray


class LabelLaws(NamedTuple):
    """Of every token: how often it occurs, and the labels where it does."""

    rate_V: np.ndarray  # r_s: mean number of occurrences in a sequence
    law_VV: np.ndarray  # P_s [token, label]: rows sum to 1, or are 0 if it never occurs

    @property
    def deviation_VV(self) -> np.ndarray:
        """P_s - 1/V; rows of zeros for tokens that never occur."""
        occurs_V1 = self.rate_V[:, None] > 0
        return np.where(occurs_V1, self.law_VV - 1 / len(self.rate_V), 0.0)

    @property
    def residual_VV(self) -> np.ndarray:
        """r_s (P_s - 1/V): the mean of (label - 1/V) over all occurrences of s."""
        return self.rate_V[:, None] * self.deviation_VV


@cache(maxsize=8)
def read_examples(config: TaskConfig, seed: int) -> Examples:
    """All training examples of a seed, of a task with one label per sequence.

    The arrays are shared by all who ask for them: read them, never change them.
    """
    tokens, labels = [], []
    for batch in draw_training(config, seed):
        tokens.append(batch.tokens_BT)
        labels.append(batch.targets_BQ[:, -1])
    return Examples(np.concatenate(tokens), np.concatenate(labels))


def count_laws(tokens_BT: np.ndarray, label_B: np.ndarray, vocab: int) -> LabelLaws:
    """The laws of a data set, by counting.

    Args:
      tokens_BT: all positions, or some: tokens_BT[:, -1:] gives what the last position
        alone sees.
    """
    counts_VV = np.zeros((vocab, vocab))
    for tokens_B in tokens_BT.T:
        np.add.at(counts_VV, (tokens_B, label_B), 1)
    mass_VV = counts_VV / len(tokens_BT)
    rate_V = mass_VV.sum(1)
    law_VV = mass_VV / np.maximum(rate_V, 1 / len(tokens_BT))[:, None]
    return LabelLaws(rate_V, law_VV)
