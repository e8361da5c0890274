"""What answers without composing: the nulls of P4's accuracies.

Of the tasks whose answer is one token it is chance. Of SCAN it is a table of bigrams:
it answers every token with the one that followed the token before it most often in the
training answers, and does not read the command.
"""

import numpy as np

from analysis.members.untrained import draw_training
from anchorjax.caching import cache
from anchorjax.network import mark_scored, read_eval_set
from anchorjax.tasks import Batch, TaskConfig
from anchorjax.tasks.anchor_permutations import AnchorPermutationsConfig
from anchorjax.tasks.modular_addition import ModularAdditionConfig


def score_null(config: TaskConfig, seed: int) -> float:
    """Accuracy of a network that does not compose, for the data of a seed."""
    if isinstance(config, AnchorPermutationsConfig):
        return 1 / config.num_keys
    if isinstance(config, ModularAdditionConfig):
        return 1 / config.modulus
    return _score_bigrams(config, seed)


@cache(maxsize=64)
def _score_bigrams(config: TaskConfig, seed: int) -> float:
    task = config.make()
    count_VV = np.zeros((task.vocab, task.vocab), int)
    for batch in draw_training(config, seed):
        count_VV += count_bigrams(batch, task.vocab)
    # Of equals the first; 0 after a token that no scored one follows.
    guess_V = count_VV.argmax(-1)
    tokens_BT, targets_BQ, is_scored_BQ = read_eval_set(config, seed, 'test')
    is_right_BQ = guess_V[tokens_BT] == targets_BQ
    return float(is_right_BQ[is_scored_BQ].mean())


def count_bigrams(batch: Batch, vocab: int) -> np.ndarray:
    """How often each token follows each other one where answers are scored."""
    count_VV = np.zeros((vocab, vocab), int)
    is_scored_BQ = mark_scored(batch.targets_BQ, batch.weights_BQ)
    before = batch.tokens_BT[is_scored_BQ]
    np.add.at(count_VV, (before, batch.targets_BQ[is_scored_BQ]), 1)
    return count_VV
