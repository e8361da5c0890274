"""Answers to the unseen pair by γ: a dot for every network, a line for the mean.

All networks at the last step, converged or not. Where (3, 4) is trained on its
exception what P1 expects stands above: symmetric answers at its large initialization,
composed ones at its small one and beyond.

  python -m analysis answers --run runs/phase
"""

import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.drawing import style
from analysis.frame import find_usable
from analysis.members.columns import list_static_axes, list_varying_axes
from analysis.tables.text import format_level
from anchorjax.errors import UserError
from anchorjax.tasks.solution import UNSEEN_MAPPINGS

TITLE = 'Answers by γ'
PAPER = 'P1 Fig 2'
CAPTION = (
    'How every network answers the unseen pair, by the γ that its weights were drawn '
    'with; below each γ the one that has the same standard deviation at width 400. '
    'Blue: it composes the two functions. Orange: it answers as for the reversed '
    'pair. Hollow: it has not converged. Lines are means of all. Above: what P1 '
    'expects from its large initialization on, and from its small one on.'
)
# Of members, by their columns.
SHARES = {f'unseen_{mapping}': mapping for mapping in UNSEEN_MAPPINGS}
EXCEPTIONS = {
    'trained': '(3, 4) trained on its exception',
    'unseen': '(3, 4) unseen, too',
}
P1_LARGE, P1_SMALL = 0.5, 0.8  # γ at width 400: P1's pair
MOST_COLUMNS = 4


def compute(members: pd.DataFrame) -> pd.DataFrame:
    """A row per network: setting (all other axes), γ, exception, seed, shares.

    Raises:
      UserError: the task has no unseen pair, or no network can be shown.
    """
    if not set(SHARES) <= set(members):
        raise UserError('answers: the task has no unseen pair')
    members = find_usable(members)
    if not len(members):
        raise UserError('answers: no member is trained yet, or all have diverged')
    axes = _list_setting_axes(members)
    settings = []
    for _, network in members.iterrows():
        words = [_name_value(axis, network[axis]) for axis in axes]
        settings.append(', '.join(words))
    shown = ['gamma', 'gamma_at_400', 'exception', 'seed', 'converged']
    table = members[[*shown, *SHARES]].rename(columns=SHARES)
    table.insert(0, 'setting', settings)
    return table.reset_index(drop=True)


def _list_setting_axes(members: pd.DataFrame) -> list[str]:
    """The axes but γ and seed: those of the grid only where their value varies."""
    static = list_static_axes(members)
    varying = list_varying_axes(members)
    return [*static, *(axis for axis in varying if axis not in ('gamma', *static))]


def _name_value(axis: str, value: object) -> str:
    """'depth 3'; the exception of the anchor task in words."""
    if axis == 'exception':
        return EXCEPTIONS[str(value)]
    return f'{axis.replace("_", " ")} {format_level(value)}'


def layout(answers: pd.DataFrame) -> style.Layout:
    settings = answers.setting.nunique()
    columns = min(settings, MOST_COLUMNS)
    rows = -(-settings // columns)
    width = max(2.8, 0.5 * answers.gamma.nunique())  # room for the labels of γ
    return style.Layout(rows, columns, 1.2 + width * columns, 3.0 * rows)


def draw(answers: pd.DataFrame, axes: np.ndarray) -> None:
    """Fills axes [rows, columns], one for each setting; the rest stays empty."""
    for axis in axes.flat:
        axis.set_axis_off()
    by_setting = answers.groupby('setting', sort=False)
    for axis, (name, networks) in zip(axes.flat, by_setting, strict=False):
        axis.set_axis_on()
        _draw_setting(axis, networks)
        axis.set_title(name, pad=24)
    for axis in axes[:, 0]:
        axis.set_ylabel('share of answers to the unseen pair')
    lines, names = axes[0, 0].get_legend_handles_labels()
    axes[0, 0].figure.legend(lines, names, loc='outside lower center', ncols=2)


def _draw_setting(axis: Axes, networks: pd.DataFrame) -> None:
    """Dots and means over the values of γ, each with its equivalent at width 400."""
    by_gamma = networks.groupby('gamma')
    means = by_gamma[list(UNSEEN_MAPPINGS)].mean()
    place = by_gamma.ngroup()  # of every network
    for side, mapping in zip((-1, 1), UNSEEN_MAPPINGS, strict=True):
        colour = style.COLOURS[mapping]
        places = range(len(means))
        axis.plot(places, means[mapping], color=colour, lw=1.5, label=mapping)
        beside = place + 0.06 * side
        for converged, fill in ((True, colour), (False, 'white')):
            shown = networks.converged == converged
            look = {'mec': colour, 'mfc': fill, 'ms': 4, 'alpha': 0.6, 'ls': ''}
            axis.plot(beside[shown], networks[mapping][shown], 'o', **look)
    labels, marked = [], []
    at_400 = by_gamma.gamma_at_400.first()
    is_as_in_p1 = (networks.exception == 'trained').all()
    for x, (gamma, equivalent) in enumerate(at_400.items()):
        note = '' if math.isnan(equivalent) else f'\n({equivalent:.2f})'
        labels.append(f'{gamma:g}{note}')
        expected = _expect(round(equivalent, 1)) if is_as_in_p1 else ''
        if expected and expected not in marked:
            marked.append(expected)
            words = f'P1 expects\n{expected}'
            look = {'ha': 'center', 'va': 'bottom', 'fontsize': 7}
            look['color'] = style.COLOURS[expected]
            axis.text(x, 1.05, words, **look)
    axis.set_xticks(range(len(labels)), labels)
    axis.set(ylim=(-0.04, 1.04))
    axis.set_xlabel('γ' if at_400.isna().all() else 'γ (at width 400)')
    axis.margins(x=0.15)


def _expect(gamma_at_400: float) -> str:
    """What P1 expects at this γ; '' between its pair, and below it."""
    if gamma_at_400 >= P1_SMALL:
        return 'composed'
    return 'symmetric' if gamma_at_400 == P1_LARGE else ''
