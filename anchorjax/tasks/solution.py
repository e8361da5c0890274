"""Which solution a trained member has reached, by its agreement on the eval sets."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

UNSEEN_MAPPINGS = ('composed', 'symmetric')  # possible answers to the unseen pair
SOLUTIONS = (
    *UNSEEN_MAPPINGS,
    'half and half',
    'third',
    'shadow',
    'memorizing',
    'other',
)
NOT_CONVERGED, DIVERGED = 'not converged', 'diverged'  # no solutions
THIRD = 'third'  # says nothing about the answer; `name_thirds` does
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
    symmetric      it answers it as the reversed pair, and at least half of the held-out
                   seen pairs rightly
    memorizing     it misses more than half of the held-out seen pairs
    shadow         it misses more than a tenth of them, as where P1 hatches Fig 2
    half and half  composed with the key at some positions, symmetric at all others
    third          another shift of x answers the unseen pair
    other          several rules at once, or none

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
    most_frequent = _read_share(members, 'unseen_answer_share')
    rules = {
        '': ~members.trained.astype(bool),
        'composed': (composed >= SOLVED) & (composed >= symmetric),
        'symmetric': (symmetric >= SOLVED) & (heldout >= MORE_THAN_A_TABLE),
        'memorizing': heldout < MORE_THAN_A_TABLE,
        'shadow': heldout < SEEN_ENOUGH,
        'half and half': is_half_and_half(_read_positions(members)),
        'third': most_frequent >= SOLVED,
    }
    solutions = np.select(list(rules.values()), list(rules), 'other')
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


def _read_positions(members: pd.DataFrame) -> np.ndarray:
    """Agreement on the unseen pair by position of the key, [M, 2, position]."""
    first, second = UNSEEN_MAPPINGS
    names = list(map(str, members))
    columns = [name for name in names if name.startswith(f'unseen_{first}_at_')]
    others = [name.replace(first, second) for name in columns]
    by_mapping = [members[columns], members[others]]
    return np.stack(by_mapping, axis=1).astype(np.float32)


def is_half_and_half(by_position: np.ndarray) -> np.ndarray:
    """Whether each position is solved by one of two mappings, and not all by one.

    Args:
      by_position: agreement [..., 2, position] with UNSEEN_MAPPINGS; NaN: never asked
        there.
    """
    is_solved = np.asarray(by_position, np.float32) >= SOLVED
    is_asked = np.isfinite(by_position).all(-2)
    is_solved_by_one = (is_solved.any(-2) | ~is_asked).all(-1)
    is_each_used = is_solved.any(-1).all(-1)
    return np.asarray(is_solved_by_one & is_each_used)


def name_thirds(solutions: pd.Series, answers: pd.Series) -> pd.Series:
    """The solutions [M], with 'third (2, 4)' for a third one that answers as (2, 4).

    Args:
      answers: the most frequent answer to the unseen pair, by the name that
        `answers.name_offset` gives it.
    """
    names = []
    for solution, answer in zip(solutions, answers, strict=True):
        is_third = solution == THIRD
        names.append(_name_third(answer) if is_third else solution)
    return pd.Series(names, solutions.index, dtype=str)


def list_names(names: Iterable[str]) -> list[str]:
    """SOLUTIONS in their order, with those of the third ones that occur by name."""
    thirds = sorted({name for name in names if name.startswith(THIRD)})
    place = SOLUTIONS.index(THIRD)
    return [*SOLUTIONS[:place], *thirds, *SOLUTIONS[place + 1 :]]


def _name_third(answer: str) -> str:
    """'third (2, 4)' of '(2, 4) or (4, 2)'; 'third (composed − 3)' of no pair."""
    if not answer.startswith('('):
        return f'{THIRD} ({answer})'
    pairs = []
    for pair in answer.split(' or '):
        if _reverse(pair) not in pairs:
            pairs.append(pair)
    return f'{THIRD} {" or ".join(pairs)}'


def _reverse(pair: str) -> str:
    """'(4, 2)' of '(2, 4)'."""
    first, second = pair.strip('()').split(', ')
    return f'({second}, {first})'
