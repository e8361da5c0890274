"""What a table of the training data would score: the baseline of every agreement.

A table answers a question that it contains as it was trained, and no other question.
Three tables, each of which knows more questions than the one before:

  datum           the pair, the key item and its position
  ordered pair    the pair and the key item, at any position
  unordered pair  the two anchors in any order and the key item, at any position

In the official splits a held-out key item is trained at the other positions, so a table
by ordered pair answers every held-out question: held-out agreement there tests
generalization over positions alone. In the random split no table can answer any.

There are also the levels of `p1/predictors.py`: these tables know the whole split and
are scored on the questions of the eval sets, those know the drawn examples and explain
a network's answers to every question, so that their numbers differ.
"""

import numpy as np
import pandas as pd

from analysis.members.point import list_points
from analysis.members.selection import require_task
from anchorjax import numerics
from anchorjax.caching import cache
from anchorjax.grid import DATA, random_key
from anchorjax.storage.reader import Run
from anchorjax.tasks import anchors
from anchorjax.tasks.anchors import AnchorsConfig

LEVELS = ('datum', 'ordered pair', 'unordered pair')
# Columns of a members.csv, and the (eval set, mapping) whose agreement each holds.
SCORED = {
    'seen_heldout_assigned': ('seen_heldout', 'assigned'),
    'unseen_composed': ('unseen', 'composed'),
    'unseen_symmetric': ('unseen', 'symmetric'),
}
Scores = dict[str, dict[tuple[str, str], float]]


@cache(maxsize=1_024)
@numerics.pin()
def lookup_scores(config: AnchorsConfig, seed: int) -> Scores:
    """{level: {(eval set, mapping): expected agreement of a perfect table}}.

    Exact, by counting all questions of an eval set with their probabilities. A table by
    unordered pair that knows two answers gives each half of the time.
    """
    data = anchors.make_data(config, random_key(seed, DATA))
    key_items = np.asarray(data.key_items)
    is_trained = np.zeros(key_items.shape, bool)
    rank = np.arange(key_items.shape[-1])
    is_first = rank < np.asarray(data.num_trained)[..., None]
    places = key_items - config.keys[0]
    np.put_along_axis(is_trained, places, is_first, axis=-1)
    is_known = is_trained.copy()
    for pair in config.unseen_pairs:
        is_known[anchors.find_row(config, pair)] = False

    scores: Scores = {}
    for level in LEVELS:
        scores[level] = {}
        right_RPTK = _answer_questions(config, is_known, level)
        for eval_set, (asked_rows, heldout) in anchors.list_asked_pairs(config).items():
            asked = is_trained[asked_rows] != heldout
            weights = asked / asked.sum(-1, keepdims=True)
            weights = weights / weights.sum()
            for r, mapping in enumerate(anchors.MAPPINGS):
                expected = (weights * right_RPTK[r, asked_rows]).sum()
                scores[level][eval_set, mapping] = float(expected)
    return scores


def score_members(run: Run, members: pd.DataFrame) -> pd.DataFrame:
    """What the tables would score on the questions of each member, [M, columns].

    The columns are pairs of one of SCORED and one of LEVELS; NaN where the task of a
    member does not ask the question.

    Args:
      run: of the anchor task.
      members: rows of `Run.members`.
    """
    columns = pd.MultiIndex.from_product([SCORED, LEVELS])
    points = list_points(run)
    rows = []
    for place in members.index:
        point = points[place]
        task = require_task(run.experiment_of(**point).task, AnchorsConfig)
        scores = lookup_scores(task, point['seed'])
        rows.append([scores[level].get(SCORED[name]) for name, level in columns])
    return pd.DataFrame(rows, members.index, columns, dtype=float)


def _answer_questions(
    config: AnchorsConfig, is_known: np.ndarray, level: str
) -> np.ndarray:
    """Probability that a table gives the answer of a mapping, [R, pair, position, key].

    Args:
      is_known: which questions are trained, [pair, position, key].
    """
    if level != 'datum':
        anywhere = is_known.any(1, keepdims=True)
        is_known = np.broadcast_to(anywhere, is_known.shape)
    rows = anchors.list_pairs(config).tolist()
    own = np.arange(len(rows))
    # (the pairs that are looked up, which of their questions are known)
    entries = [(own, is_known)]
    if level == 'unordered pair':
        reverse = np.array([rows.index([b, a]) for a, b in rows])
        is_another = reverse != own  # (a, a) is its own reverse
        entries.append((reverse, is_known[reverse] & is_another[:, None, None]))

    shifts = anchors.list_shifts(config)
    assigned = shifts[:, anchors.MAPPINGS.index('assigned')]
    number_of_answers = np.zeros(is_known.shape)
    right = np.zeros((len(anchors.MAPPINGS), *is_known.shape))
    for source, is_entry in entries:
        number_of_answers += is_entry
        for r in range(len(right)):
            agrees = assigned[source] == shifts[:, r]
            right[r] += is_entry * agrees[:, None, None]
    return right / np.maximum(number_of_answers, 1)
