"""The members of a sweep in columns, and the panels that figures have of them."""

from typing import NamedTuple

import numpy as np

from analysis.members.point import Point, name_setting
from analysis.members.selection import list_usable_points
from anchorjax.storage.reader import Run

POOLED = ('gamma', 'seed')  # every other axis is part of a member's setting

# gamma, seed, setting, train_loss and converged of members, [M] each.
Table = dict[str, np.ndarray]


class Panel(NamedTuple):
    """The members that differ in their seed alone."""

    setting: str  # 'ordered=True': the axes that vary, but gamma and seed; '' if none
    gamma: float
    is_here_M: np.ndarray

    @property
    def title(self) -> str:
        """'γ 0.8, ordered=True'."""
        title = f'γ {self.gamma:g}'
        if self.setting:
            title += f', {self.setting}'
        return title


def list_points(run: Run, wanted: str) -> list[Point]:
    """The points of the members that are trained and did not diverge.

    Args:
      wanted: the task that the figure is about.

    Raises:
      UserError: another task, or there is no such member.
    """
    return list_usable_points(run, (wanted,), f'task {wanted!r}')


def tabulate_members(run: Run, points: list[Point]) -> Table:
    """The table of these members."""
    rows = []
    for point in points:
        member = run.results.sel(run.labels(**point))
        row = (
            point['gamma'],
            point['seed'],
            name_setting(run, point, POOLED),
            float(member.train_loss),
            bool(member.converged),
        )
        rows.append(row)
    names = ('gamma', 'seed', 'setting', 'train_loss', 'converged')
    columns = zip(*rows, strict=True)
    return {name: np.array(column) for name, column in zip(names, columns, strict=True)}


def list_converged(
    members: Table, is_here_M: np.ndarray, value_M: np.ndarray
) -> np.ndarray:
    """The values of an axis at which all of these members have converged, in order.

    Args:
      value_M: the value of every member, as its gamma.
    """
    is_open_M = is_here_M & ~members['converged']
    return np.setdiff1d(value_M[is_here_M], value_M[is_open_M])


def list_panels(members: Table) -> list[Panel]:
    """A panel for every setting and gamma, settings in the order of the sweep."""
    panels = []
    for setting in dict.fromkeys(members['setting'].tolist()):
        is_setting_M = members['setting'] == setting
        for gamma in np.unique(members['gamma'][is_setting_M]):
            is_here_M = is_setting_M & (members['gamma'] == gamma)
            panels.append(Panel(setting, float(gamma), is_here_M))
    return panels
