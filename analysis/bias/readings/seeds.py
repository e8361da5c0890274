"""The seeds that a claim reads, and the verdict on what they say.

A claim is about one setting of a sweep at one end of its gammas: a small start is the
largest gamma. Of a claim about answers at the end only converged members count.
Convergence is reported, and decides nothing, of claims about what a network is like at
a step (embeddings, Figs 4 to 6, 8 right), and of those about moments (Figs 3, 8 left):
a loss that has fallen has fallen then, whatever training does later.
"""

from typing import NamedTuple

import numpy as np

from analysis.members.statistics import MIN_SEEDS
from analysis.members.table import Table
from analysis.old_claims.borders import conclude_seeds
from analysis.old_claims.reading import Reading, format_gamma, undecided
from analysis.old_claims.verdicts import Verdict

SMALL_START = 'small'
LARGE_START = 'large'
REQUIRED = ''
AT_A_STEP = 'not required: as it is at this step'
THESE_STEPS = 'not required: the mean over these steps'
MOMENTS = 'not required: moments do not change later'


class Seeds(NamedTuple):
    """The members of a setting at one gamma that a claim reads."""

    gamma: float
    index: np.ndarray  # of the members that count, along M
    converged: int  # of all at this gamma
    total: int
    train_loss: float  # mean of all at this gamma
    waiver: str  # why convergence is not required; REQUIRED if it is


def select_seeds(members: Table, setting: str, start: str, waiver: str) -> Seeds:
    """The seeds of a setting at its largest gamma (a small start) or its smallest.

    All of them count if fewer than MIN_SEEDS have converged: `decide` then says so.
    """
    is_setting_M = members['setting'] == setting
    gammas = np.unique(members['gamma'][is_setting_M])
    gamma = float(gammas[0])
    if start == SMALL_START:
        gamma = float(gammas[-1])
    is_here_M = is_setting_M & (members['gamma'] == gamma)
    is_counted_M = is_here_M & members['converged']
    converged = int(is_counted_M.sum())
    if waiver or converged < MIN_SEEDS:
        is_counted_M = is_here_M
    return Seeds(
        gamma=gamma,
        index=np.flatnonzero(is_counted_M),
        converged=converged,
        total=int(is_here_M.sum()),
        train_loss=float(members['train_loss'][is_here_M].mean()),
        waiver=waiver,
    )


def decide(
    seeds: Seeds | list[Seeds],
    verdict: Verdict,
    number: str,
    null: str,
    values: np.ndarray,
    note: str = '',
    why: str = 'an interval covers its border',
) -> Reading:
    """The Reading, undecided if too few seeds converged or a number is NaN.

    Args:
      values: [seed, ...] the numbers behind the verdict.
      why: the reason if the verdict is undecided although all this is in order.
    """
    groups = seeds if isinstance(seeds, list) else [seeds]
    parts = [describe_seeds(group) for group in groups]
    if note:
        parts.append(note)
    note = '; '.join(parts)
    for group in groups:
        if not group.waiver and group.converged < MIN_SEEDS:
            few = (
                f'{group.converged} of {group.total} converged at '
                f'{format_gamma(group.gamma)}, at least {MIN_SEEDS} needed'
            )
            return undecided(few, number, null, note)
    return conclude_seeds(verdict, number, null, note, values, why)


def describe_seeds(seeds: Seeds) -> str:
    """'γ 0.8: 3 of 3 converged, train loss 0.01'."""
    text = (
        f'{format_gamma(seeds.gamma)}: {seeds.converged} of {seeds.total} converged, '
        f'train loss {seeds.train_loss:.2g}'
    )
    if seeds.waiver:
        text += f' ({seeds.waiver})'
    return text
