"""Which solution a trained member has reached, by its agreement on the eval sets."""

import numpy as np
import pandas as pd

UNSEEN_MAPPINGS = ('composed', 'symmetric')  # possible answers to the unseen pair
SOLUTIONS = (
    *UNSEEN_MAPPINGS,
    'shadow',
    'memorizing',
    'neither',
)
NOT_CONVERGED, DIVERGED = 'not converged', 'diverged'  # no solutions
SOLVED = 0.9  # from this agreement on, a member answers by a rule
SEEN_ENOUGH = 0.9  # below this agreement on held-out seen pairs: P1's shadow (Fig 2)
# On held-out seen pairs, of which a table by unordered pair knows none in the random
# splits. Below it a network memorizes, however it answers the unseen pair. The limit is
# ours, and cuts through a population: with four anchors and gamma 0.6 networks know .01
# to 1.00 of the held-out questions (analysis/gallery/law/members.csv).
MORE_THAN_A_TABLE = 0.5


def classify_members(members: pd.DataFrame) -> pd.Series:
    """The one of SOLUTIONS that each member has reached, the first that fits.

    composed    it answers the unseen pair by composition
    symmetric   it answers it as the reversed pair, and at least half of the held-out
                seen pairs rightly
    memorizing  it misses more than half of the held-out seen pairs
    shadow      it misses more than a tenth of them, as where P1 hatches Fig 2
    neither     none of these: another answer, several rules at once, or none

    A table of the training data that ignores the order of a pair also answers the
    unseen pair symmetrically, so without held-out keys that answer is no rule.
    No table answers it by composition. Members that have not converged are classified
    like all others, by what they answer: to a reader `name_ends` says how a member
    ended. '' where a member is not trained.

    Args:
      members: rows of `Run.members` or of a members.csv; what a task does not ask is
        no column, or NaN.
    """
    composed = _read_share(members, 'unseen_composed')
    symmetric = _read_share(members, 'unseen_symmetric')
    heldout = _read_share(members, 'seen_heldout_assigned')
    rules = {
        '': ~members.trained.astype(bool),
        'composed': (composed >= SOLVED) & (composed >= symmetric),
        'symmetric': (symmetric >= SOLVED) & (heldout >= MORE_THAN_A_TABLE),
        'memorizing': heldout < MORE_THAN_A_TABLE,
        'shadow': heldout < SEEN_ENOUGH,
    }
    solutions = np.select(list(rules.values()), list(rules), 'neither')
    return pd.Series(solutions, members.index, dtype=str)


def name_ends(members: pd.DataFrame) -> pd.Series:
    """The solution of each converged member; of another why it has none.

    NOT_CONVERGED, DIVERGED, or '' where it is not trained.

    Args:
      members: as in `classify_members`.
    """
    is_open = members.trained & ~members.converged
    ends = classify_members(members).mask(is_open, NOT_CONVERGED)
    return ends.mask(members.diverged >= 0, DIVERGED)


def _read_share(members: pd.DataFrame, column: str) -> np.ndarray:
    """A column in float32, as it is recorded: there a share of 0.9 is below 0.9."""
    if column not in members:
        return np.full(len(members), np.nan, np.float32)
    return members[column].to_numpy(np.float32)
