"""Which solution a trained member has reached, by its agreement on the probes."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from anchorjax.storage.deviations import NUM_ANSWERS

UNSEEN_MAPPINGS = ('inferential', 'symmetric')  # possible answers to the unseen pair
SOLUTIONS = (
    *UNSEEN_MAPPINGS,
    'half and half',
    'third',
    'memorizing',
    'other',
)
THIRD = 'third'  # says nothing about the answer; `name_thirds` does
SOLVED = 0.9  # from this agreement on, a member answers by a rule
SEEN_ENOUGH = 0.9  # below this agreement on held-out seen pairs (P1 Fig 2: hatched)
# On held-out seen pairs, of which a table by unordered pair knows none in the random
# splits. Below it a network that answers as the reverse is called memorizing. The limit
# is ours, and cuts through a population: with four anchors and gamma 0.6 these networks
# know .07 to .68 of the held-out questions (RESULTS.md).
MORE_THAN_A_TABLE = 0.5


class Answers(NamedTuple):
    """How a member answers; agreements and shares are in [0, 1], NaN if not asked."""

    inferential: float  # on the unseen pair
    symmetric: float
    heldout: float  # on held-out seen pairs
    # On the unseen pair with the key at each position, [2, position].
    by_position: np.ndarray | None = None
    # Share of the most frequent single answer to the unseen pair, as a shift of x.
    most_frequent: float = np.nan


def classify_solution(answers: Answers) -> str:
    """The one of SOLUTIONS that a member has reached, the first that fits.

    inferential    it answers the unseen pair by composition
    symmetric      it answers it as the reversed pair, and at least half of the held-out
                   seen pairs rightly
    memorizing     it does not generalize on seen pairs
    half and half  inferential with the key at some positions, symmetric at all others
    third          another shift of x answers the unseen pair
    other          several rules at once, or none

    A table of the training data that ignores the order of a pair also answers the
    unseen pair symmetrically, so without held-out keys that answer is no rule.
    No table answers it by composition. Members that have not converged are classified
    like all others: the caller leaves them out.
    """
    # Agreement is recorded in float32, in which a share of exactly 0.9 is below 0.9.
    numbers = np.float32([answers.inferential, answers.symmetric, answers.heldout])
    inferential, symmetric, heldout = numbers
    if inferential >= SOLVED and inferential >= symmetric:
        return 'inferential'
    if symmetric >= SOLVED and heldout >= MORE_THAN_A_TABLE:
        return 'symmetric'
    if heldout < SEEN_ENOUGH:
        return 'memorizing'
    if is_half_and_half(answers.by_position):
        return 'half and half'
    if np.float32(answers.most_frequent) >= SOLVED:
        return 'third'
    return 'other'


def is_half_and_half(by_position: np.ndarray | None) -> bool:
    """Whether each position is solved by one of two mappings, and not all by one.

    Args:
      by_position: agreement [2, position] with UNSEEN_MAPPINGS; NaN: never asked there.
    """
    if by_position is None or not np.isfinite(by_position).any():
        return False
    is_asked = np.isfinite(by_position).all(0)
    is_solved = np.float32(by_position[:, is_asked]) >= SOLVED
    is_solved_by_one = is_solved.any(0).all()
    both_occur = is_solved.any(1).all()
    return bool(is_solved_by_one and both_occur)


def find_solutions(results: xr.Dataset) -> xr.DataArray:
    """The solution of every member, [axes]; '' where it is not trained.

    Args:
      results: `Run.results`, the last step of the curves.
    """
    names = xr.full_like(results.trained, '', dtype='<U16')
    for index in zip(*np.nonzero(results.trained.values), strict=True):
        place = dict(zip(results.trained.dims, index, strict=True))
        answers = _read_answers(results.isel(place))
        names.values[index] = classify_solution(answers)
    return names


def classify_members(table: pd.DataFrame) -> pd.Series:
    """The solution of every row of a members.csv; '' where it is not trained."""
    solutions = []
    positions = [name for name in table if name.startswith('unseen_inferential_at_')]
    for row in table.to_dict('records'):
        by_position = []
        for mapping in UNSEEN_MAPPINGS:
            names = [name.replace(UNSEEN_MAPPINGS[0], mapping) for name in positions]
            by_position.append([row[name] for name in names])
        answers = Answers(
            inferential=row.get('unseen_inferential', np.nan),
            symmetric=row.get('unseen_symmetric', np.nan),
            heldout=row.get('seen_heldout_assigned', np.nan),
            by_position=np.array(by_position, float),
            most_frequent=row.get('unseen_answer_share', np.nan),
        )
        solutions.append(classify_solution(answers) if row['trained'] else '')
    return pd.Series(solutions, table.index, dtype=str)


def name_thirds(solutions: pd.Series, answers: pd.Series) -> pd.Series:
    """The solutions [M], with 'third (2, 4)' for a third one that answers as (2, 4).

    Args:
      answers: the most frequent answer to the unseen pair, by the name that
        `deviations.name_offset` gives it.
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
    """'third (2, 4)' of '(2, 4) or (4, 2)'; 'third (inferential − 3)' of no pair."""
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


def _read_answers(member: xr.Dataset) -> Answers:
    """The answers of one member of the results."""
    is_probe = np.isin(['seen_heldout', 'unseen'], member.probe)
    is_mapping = np.isin(['assigned', *UNSEEN_MAPPINGS], member.mapping)
    inferential = symmetric = heldout = most_frequent = np.nan
    by_position = None
    if is_probe[0] and is_mapping[0]:
        heldout = member.agreement.sel(probe='seen_heldout', mapping='assigned').item()
    if is_probe[1] and is_mapping[1:].all():
        unseen = member.sel(probe='unseen', mapping=list(UNSEEN_MAPPINGS))
        inferential, symmetric = unseen.agreement.values
        by_position = unseen.agreement_by_group.transpose('mapping', 'group').values
        single_answers = member.deviation.values[:NUM_ANSWERS]
        most_frequent = single_answers.max(initial=0)
    return Answers(inferential, symmetric, heldout, by_position, most_frequent)
