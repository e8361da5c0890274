"""Which solution a trained member has reached, by its agreement on the probes."""

import numpy as np

UNSEEN_MAPPINGS = ('inferential', 'symmetric')  # possible answers to the unseen pair
SOLUTIONS = (*UNSEEN_MAPPINGS, 'memorizing', 'other')
SOLVED = 0.9  # from this agreement on, a member is inferential or symmetric
SEEN_ENOUGH = 0.9  # below this agreement on held-out seen pairs (P1 Fig 2: hatched)


def classify_solution(inferential: float, symmetric: float, seen: float) -> str:
    """The one of SOLUTIONS that a member has reached.

    inferential, symmetric   it answers the unseen pair by that mapping
    memorizing               by neither, and it does not generalize on seen pairs
    other                    by neither, although it generalizes on seen pairs

    Args:
      inferential, symmetric: agreement on the unseen pair, in [0, 1]; NaN for a task
        without an unseen pair. The higher one counts; inferential if they are equal.
      seen: agreement on held-out seen pairs.
    """
    # Agreement is recorded in float32, in which a share of exactly 0.9 is below 0.9.
    inferential, symmetric, seen = np.float32([inferential, symmetric, seen])
    if inferential >= SOLVED and inferential >= symmetric:
        return 'inferential'
    if symmetric >= SOLVED:
        return 'symmetric'
    if seen < SEEN_ENOUGH:
        return 'memorizing'
    return 'other'


def mark_solutions(unseen: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """1 where a member has reached each of SOLUTIONS, 0 where not, NaN if untrained.

    A member counts for both mappings where their answers are the same (P3's task).

    Args:
      unseen: agreement [R, ...] with UNSEEN_MAPPINGS; R = 0 without an unseen pair.
      seen: agreement [...] on held-out seen pairs; NaN if untrained.

    Returns:
      [4, ...].
    """
    inferential = symmetric = np.full(seen.shape, np.nan)
    if len(unseen) > 0:
        inferential, symmetric = unseen
    classify = np.vectorize(classify_solution)
    with np.errstate(invalid='ignore'):  # comparisons with NaN
        solution = classify(inferential, symmetric, seen)
    is_reached = np.stack(
        [
            inferential >= SOLVED,
            symmetric >= SOLVED,
            solution == 'memorizing',
            solution == 'other',
        ]
    )
    return np.where(np.isnan(seen), np.nan, is_reached)
