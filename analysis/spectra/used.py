"""The part of a matrix that ever sees data.

The vocabulary is larger than the task: a token that never occurs keeps its initial row,
shrunk by weight decay. Such rows show the initialization, not what was learnt.
"""

import numpy as np

from anchorjax.tasks import TaskConfig, anchors


def select_used(config: TaskConfig, path: str, W: np.ndarray) -> np.ndarray:
    """The rows of W_embed and W_pos and the columns of W_U that the task uses.

    All of any other matrix, and all of every matrix of a task that is not the anchor
    task.
    """
    if config.name != 'anchors':
        return W
    if path == 'W_embed':
        return W[list_tokens(config)]
    if path == 'W_pos':
        return W[: config.seq_len]
    if path == 'W_U':
        return W[:, list_labels(config)]
    return W


def list_tokens(config: anchors.AnchorsConfig) -> np.ndarray:
    """Tokens that occur in sequences, in order: key items (also noise) and anchors."""
    keys = np.arange(*config.keys)
    return np.union1d(keys, list(config.shift_of))


def list_labels(config: anchors.AnchorsConfig) -> np.ndarray:
    """Labels that occur in training, in order: every key item with a trained shift."""
    assigned_P = anchors.list_shifts(config)[:, anchors.MAPPINGS.index('assigned')]
    trained, _ = anchors.list_probed_pairs(config)['seen_train']
    keys = np.arange(*config.keys)
    return np.unique(keys + assigned_P[trained, None])
