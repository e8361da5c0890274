"""A source whose words are merged until it is as repetitive as another one.

Reasoning data use few words, and some of them all the time. A network may learn them
earlier for that reason alone. The control merges the words of the stories into as many
classes as the reasoning data have words, each class as frequent as one of these words:
so both sources have the same number of labels and the same label entropy. The order of
the classes is still that of the stories.
"""

import numpy as np


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
    """The entropy of a distribution in nats, from how often each label occurs."""
    share = counts[counts > 0] / counts.sum()
    entropy = -(share * np.log(share)).sum()
    return float(entropy)
