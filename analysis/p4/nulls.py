"""What answers without composing: the nulls of P4's accuracies.

Of the tasks whose answer is one token it is chance. Of SCAN it is a table of bigrams:
it answers every token with the one that followed the token before it most often in the
training answers, and does not read the command.
"""

import functools

import jax
import numpy as np

from analysis.text_tasks.baselines import compile_maker
from anchorjax.task import Batch, TaskConfig


def score_null(config: TaskConfig, seed: int) -> float:
    """Accuracy of a network that does not compose, for the data of a seed."""
    if config.name == 'anchor_permutations':
        return 1 / config.num_keys
    if config.name == 'modular_addition':
        return 1 / config.modulus
    return _score_bigrams(config, seed)


@functools.lru_cache(maxsize=64)
def _score_bigrams(config: TaskConfig, seed: int) -> float:
    maker = compile_maker(config)
    index_B = np.arange(maker.task.num_train)
    trained = jax.tree.map(np.asarray, maker.make_batch(seed, index_B))
    guess_V = find_successors(trained, maker.task.vocab)

    probes = jax.tree.map(np.asarray, maker.make_probes(seed))
    p = maker.task.probe_names.index('test')
    is_scored_BQ = probes.weights_PBQ[p] > 0
    is_right_BQ = guess_V[probes.tokens_PBT[p]] == probes.targets_PRBQ[p, 0]
    return float(is_right_BQ[is_scored_BQ].mean())


def find_successors(batch: Batch, vocab: int) -> np.ndarray:
    """The token that follows each token most often where answers are scored, [vocab].

    Of equals the first; 0 after a token that no scored one follows.
    """
    count_VV = np.zeros((vocab, vocab), int)
    is_scored_BQ = batch.weights_BQ > 0
    before = batch.tokens_BT[is_scored_BQ]
    np.add.at(count_VV, (before, batch.targets_BQ[is_scored_BQ]), 1)
    return count_VV.argmax(-1)
