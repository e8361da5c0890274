"""Third solutions by name: which pair's answer they give to the unseen pair."""

from collections.abc import Iterable

import pandas as pd

from analysis.members.solution import SOLUTIONS

THIRD = 'third'  # the one of SOLUTIONS that says nothing about the answer


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
