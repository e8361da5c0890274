"""P2's theory in closed form: references for what `analysis.theory` counts in data."""

import numpy as np

from analysis.theory.label_law import LabelLaws
from anchorjax.tasks.memory_reasoning import (
    MemoryReasoningConfig,
    combinations,
    label_ranges,
)


def expected_laws(config: MemoryReasoningConfig) -> LabelLaws:
    """The laws over all data sets of a task: of random labels, positions and noise.

    Trained combinations and keys are equally likely. Each has a uniform law of labels
    (`label_ranges`), and the law of a token is the mean of those where it occurs.
    """
    num_trained = config.num_trained  # masked combinations come after them
    low, size = label_ranges(config)
    keys = np.arange(*config.keys)
    mass_VV = np.zeros((config.vocab, config.vocab))
    for i, anchors in enumerate(combinations(config)[:num_trained]):
        law_KV = _uniform_laws(low[i], size[i], config.vocab)
        mass_VV[keys] += law_KV / config.num_keys
        law_V = law_KV.mean(0)
        for anchor in anchors:
            mass_VV[anchor] += law_V
    mass_VV /= num_trained
    # Noise is any key, and tells nothing about the label.
    law_of_all_V = mass_VV[keys].sum(0)
    num_noise = config.seq_len - config.q - 1
    mass_VV[keys] += num_noise / config.num_keys * law_of_all_V
    rate_V = mass_VV.sum(1)
    law_VV = np.zeros_like(mass_VV)
    occurs_V = rate_V > 0
    law_VV[occurs_V] = mass_VV[occurs_V] / rate_V[occurs_V, None]
    return LabelLaws(rate_V, law_VV)


def _uniform_laws(
    low: np.ndarray | int, size: np.ndarray | int, vocab: int
) -> np.ndarray:
    """Uniform laws of the labels low, ..., low + size - 1, a row for each, [law, V]."""
    low_column = np.reshape(low, (-1, 1))
    size_column = np.reshape(size, (-1, 1))
    offset = np.arange(vocab) - low_column
    is_possible = (offset >= 0) & (offset < size_column)
    return is_possible / size_column
