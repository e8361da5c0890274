"""The corners of a sweep over gamma and decay, and what each of the two does.

P1 compares a large initialization under weak decay with a small one under strong decay,
and so changes both (PAPERS 1.6). The crossed corners tell gamma from decay: an effect
is a difference of two corners, seed by seed.
"""

from typing import NamedTuple

import numpy as np

from analysis.members.seeds import pair_seeds
from analysis.members.statistics import Mean, mean_interval
from analysis.real.members import Table


class Corner(NamedTuple):
    """One of the extreme gammas with one of the extreme decays."""

    gamma: float
    weight_decay: float

    @property
    def title(self) -> str:
        return f'γ {self.gamma:g}, decay {self.weight_decay:g}'


class Contrast(NamedTuple):
    """The difference upper - lower of two corners."""

    name: str  # a key of CONTRASTS
    lower: Corner
    upper: Corner

    @property
    def title(self) -> str:
        """'γ 0.5 → 0.7 at decay 0.01'."""
        lower, upper = self.lower, self.upper
        gamma = f'γ {lower.gamma:g}'
        decay = f'decay {lower.weight_decay:g}'
        if upper.weight_decay != lower.weight_decay:
            decay += f' → {upper.weight_decay:g}'
        if upper.gamma == lower.gamma:
            return f'{decay} at {gamma}'
        gamma += f' → {upper.gamma:g}'
        if self.name == 'both':
            return f'{gamma}, {decay}'
        return f'{gamma} at {decay}'


# (gamma, decay) of the lower and of the upper corner: 0 is the smallest of the sweep
# and 1 the largest. A large gamma is a small initialization.
CONTRASTS = {
    'gamma at weak decay': ((0, 0), (1, 0)),
    'gamma at strong decay': ((0, 1), (1, 1)),
    'decay at large initialization': ((0, 0), (0, 1)),
    'decay at small initialization': ((1, 0), (1, 1)),
    'both': ((0, 0), (1, 1)),
}


def find_corner(members: Table, gamma: int, decay: int) -> Corner:
    """The corner at the smallest (0) or largest (1) gamma and decay of the members."""
    gammas = np.unique(members['gamma'])
    decays = np.unique(members['weight_decay'])
    ends = (0, -1)
    return Corner(float(gammas[ends[gamma]]), float(decays[ends[decay]]))


def find_contrast(members: Table, name: str) -> Contrast | None:
    """A contrast of CONTRASTS; None where what it moves does not vary."""
    lower, upper = CONTRASTS[name]
    first = find_corner(members, *lower)
    last = find_corner(members, *upper)
    if lower[0] != upper[0] and first.gamma == last.gamma:
        return None
    if lower[1] != upper[1] and first.weight_decay == last.weight_decay:
        return None
    return Contrast(name, first, last)


def list_contrasts(members: Table) -> list[Contrast]:
    """All contrasts that there are."""
    contrasts = [find_contrast(members, name) for name in CONTRASTS]
    return [contrast for contrast in contrasts if contrast is not None]


def list_cells(members: Table) -> list[Corner]:
    """Every combination of gamma and decay, corners or not."""
    pairs = set(
        zip(members['gamma'].tolist(), members['weight_decay'].tolist(), strict=True)
    )
    return [Corner(*pair) for pair in sorted(pairs)]


def is_at(members: Table, corner: Corner) -> np.ndarray:
    """Which members are at a corner, bool [M]."""
    is_gamma_M = members['gamma'] == corner.gamma
    return is_gamma_M & (members['weight_decay'] == corner.weight_decay)


def subtract_by_seed(
    members: Table, values_M: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> np.ndarray:
    """upper - lower for every seed that both have, in the order of the seeds.

    Args:
      lower, upper: indices of members, each seed at most once.
    """
    lower, upper = pair_seeds(members['seed'], lower, upper)
    return values_M[upper] - values_M[lower]


def estimate_effect(
    members: Table, values_M: np.ndarray, contrast: Contrast, is_counted_M: np.ndarray
) -> Mean:
    """The mean difference over seeds, with Student's t interval."""
    lower = np.flatnonzero(is_at(members, contrast.lower) & is_counted_M)
    upper = np.flatnonzero(is_at(members, contrast.upper) & is_counted_M)
    return mean_interval(subtract_by_seed(members, values_M, lower, upper))
