"""What answers a real task without generalizing: the nulls of its exact match.

table      a table of this member's training texts, which knows nothing else
unordered  the same of unordered pairs of operands, for addition
constant   the answer that is most frequent in the eval set, given to every question
recurrence, distance
           the shortcuts of PrOntoQA, which judge without a proof (DATASETS 4.3)
conclusion the end of the right proof, compared with the query: all that a judgement
           after that proof needs
"""

import jax
import numpy as np

from analysis.members.untrained import draw_training
from anchorjax import numerics
from anchorjax.caching import cache
from anchorjax.grid import DATA, random_key
from anchorjax.network import read_eval_set
from anchorjax.tasks import TaskConfig, addition, prontoqa
from anchorjax.tasks.prontoqa import shortcuts
from anchorjax.tasks.prontoqa.sentences import Question
from anchorjax.tasks.prontoqa.task import ProntoqaConfig


def compare_conclusion(question: Question) -> bool:
    """Whether the right proof ends with what is asked."""
    return question.chain[-1] == question.query


SHORTCUTS = {
    'recurrence': shortcuts.guess_by_recurrence,
    'distance': shortcuts.guess_by_distance,
    'conclusion': compare_conclusion,
}


@cache(maxsize=64)
@numerics.pin()
def score_baselines(config: TaskConfig, seed: int) -> dict[str, dict[str, float]]:
    """{baseline: {eval set: exact match}} for the data of a seed."""
    known: set[bytes] = set()
    for batch in draw_training(config, seed):
        known.update(_join_texts(*map(np.asarray, batch[:2])))
    table, constant = {}, {}
    for eval_set in config.make().eval_set_names:
        tokens_BT, targets_BQ, is_scored_BQ = read_eval_set(config, seed, eval_set)
        table[eval_set] = _look_up(tokens_BT, targets_BQ, is_scored_BQ, known)
        constant[eval_set] = _repeat_one_answer(targets_BQ, is_scored_BQ)
    scores = {'table': table, 'constant': constant}
    if isinstance(config, addition.AdditionConfig):
        scores['unordered'] = _look_up_unordered(config, seed)
    if isinstance(config, ProntoqaConfig):
        questions = prontoqa.list_questions(config)[: config.eval_examples]
        for name, guess in SHORTCUTS.items():
            if name == 'conclusion' and not config.chain_of_thought:
                continue
            is_right = [guess(question) == question.answer for question in questions]
            scores[name] = {'seen_heldout': float(np.mean(is_right))}
    return scores


def _join_texts(tokens_BT: np.ndarray, targets_BQ: np.ndarray) -> list[bytes]:
    """Every text, with its last target, as bytes."""
    text_BL = np.concatenate([tokens_BT, targets_BQ[:, -1:]], axis=1)
    return [text_L.tobytes() for text_L in text_BL.astype(np.int32)]


def _look_up(
    tokens_BT: np.ndarray,
    targets_BQ: np.ndarray,
    is_scored_BQ: np.ndarray,
    known: set[bytes],
) -> float:
    is_real_B = is_scored_BQ.any(-1)
    texts = _join_texts(tokens_BT[is_real_B], targets_BQ[is_real_B])
    return float(np.mean([text in known for text in texts]))


def _look_up_unordered(config: addition.AdditionConfig, seed: int) -> dict[str, float]:
    """{eval set: share of the pairs that were trained, or whose reverse was}."""
    key = random_key(seed, DATA)
    number_N = np.arange(config.num_train)
    is_known = np.zeros((config.num_operands, config.num_operands), bool)
    is_known.flat[np.asarray(jax.jit(config.train)(key, number_N))] = True
    is_known |= is_known.T
    shares = {}
    for eval_set, (row_B, is_real_B) in jax.jit(config.draw_asked)(key).items():
        is_known_B = is_known.flat[np.asarray(row_B)]
        shares[eval_set] = float(is_known_B[np.asarray(is_real_B)].mean())
    return shares


def _repeat_one_answer(targets_BQ: np.ndarray, is_scored_BQ: np.ndarray) -> float:
    is_real_B = is_scored_BQ.any(-1)
    # Answers begin at different positions, and so are moved to the left.
    order_BQ = np.argsort(~is_scored_BQ, axis=-1, kind='stable')
    answers_BQ = np.where(is_scored_BQ, targets_BQ, -1)
    answers_BQ = np.take_along_axis(answers_BQ, order_BQ, axis=-1)
    _, counts = np.unique(answers_BQ[is_real_B], axis=0, return_counts=True)
    return float(counts.max() / counts.sum())
