"""What answers a real task without generalizing: the nulls of its exact match.

table      a table of this member's training texts, which knows nothing else
unordered  the same of unordered pairs of operands, for addition
constant   the answer that is most frequent in the probe, given to every question
recurrence, distance
           the shortcuts of PrOntoQA, which judge without a proof (DATASETS 4.3)
conclusion the end of the right proof, compared with the query: all that a judgement
           after that proof needs
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import numpy as np

from anchorjax.grid import DATA, random_key
from anchorjax.task import Batch, Probes, Task, TaskConfig
from anchorjax.tasks import addition, prontoqa
from anchorjax.tasks.prontoqa import shortcuts
from anchorjax.tasks.prontoqa.sentences import Question

_PIECE = 2**15  # examples that are made at once
Guess = Callable[[Question], bool]


def compare_conclusion(question: Question) -> bool:
    """Whether the right proof ends with what is asked."""
    return question.chain[-1] == question.query


_SHORTCUTS = {
    'recurrence': shortcuts.guess_by_recurrence,
    'distance': shortcuts.guess_by_distance,
    'conclusion': compare_conclusion,
}


class Maker(NamedTuple):
    """A task's data by seed, compiled once for all seeds."""

    task: Task
    make_probes: Callable[[int], Probes]
    make_batch: Callable[[int, np.ndarray], Batch]


@functools.lru_cache(maxsize=64)
def score_baselines(config: TaskConfig, seed: int) -> dict[str, dict[str, float]]:
    """{baseline: {probe: exact match}} for the data of a seed."""
    maker = compile_maker(config)
    probes = jax.tree.map(np.asarray, maker.make_probes(seed))
    known = _list_training_texts(maker, seed)
    table, constant = {}, {}
    for p, probe in enumerate(maker.task.probe_names):
        table[probe] = _look_up(probes, p, known)
        constant[probe] = _repeat_one_answer(probes, p)
    scores = {'table': table, 'constant': constant}
    if config.name == 'addition':
        scores['unordered'] = _look_up_unordered(config, seed)
    if config.name == 'prontoqa':
        for name, guess in _SHORTCUTS.items():
            if name == 'conclusion' and not config.chain_of_thought:
                continue
            share = _take_shortcut(config, guess)
            scores[name] = {'seen_heldout': share}
    return scores


@functools.lru_cache(maxsize=16)
def compile_maker(config: TaskConfig) -> Maker:
    """The probes and batches of a task by its seed."""
    task = config.make()

    @jax.jit
    def make_probes(seed: jax.Array) -> Probes:
        return task.probes(task.make_data(random_key(seed, DATA)))

    @jax.jit
    def make_batch(seed: jax.Array, index_B: jax.Array) -> Batch:
        return task.batch(task.make_data(random_key(seed, DATA)), index_B)

    return Maker(task, make_probes, make_batch)


def _list_training_texts(maker: Maker, seed: int) -> set[bytes]:
    """The texts of all training examples."""
    total = maker.task.num_train
    size = min(total, _PIECE)
    known: set[bytes] = set()
    for first in range(0, total, size):
        index_B = np.arange(first, first + size)
        batch = maker.make_batch(seed, np.minimum(index_B, total - 1))
        known.update(_join_texts(batch.tokens_BT, batch.targets_BQ))
    return known


def _join_texts(tokens_BT: np.ndarray, targets_BQ: np.ndarray) -> list[bytes]:
    """Every text, with its last target, as bytes."""
    last_B1 = np.asarray(targets_BQ)[:, -1:]
    text_BL = np.concatenate([np.asarray(tokens_BT), last_B1], axis=1)
    text_BL = text_BL.astype(np.int32)
    return [text_L.tobytes() for text_L in text_BL]


def _look_up(probes: Probes, p: int, known: set[bytes]) -> float:
    is_real_B = (probes.weights_PBQ[p] > 0).any(-1)
    texts = _join_texts(probes.tokens_PBT[p], probes.targets_PRBQ[p, 0])
    is_known = []
    for text, is_real in zip(texts, is_real_B, strict=True):
        if is_real:
            is_known.append(text in known)
    return float(np.mean(is_known))


def _look_up_unordered(config: addition.AdditionConfig, seed: int) -> dict[str, float]:
    """{probe: share of the pairs that were trained, or whose reverse was}."""
    key = random_key(seed, DATA)
    number_N = np.arange(config.num_train)
    first_N, second_N = map(np.asarray, addition.training_pair(config, key, number_N))
    is_known = np.zeros((config.num_operands, config.num_operands), bool)
    is_known[first_N, second_N] = True
    is_known |= is_known.T
    shares = {}
    for probe, pairs in addition.list_probed_pairs(config, key).items():
        is_known_B = is_known[pairs.a_B, pairs.b_B]
        shares[probe] = float(is_known_B[np.asarray(pairs.is_real_B)].mean())
    return shares


def _repeat_one_answer(probes: Probes, p: int) -> float:
    is_scored_BQ = probes.weights_PBQ[p] > 0
    is_real_B = is_scored_BQ.any(-1)
    # Answers begin at different positions, and so are moved to the left.
    order_BQ = np.argsort(~is_scored_BQ, axis=-1, kind='stable')
    answers_BQ = np.where(is_scored_BQ, probes.targets_PRBQ[p, 0], -1)
    answers_BQ = np.take_along_axis(answers_BQ, order_BQ, axis=-1)
    _, counts = np.unique(answers_BQ[is_real_B], axis=0, return_counts=True)
    return float(counts.max() / counts.sum())


def _take_shortcut(config: prontoqa.ProntoqaConfig, guess: Guess) -> float:
    questions = prontoqa.list_questions(config)[: config.probe_examples]
    is_right = [guess(question) == question.answer for question in questions]
    return float(np.mean(is_right))
