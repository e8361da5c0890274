"""Members of an imagined sweep, as the claims about the phase diagram read them."""

from collections.abc import Callable

import numpy as np

from analysis.report.member_rows import MemberRows

GAMMAS = (0.3, 0.6, 0.9, 1.2)
TABLES = {'datum': 0.0, 'ordered pair': 0.0, 'unordered pair': 0.0}


def make_members(
    solve: Callable[[float, int], str],
    gammas: tuple[float, ...] = GAMMAS,
    seeds: int = 5,
    settings: tuple[str, ...] = ('depth=2',),
    converged: bool = True,
    tables: dict[str, float] = TABLES,
) -> MemberRows:
    """A member for every setting, gamma and seed, at the solution `solve(gamma, seed)`.

    Only a memorizing member does not generalize on held-out seen pairs.
    """
    columns = {'gamma': [], 'setting': [], 'seed': [], 'solution': []}
    for setting in settings:
        for gamma in gammas:
            for seed in range(seeds):
                columns['setting'].append(setting)
                columns['gamma'].append(gamma)
                columns['seed'].append(seed)
                columns['solution'].append(solve(gamma, seed))
    solution = np.array(columns['solution'])
    number = len(solution)
    return MemberRows(
        gamma=np.array(columns['gamma']),
        setting=np.array(columns['setting']),
        seed=np.array(columns['seed']),
        solution=solution,
        converged=np.full(number, converged),
        diverged=np.zeros(number, bool),
        heldout=np.where(solution == 'memorizing', 0.1, 1.0),
        tables=tables,
    )


def solve_as_paper(gamma: float, seed: int) -> str:
    """Symmetric at small gammas, inferential at large ones; the smallest memorizes."""
    if gamma == min(GAMMAS):
        return 'memorizing'
    return 'symmetric' if gamma < 0.9 else 'inferential'


def solve_by_halves(gamma: float, seed: int) -> str:
    return 'symmetric' if gamma < 0.9 else 'inferential'


def solve_reversed(gamma: float, seed: int) -> str:
    return 'inferential' if gamma < 0.9 else 'symmetric'


def solve_flat(gamma: float, seed: int) -> str:
    """At every gamma the same mixture of both solutions, by the seed alone."""
    return 'inferential' if seed % 2 else 'symmetric'


def solve_neither(gamma: float, seed: int) -> str:
    return 'other'
