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

There are also the tables of `members/lookup.py`, which know the whole split, give each
of two answers half of the time, and are scored on the questions of the eval sets alone.
"""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from analysis.circuits.sequences import require_anchor_task
from analysis.members.untrained import draw_training
from anchorjax import numerics
from anchorjax.caching import cache
from anchorjax.network import Network
from anchorjax.tasks import anchors
from anchorjax.tasks.anchors import AnchorsConfig

LEVELS = ['datum', 'ordered pair', 'unordered pair', 'composed']
KINDS = ('trained', 'held-out', 'unseen')  # of questions


@cache()
@numerics.pin()
def list_questions(config: AnchorsConfig, seed: int) -> tuple[np.ndarray, pd.DataFrame]:
    """(tokens [N, T], table) of all questions of a task with the data set of one seed.

    The table has a row per question: its `kind`, and the answer of each of LEVELS; NaN
    where a level says nothing. 'trained' are those that are among its training
    examples; 'held-out' are all others about trained pairs, also those that could have
    been drawn and were not.
    """
    low, high = config.keys
    shape = (config.num_pairs, len(config.positions), high - low)
    pair_N, column_N, key_N = (index.ravel() for index in np.indices(shape))
    position_N = np.array(config.positions)[column_N]
    x_N = low + key_N
    anchors_N2 = anchors.list_pairs(config)[pair_N]
    rng = np.random.default_rng(seed)
    noise_NT = rng.integers(low, high, (len(x_N), config.seq_len), np.int32)
    tokens_NT = anchors.place(noise_NT, position_N, x_N, anchors_N2, config.order)

    is_trained = np.zeros(shape, bool)
    for batch in draw_training(config, seed):
        is_trained[_find_questions(config, np.asarray(batch.tokens_BT))] = True
    is_trained_N = is_trained.ravel()
    shifts = _list_functions(config)
    is_unseen_N = shifts['ordered pair'].isna().to_numpy()[pair_N]
    questions = shifts.iloc[pair_N].add(x_N, axis=0).reset_index(drop=True)
    questions.insert(0, 'datum', questions['ordered pair'].where(is_trained_N))
    kinds = np.select([is_trained_N, is_unseen_N], ['trained', 'unseen'], 'held-out')
    return np.asarray(tokens_NT), questions.assign(kind=kinds)


def explain_answers(answer_N: ArrayLike, questions: pd.DataFrame) -> pd.DataFrame:
    """The share of some answers that each level explains, [kind, level]; NaN: none."""
    is_explained = questions[LEVELS].eq(np.asarray(answer_N), axis=0)
    return is_explained.groupby(questions.kind).mean().reindex(KINDS)


def explain_member(member: Network) -> pd.DataFrame:
    """The share of an anchor network's answers that each level explains."""
    seed = member.point['seed']
    config = require_anchor_task(member)
    tokens_NT, questions = list_questions(config, seed)
    return explain_answers(member.answer(tokens_NT), questions)


def score_tables(config: AnchorsConfig, seed: int) -> dict[str, pd.DataFrame]:
    """{level: `explain_answers` of a predictor that is this level}.

    Where the level that answers says nothing, its answer is explained by none.
    """
    _, questions = list_questions(config, seed)
    return {level: explain_answers(questions[level], questions) for level in LEVELS}


def _list_functions(config: AnchorsConfig) -> pd.DataFrame:
    """Answer minus key item of every pair by each function; NaN: it says nothing."""
    rows = anchors.list_pairs(config).tolist()
    reverse_P = np.array([rows.index([b, a]) for a, b in rows])
    composed_P, _, assigned_P = anchors.list_shifts(config).T
    trained, _ = anchors.list_asked_pairs(config)['seen_train']
    of_pair = pd.Series(assigned_P).iloc[trained].reindex(range(len(rows)))
    of_reverse = of_pair.iloc[reverse_P].reset_index(drop=True)
    return pd.DataFrame(
        {
            'ordered pair': of_pair,
            'unordered pair': of_pair.fillna(of_reverse),
            'composed': of_pair.fillna(pd.Series(composed_P)),
        }
    )


def _find_questions(
    config: AnchorsConfig, tokens_BT: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices (pair, position, key item) of what sequences ask, [B] each."""
    role_BT = np.asarray(anchors.find_roles(config, tokens_BT))
    # Roles 0 to 2 are those of the key item and of the two anchors.
    key_B, *pair_2B = [tokens_BT[role_BT == role] for role in range(3)]
    pairs = pd.MultiIndex.from_arrays([*anchors.list_pairs(config).T])
    row_B = pairs.get_indexer(pd.MultiIndex.from_arrays(pair_2B))
    position_B = (role_BT < 3).argmax(-1)  # of the first of the three tokens
    return row_B, position_B - config.positions.start, key_B - config.keys[0]
