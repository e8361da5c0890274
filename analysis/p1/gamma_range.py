"""Within which range of gamma does the solution change? P1 Fig 2 (c).

P1 says of GPT-2 that "the range of gamma variation is smaller" than for its model of
one head (PAPERS 1.4), and gives no definition. Here a transition is where a seed's
agreement with a mapping on the unseen pair goes from 10 % to 90 % of the way from its
value at the smallest gamma to the value that is farthest from it, with straight lines
between gammas. Its width is the distance in gamma; there is none where the agreement
changes by less than 0.5. A gamma at which a seed of the setting has not converged does
not count: what an untrained network answers is no solution.

  python -m analysis gamma_range --run runs/gpt2_range \\
      --baseline runs/gpt2_range_one_head
"""

import math
from typing import Annotated, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from analysis.drawing import style
from analysis.members.selection import OUTCOMES, collect_outcomes
from analysis.members.solution import UNSEEN_MAPPINGS
from analysis.members.table import (
    Table,
    list_converged,
    list_points,
    tabulate_members,
)
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run, open_run

TITLE = 'Range of γ'
PAPER = 'P1 Fig 2 (c)'
CAPTION = (
    'Within which range of γ the solution changes: mean and standard deviation over '
    'seeds; shaded: from 10 to 90 % of the way.'
)


SHARES = (0.1, 0.9)  # of the way
BASELINE = 'one head'
LEAST_CHANGE = 0.5  # of an agreement over all gammas
_GREEN = style.COLOURS['third']


class Result(NamedTuple):
    """Of every member [M], and of every setting and seed [T]."""

    members: Table
    outcome_3M: np.ndarray  # agreement, along OUTCOMES
    setting_T: np.ndarray
    seed_T: np.ndarray
    # Of the gammas at which all seeds have converged. Gamma at both SHARES of the way,
    # along UNSEEN_MAPPINGS: [mapping, share, T]. NaN: no transition.
    gamma_22T: np.ndarray
    # The agreement farthest from that at the smallest gamma, less that. NaN: all seeds
    # have converged at one gamma at most.
    change_2T: np.ndarray

    @property
    def width_2T(self) -> np.ndarray:
        """Width of the transition, in gamma."""
        return np.abs(self.gamma_22T[:, 1] - self.gamma_22T[:, 0])


def compute(
    run: Run, baseline: Annotated[str, 'folder of a run to compare with'] = ''
) -> Result:
    """Reads the last record of all trained members.

    Args:
      baseline: another run, or its folder, whose members get the setting BASELINE.

    Raises:
      UserError: another task, or no trained member.
    """
    members, outcome_3M = _read_members(run)
    if isinstance(baseline, str) and baseline:
        baseline = open_run(baseline)
    if baseline:
        others, of_others_3M = _read_members(baseline)
        others['setting'] = np.full(len(others['seed']), BASELINE)
        for name in members:
            members[name] = np.concatenate([members[name], others[name]])
        outcome_3M = np.concatenate([outcome_3M, of_others_3M], axis=-1)
    settings, seeds, ends, changes = [], [], [], []
    for setting in dict.fromkeys(members['setting'].tolist()):
        is_setting_M = members['setting'] == setting
        gammas = list_converged(members, is_setting_M, members['gamma'])
        is_counted_M = is_setting_M & np.isin(members['gamma'], gammas)
        for seed in np.unique(members['seed'][is_setting_M]):
            is_here_M = is_counted_M & (members['seed'] == seed)
            if is_here_M.sum() < len(gammas):
                continue  # not all of its members are trained
            order = np.argsort(members['gamma'][is_here_M])
            values_3G = outcome_3M[:, is_here_M][:, order]
            values_2G = values_3G[: len(UNSEEN_MAPPINGS)]
            settings.append(setting)
            seeds.append(seed)
            ends.append([find_transition(gammas, values_G) for values_G in values_2G])
            changes.append([find_change(values_G) for values_G in values_2G])
    if not seeds:
        raise UserError('gamma_range: no seed has all its gammas trained')
    return Result(
        members=members,
        outcome_3M=outcome_3M,
        setting_T=np.array(settings),
        seed_T=np.array(seeds),
        gamma_22T=np.moveaxis(np.array(ends), 0, -1),
        change_2T=np.array(changes).T,
    )


def _read_members(run: Run) -> tuple[Table, np.ndarray]:
    """The members of a run and what they answer, [OUTCOMES, M]."""
    points = list_points(run, 'anchors')
    outcomes = collect_outcomes(run)
    columns = [outcomes.sel(run.labels(**point)).values for point in points]
    return tabulate_members(run, points), np.array(columns).T


def find_change(value_G: np.ndarray) -> float:
    """The value that is farthest from the first one, less the first one.

    NaN with fewer than two values.
    """
    if len(value_G) < 2:
        return math.nan
    differences = value_G - value_G[0]
    return float(differences[np.abs(differences).argmax()])


def find_transition(gamma_G: np.ndarray, value_G: np.ndarray) -> tuple[float, float]:
    """Gamma at 10 % and 90 % of the way from the first value to the farthest one.

    Each is where the curve first gets so far, so that what comes later does not count.
    NaN where the values change by less than LEAST_CHANGE in all.
    """
    change = find_change(value_G)
    if not abs(change) >= LEAST_CHANGE:
        return _NOWHERE
    way_G = (value_G - value_G[0]) / change
    found = []
    for share in SHARES:
        after = int((way_G >= share).argmax())  # above 0: the way starts at 0
        ends = way_G[after - 1 : after + 1]
        found.append(float(np.interp(share, ends, gamma_G[after - 1 : after + 1])))
    return found[0], found[1]


_NOWHERE = (math.nan, math.nan)


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [1, settings]: mean and standard deviation over seeds, by gamma.

    Shaded: from the mean of 10 % of the way to that of 90 %, of the inferential answer.
    """
    settings = list(dict.fromkeys(result.members['setting'].tolist()))
    for axis, setting in zip(axes[0], settings, strict=True):
        _draw_setting(axis, result, setting)
        axis.set(xlabel='γ', ylim=(-0.03, 1.06))
    axes[0, 0].set_ylabel('agreement, mean and std of seeds')
    axes[0, 0].legend(fontsize=6)


def layout(result: Result) -> style.Layout:
    columns = len(np.unique(result.members['setting']))
    return style.Layout(1, columns, 0.6 + 2.6 * columns, 2.5)


def _draw_setting(axis: Axes, result: Result, setting: str) -> None:
    members = result.members
    is_setting_M = members['setting'] == setting
    gammas = np.unique(members['gamma'][is_setting_M])
    for i, name in enumerate(OUTCOMES):
        means, spreads = [], []
        for gamma in gammas:
            is_here_M = is_setting_M & (members['gamma'] == gamma)
            means.append(result.outcome_3M[i, is_here_M].mean())
            spreads.append(result.outcome_3M[i, is_here_M].std())
        colour = style.COLOURS.get(name, _GREEN)
        bar = {'color': colour, 'marker': '.', 'lw': 1, 'capsize': 2, 'label': name}
        axis.errorbar(gammas, means, spreads, **bar)
    is_here_T = result.setting_T == setting
    ends_2T = result.gamma_22T[0][:, is_here_T]
    known_2T = ends_2T[:, np.isfinite(ends_2T).all(0)]
    title = setting or 'all members'
    if known_2T.size:
        first, last = known_2T.mean(-1)
        axis.axvspan(first, last, color=style.COLOURS['inferential'], alpha=0.1, lw=0)
        title += f'\nwidth {last - first:.2f} ({known_2T.shape[1]} seeds)'
    converged = members['converged'][is_setting_M]
    axis.set_title(f'{title}\n{converged.sum()} of {len(converged)} converged', size=7)
