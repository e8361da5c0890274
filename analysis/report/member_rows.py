"""All trained members as rows: what claims about the phase diagram are read from."""

from typing import NamedTuple

import numpy as np

from analysis.members.lookup import lookup_scores
from analysis.members.point import name_setting
from analysis.members.selection import iterate_points
from analysis.members.solution import find_solutions
from anchorjax.storage.reader import Run

POOLED = ('gamma', 'seed')  # every other axis is part of a member's setting


class MemberRows(NamedTuple):
    """The M trained members of a sweep, and what tables of their data would score."""

    gamma: np.ndarray  # [M]
    setting: np.ndarray  # [M] 'depth=2,learning_rate=0.004': axes that vary but POOLED
    seed: np.ndarray  # [M]
    solution: np.ndarray  # [M] of members.solution.SOLUTIONS
    converged: np.ndarray  # [M] bool
    diverged: np.ndarray  # [M] bool
    heldout: np.ndarray  # [M] agreement on held-out seen pairs
    # By level of `members.lookup`: agreement of the best table on the same questions.
    tables: dict[str, float]

    def select(self, is_selected: np.ndarray) -> 'MemberRows':
        """The rows of a mask or of indices."""
        return MemberRows(
            *(column[is_selected] for column in self[:-1]), tables=self.tables
        )


def list_members(run: Run) -> MemberRows:
    """The trained members of a sweep of the anchor task."""
    results = run.results
    solutions = find_solutions(results).values
    heldout = results.agreement.sel(probe='seen_heldout', mapping='assigned').values
    rows = []
    for index, point in iterate_points(run):
        if not results.trained.values[index]:
            continue
        row = (
            point['gamma'],
            name_setting(run, point, POOLED),
            point['seed'],
            str(solutions[index]),
            bool(results.converged.values[index]),
            bool(results.diverged.values[index] >= 0),
            float(heldout[index]),
        )
        rows.append(row)
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return MemberRows(*columns, tables=_score_tables(run))


def describe_left_out(rows: MemberRows) -> str:
    """'3 of 20 members left out: 2 not converged, 1 diverged'; '' if none is."""
    diverged = int(rows.diverged.sum())
    unconverged = int((~rows.converged & ~rows.diverged).sum())
    if unconverged + diverged == 0:
        return ''
    parts = []
    if unconverged:
        parts.append(f'{unconverged} not converged')
    if diverged:
        parts.append(f'{diverged} diverged')
    total = len(rows.gamma)
    left_out = unconverged + diverged
    return f'{left_out} of {total} members left out: {", ".join(parts)}'


def _score_tables(run: Run) -> dict[str, float]:
    """The highest score of each table, over the tasks and seeds of the sweep."""
    tasks = []
    for cohort in run.experiment.cohorts():
        task = run.experiment.for_cohort(cohort).task
        if task not in tasks:
            tasks.append(task)
    highest = {}
    for task in tasks:
        for seed in run.experiment.axes['seed']:
            for level, scores in lookup_scores(task, seed).items():
                score = scores['seen_heldout', 'assigned']
                highest[level] = max(score, highest.get(level, 0.0))
    return highest
