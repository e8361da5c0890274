"""What a member can end at, as the law counts it, and the blocks of the design.

The solutions that are neither memorizing nor one of the two mappings are pooled: half
and half, third and other. A block holds the members of one kind of exception. The
symmetric answer exists only where the exception is trained: elsewhere the reversed pair
has the same answer as the composition, or none.
"""

import numpy as np
import pandas as pd

from analysis.designs import factors
from analysis.members.solution import MORE_THAN_A_TABLE

MEMORIZING, SYMMETRIC, INFERENTIAL, OTHER = (
    'memorizing',
    'symmetric',
    'inferential',
    'other',
)
# Shares of the members that are no table of the data. Whether one is may not depend on
# its answers to the unseen pair: it knows as many held-out questions as a symmetric one
# must, or composes, which no table does.
SYMMETRIC_RULE, INFERENTIAL_RULE = 'symmetric*', 'inferential*'
# And of all members, converged or not.
CONVERGED = 'converged'
# Shares of the answers to the unseen pair, means over members: a member that follows a
# rule in half of its answers counts by half, and not as another solution.
SYMMETRIC_ANSWERS, INFERENTIAL_ANSWERS = 'symmetric answers', 'inferential answers'
# And of the answers to held-out questions about seen pairs.
HELDOUT_ANSWERS = 'held-out answers'
AGREEMENT = {
    HELDOUT_ANSWERS: 'seen_heldout_assigned',
    SYMMETRIC_ANSWERS: 'unseen_symmetric',
    INFERENTIAL_ANSWERS: 'unseen_inferential',
}
_WHOLE = {
    SYMMETRIC_RULE: 'no table',
    INFERENTIAL_RULE: 'no table',
    CONVERGED: 'trained',
}
_ALL = (MEMORIZING, SYMMETRIC, INFERENTIAL, OTHER)
_WITHOUT_SYMMETRIC = (MEMORIZING, INFERENTIAL, OTHER)


def list_outcomes(block: str) -> tuple[str, ...]:
    """The outcomes of a block, from the table of the data to composition."""
    return _ALL if block == factors.TRAINED else _WITHOUT_SYMMETRIC


def list_shares(block: str) -> tuple[str, ...]:
    """The outcomes of a block (or of all), and the shares of other wholes."""
    if block in (factors.BOTH_UNSEEN, factors.NONE):
        answers = (HELDOUT_ANSWERS, INFERENTIAL_ANSWERS)
        return *_WITHOUT_SYMMETRIC, INFERENTIAL_RULE, *answers, CONVERGED
    return *_ALL, SYMMETRIC_RULE, INFERENTIAL_RULE, *AGREEMENT, CONVERGED


def find_wholes(members: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The members of whom a share can be, by the names that `name_whole` gives."""
    converged = members[members.converged]
    knows_more = converged.seen_heldout_assigned >= MORE_THAN_A_TABLE
    composes = converged.solution == INFERENTIAL
    return {
        'trained': members,
        'converged': converged,
        'no table': converged[knows_more | composes],
    }


def name_whole(share: str) -> str:
    """Of which members it is a share."""
    return _WHOLE.get(share, 'converged')


def list_blocks(members: pd.DataFrame) -> list[str]:
    """The kinds of exception that members have."""
    return factors.order_levels(factors.BY_NAME['exception'], members.exception)


def select_block(members: pd.DataFrame, block: str) -> pd.DataFrame:
    return members[members.exception == block].reset_index(drop=True)


def find_outcomes(members: pd.DataFrame) -> np.ndarray:
    """The outcome of every member, whether it has converged or not."""
    solution = members.solution.to_numpy(str)
    is_counted = np.isin(solution, _ALL)
    is_trained = members.exception.to_numpy(str) == factors.TRAINED
    is_counted &= is_trained | (solution != SYMMETRIC)
    return np.where(is_counted, solution, OTHER)


def name_block(block: str) -> str:
    """'exception trained', 'both unseen', 'no exception'."""
    names = {factors.TRAINED: 'exception trained', factors.NONE: 'no exception'}
    return names.get(block, block)
