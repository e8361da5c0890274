"""Within which range of gamma does the solution change? P1 Fig 2 (c).

P1 says of GPT-2 that "the range of gamma variation is smaller" than for its model of
one head (PAPERS 1.4), and gives no definition. Here a transition is where a seed's
agreement with a mapping on the unseen pair goes from 10 % to 90 % of the way from its
value at the smallest gamma to the value that is farthest from it, with straight lines
between gammas. Its width is the distance in gamma; there is none where the agreement
changes by less than 0.5. A gamma at which a seed of the setting has not converged does
not count: what an untrained network answers is no solution. A seed that diverged at one
of the others is left out.

  python -m analysis gamma_range --run runs/gpt2_range \\
      --baseline runs/gpt2_range_one_head
"""

import math
from typing import Annotated

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis import frame, stats
from analysis.drawing import style
from analysis.drawing.bands import draw_intervals
from analysis.drawing.gammas import label_gamma
from analysis.names import name_setting
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run, open_run

TITLE = 'Range of γ'
PAPER = 'P1 Fig 2 (c)'
CAPTION = (
    'Within which range of γ the solution changes: mean of the seeds and its 95 % '
    'interval; shaded: from 10 to 90 % of the way.'
)
SHARES = (0.1, 0.9)  # of the way
BASELINE = 'one head'
LEAST_CHANGE = 0.5  # of an agreement over all gammas
# Column: (label, colour).
OUTCOMES = {
    'unseen_composed': ('composed, unseen pair', style.COLOURS['composed']),
    'unseen_symmetric': ('symmetric, unseen pair', style.COLOURS['symmetric']),
    'seen_heldout_assigned': ('right, held-out questions', '#009E73'),
}


def compute(
    run: Run, baseline: Annotated[str, 'folder of a run to compare with'] = ''
) -> pd.DataFrame:
    """The last record of all trained members: OUTCOMES by `setting`, gamma and seed.

    `start` and `end` are the ends of the transition of the composed answers, the
    same for all members of a setting and seed; NaN: there is none. The members of the
    baseline have the setting BASELINE, and what else varies there.

    Raises:
      UserError: another task, or no trained member.
    """
    tables = [_read_members(run)]
    if baseline:
        other = _read_members(open_run(baseline))
        names = f'{BASELINE}, ' + other.setting
        tables.append(other.assign(setting=names.str.removesuffix(', ')))
    members = pd.concat(tables, ignore_index=True)
    return members.merge(find_transitions(members), 'left', on=['setting', 'seed'])


def _read_members(run: Run) -> pd.DataFrame:
    members = frame.list_usable(run, 'anchors')
    settings = frame.name_settings(run, members, ('gamma', 'seed'))
    columns = ['gamma', 'seed', 'converged', 'train_loss', *OUTCOMES]
    members = members.reindex(columns=columns)  # NaN without an unseen pair
    return members.assign(setting=settings, width=frame.find_width(run))


def find_transitions(members: pd.DataFrame) -> pd.DataFrame:
    """The transition of every setting and seed, over the gammas that count.

    Raises:
      UserError: no seed has all its gammas trained.
    """
    rows = []
    for setting, of_setting in members.groupby('setting'):
        counts = of_setting.groupby('gamma').converged.all()
        gammas = counts.index[counts]
        curves = of_setting.pivot_table('unseen_composed', 'seed', 'gamma')
        for seed, values in curves.reindex(columns=gammas).dropna().iterrows():
            ends = find_transition(gammas.to_numpy(), values.to_numpy())
            rows.append((setting, seed, *ends))
    if not rows:
        raise UserError('gamma_range: no seed has all its gammas trained')
    return pd.DataFrame(rows, columns=['setting', 'seed', 'start', 'end'])


def find_transition(gamma_G: np.ndarray, value_G: np.ndarray) -> tuple[float, float]:
    """Gamma at 10 % and 90 % of the way from the first value to the farthest one.

    Each is where the curve first gets so far, so that what comes later does not count.
    NaN where the values change by less than LEAST_CHANGE in all.
    """
    difference_G = value_G - value_G[:1]
    change = max(difference_G, key=abs, default=0.0)
    if not abs(change) >= LEAST_CHANGE:
        return math.nan, math.nan
    way_G = difference_G / change
    ends = []
    for share in SHARES:
        after = int((way_G >= share).argmax())  # above 0: the way starts at 0
        around = slice(after - 1, after + 1)
        ends.append(float(np.interp(share, way_G[around], gamma_G[around])))
    return ends[0], ends[1]


def draw(members: pd.DataFrame, axes: np.ndarray) -> None:
    """Fills axes [1, settings]: the mean of the seeds and its interval, by gamma.

    Shaded: from the mean of 10 % of the way to that of 90 %, of the composed answer.
    """
    settings = members.setting.unique()
    for axis, setting in zip(axes[0], settings, strict=True):
        here = members[members.setting == setting]
        _draw_setting(axis, here)
        label_gamma(axis, here.width.iloc[0])
        axis.set_ylim(-0.03, 1.06)
    axes[0, 0].set_ylabel('share of answers, mean of the seeds')
    named = {}
    for axis in axes[0]:
        lines, names = axis.get_legend_handles_labels()
        named |= dict(zip(names, lines, strict=True))
    look = {'loc': 'outside lower center', 'ncols': 2}
    axes[0, 0].figure.legend(named.values(), named, **look)


def layout(members: pd.DataFrame) -> style.Layout:
    columns = members.setting.nunique()
    return style.Layout(1, columns, 0.6 + 2.6 * columns, 3.2)


def _draw_setting(axis: Axes, members: pd.DataFrame) -> None:
    # No pair has an exception: the symmetric answer is the composed one.
    is_one_answer = members.unseen_symmetric.equals(members.unseen_composed)
    for column, (label, colour) in OUTCOMES.items():
        if column == 'unseen_symmetric' and is_one_answer:
            continue
        found = stats.mean_intervals(members.groupby('gamma')[column], stats.SHARE)
        bar = {'color': colour, 'marker': '.', 'lw': 1, 'capsize': 2}
        draw_intervals(axis, found, label=label, **bar)
    title = name_setting(members.setting.iloc[0]) or 'all networks'
    known = members.drop_duplicates('seed').dropna(subset=['start', 'end'])
    if len(known):
        first, last = known.start.mean(), known.end.mean()
        look = {'color': style.COLOURS['composed'], 'alpha': 0.1, 'lw': 0}
        axis.axvspan(first, last, label='composed: 10 to 90 % of the way', **look)
        counted = f'{len(known)} of {members.seed.nunique()} seeds'
        title += f'\nrange of γ {last - first:.2f} ({counted})'
    converged = members.converged
    axis.set_title(f'{title}\n{converged.sum()} of {len(converged)} converged', size=7)
