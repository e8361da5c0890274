"""Which table or function explains what a member answers? (P1 Sec 5; PAPERS 1.1)

P1 and its slides order solutions by how many mappings they need. Each level is a
predictor of the member's own answers, right or wrong. All of them fit the training
data, the exceptions among it, and each says more about other questions than the one
before, or something else:

  datum           a table of the training examples: nothing else
  ordered pair    one function a pair: key items that were not trained, too
  unordered pair  one function an unordered pair: an unseen pair as its reverse
  composed        one function an anchor: an unseen pair as the composition

A question is a pair, a position and a key item; its noise is drawn once. A predictor
that says nothing about a question explains no answer to it.
"""

import functools
from typing import Any, NamedTuple

import jax
import numpy as np
import pandas as pd

from analysis.members.member import Member
from anchorjax.errors import UserError
from anchorjax.grid import DATA, random_key
from anchorjax.tasks import anchors
from anchorjax.tasks.anchors import AnchorsConfig

LEVELS = ('datum', 'ordered pair', 'unordered pair', 'composed')
KINDS = ('trained', 'held-out', 'unseen')  # of questions
SILENT = -1  # a predictor that says nothing
_CHUNK = 2**16  # training examples read at a time


class Questions(NamedTuple):
    """All questions N of one seed, and what every level answers."""

    tokens_NT: np.ndarray
    kind_N: np.ndarray  # index into KINDS
    answer_LN: np.ndarray  # by LEVELS; SILENT where a level says nothing


@functools.lru_cache
def list_questions(config: AnchorsConfig, seed: int) -> Questions:
    """The questions of a task with the data set of one seed.

    'trained' are those that are among its training examples; 'held-out' are all others
    about trained pairs, also those that could have been drawn and were not.
    """
    low, high = config.keys
    shape = (config.num_pairs, len(config.positions), high - low)
    row_N, column_N, key_N = (index.ravel() for index in np.indices(shape))
    position_N = np.array(config.positions)[column_N]
    x_N = low + key_N
    anchors_N2 = anchors.list_pairs(config)[row_N]
    rng = np.random.default_rng(seed)
    noise_NT = rng.integers(low, high, (len(x_N), config.seq_len), np.int32)
    tokens_NT = anchors.place(noise_NT, position_N, x_N, anchors_N2, config.order)
    is_trained_N = _mark_trained(config, seed, shape).ravel()

    kind_N = np.full(len(x_N), KINDS.index('held-out'))
    kind_N[_mark_unseen(config)[row_N]] = KINDS.index('unseen')
    kind_N[is_trained_N] = KINDS.index('trained')
    shift_LP, speaks_LP = _list_functions(config)
    answer_LN = np.where(speaks_LP[:, row_N], x_N + shift_LP[:, row_N], SILENT)
    answer_LN[LEVELS.index('datum'), ~is_trained_N] = SILENT
    return Questions(np.asarray(tokens_NT), kind_N, answer_LN)


def explain_answers(answer_N: np.ndarray, questions: Questions) -> pd.DataFrame:
    """The share of some answers that each level explains, [kind, level]; NaN: none."""
    is_explained_LN = questions.answer_LN == answer_N
    of_levels = pd.DataFrame(is_explained_LN.T, columns=LEVELS)
    kinds = np.array(KINDS)[questions.kind_N]
    return of_levels.groupby(kinds).mean().reindex(KINDS)


def explain_member(member: Member) -> pd.DataFrame:
    """The share of a member's answers that each level explains.

    Raises:
      UserError: another task.
    """
    config = member.experiment.task
    if config.name != 'anchors':
        raise UserError(f"task {config.name!r}: levels are about the task 'anchors'")
    questions = list_questions(config, member.point['seed'])
    logits_NV = member.forward(questions.tokens_NT).logits[:, -1]
    return explain_answers(logits_NV.argmax(-1), questions)


def score_tables(config: AnchorsConfig, seed: int) -> dict[str, pd.DataFrame]:
    """{level: `explain_answers` of a predictor that is this level}.

    Where the level that answers says nothing, its answer is explained by none.
    """
    questions = list_questions(config, seed)
    scores = {}
    for level, answer_N in zip(LEVELS, questions.answer_LN, strict=True):
        # What is said nowhere is unlike every answer, that of silence included.
        spoken_N = np.where(answer_N == SILENT, SILENT - 1, answer_N)
        scores[level] = explain_answers(spoken_N, questions)
    return scores


def _list_functions(config: AnchorsConfig) -> tuple[np.ndarray, np.ndarray]:
    """(answer minus key item, whether it says anything) by level and pair, [L, pair].

    The table of the data has the shifts of a function a pair.
    """
    rows = anchors.list_pairs(config).tolist()
    reverse_P = np.array([rows.index([b, a]) for a, b in rows])
    inferential_P, _, assigned_P = anchors.list_shifts(config).T
    is_unseen_P = _mark_unseen(config)
    reversed_P = np.where(is_unseen_P, assigned_P[reverse_P], assigned_P)
    composed_P = np.where(is_unseen_P, inferential_P, assigned_P)
    is_known_P = ~is_unseen_P
    has_reverse_P = is_known_P | is_known_P[reverse_P]
    shift_LP = np.stack([assigned_P, assigned_P, reversed_P, composed_P])
    everywhere_P = np.ones(len(rows), bool)
    speaks_LP = np.stack([is_known_P, is_known_P, has_reverse_P, everywhere_P])
    return shift_LP, speaks_LP


def _mark_unseen(config: AnchorsConfig) -> np.ndarray:
    """Which pairs are never trained, bool [pair]."""
    trained, _ = anchors.list_probed_pairs(config)['seen_train']
    is_unseen_P = np.ones(config.num_pairs, bool)
    is_unseen_P[trained] = False
    return is_unseen_P


def _mark_trained(
    config: AnchorsConfig, seed: int, shape: tuple[int, int, int]
) -> np.ndarray:
    """Which questions are among the training examples, bool [pair, position, key]."""
    task = config.make()
    read = _compile_examples(config)
    is_trained = np.zeros(shape, bool)
    for start in range(0, task.num_train, _CHUNK):
        index_B = np.arange(start, min(start + _CHUNK, task.num_train), dtype=np.int32)
        row_B, column_B, key_B = map(np.asarray, read(seed, index_B))
        is_trained[row_B, column_B, key_B] = True
    return is_trained


@functools.lru_cache
def _compile_examples(config: AnchorsConfig) -> Any:
    """(seed, numbers) -> indices [pair, position, key] of training examples."""
    task = config.make()
    rows, _ = anchors.list_probed_pairs(config)['seen_train']

    @jax.jit
    def read(seed: jax.Array, index_B: jax.Array) -> tuple[jax.Array, ...]:
        data = task.make_data(random_key(seed, DATA))
        row_B = jax.numpy.asarray(rows)[index_B % len(rows)]
        drawn = anchors.draw_sequences(
            config, data, data.key, row_B, index_B, heldout=False
        )
        return row_B, drawn.column_B, drawn.x_B - config.keys[0]

    return read
