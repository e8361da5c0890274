"""How networks answer the unseen pair as the initialization shrinks, in eight settings.

Every network of a setting is a pair of dots, one for the share of its answers by either
rule. The settings were picked from all that are trained, to show what γ can do.

  python -m analysis law_gamma --out analysis/gallery/law --members \\
      analysis/gallery/law/members.csv analysis/gallery/law/half_width_members.csv

  law_gamma.png, .pdf   the picture; law_gamma.csv has its numbers
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from analysis.drawing import style
from analysis.drawing.bands import spread_dots
from analysis.estimates import select
from analysis.law import members as law_members
from analysis.law.members import BOTH_UNSEEN, TRAINED
from analysis.members.columns import equivalent_gamma
from analysis.tables.folders import require_folder_for_tables
from anchorjax import cli
from anchorjax.errors import UserError

TITLE = 'The law: answers to the unseen pair by γ, in eight settings'
PAPER = 'ours'

ANSWERS = {
    'unseen_composed': 'composed',
    'unseen_symmetric': 'symmetric',
    'seen_heldout_assigned': 'heldout',
}
_SHIFT = {'composed': -0.14, 'symmetric': 0.14}  # of the dots from their γ
# What a setting is where its panel does not say otherwise.
_USUAL = {
    'exception': TRAINED,
    'last_token': 'any',
    'anchors': 4,
    'batch_size': 512,
    'depth': 2,
    'qk_offset': 0.0,
    'width': 64,
}
_SHORT = _USUAL | {'seq_len': 4, 'split': 'random', 'learning_rate': 4e-3}
_NINE = _USUAL | {'seq_len': 9, 'split': 'code', 'batch_size': 2048}

# Every setting by its title: all networks with these factors, whatever γ and steps.
PANELS = {
    '4 tokens, 4 anchors, decay 0.15\nnoise anywhere': (
        _SHORT | {'weight_decay': 0.15}
    ),
    '4 tokens, 8 anchors, decay 0.03\nnoise always last': (
        _SHORT | {'weight_decay': 0.03, 'anchors': 8, 'last_token': 'noise'}
    ),
    '4 tokens, 8 anchors, decay 0.03\npair always last': (
        _SHORT | {'weight_decay': 0.03, 'anchors': 8, 'last_token': 'pair'}
    ),
    '4 tokens, 6 anchors, decay 0.15\nboth pairs unseen': (
        _SHORT | {'weight_decay': 0.15, 'anchors': 6, 'exception': BOTH_UNSEEN}
    ),
    '9 tokens, batch 512\ndecay 0.1': (
        _NINE | {'learning_rate': 1e-3, 'weight_decay': 0.1, 'batch_size': 512}
    ),
    '9 tokens, batch 2048\ndecay 0.1': (
        _NINE | {'learning_rate': 1e-3, 'weight_decay': 0.1}
    ),
    '9 tokens, batch 2048\nsplit by pair, decay 0.1': (
        _NINE | {'split': 'random', 'learning_rate': 2e-3, 'weight_decay': 0.1}
    ),
    "half the paper's width, 9 tokens\nbatch 2048, decay 0.01": (
        _NINE | {'width': 200, 'learning_rate': 2e-4, 'weight_decay': 0.01}
    ),
}


def compute(members: pd.DataFrame) -> pd.DataFrame:
    """A row per network of a panel: which one, its γ and seed, and what it answers."""
    members = law_members.keep_longest(members)
    tables = []
    for p, (title, setting) in enumerate(PANELS.items()):
        title = title.replace('\n', ', ')
        tables.append(select(members, setting).assign(panel=p, title=title))
    shown = pd.concat(tables).sort_values(['panel', 'gamma', 'seed'])
    shown['gamma_at_400'] = equivalent_gamma(shown.gamma, shown.width)
    columns = ['panel', 'title', 'gamma', 'gamma_at_400', 'seed', 'converged']
    result = shown[[*columns, *ANSWERS]].rename(columns=ANSWERS)
    count = f'{len(result)} networks, picked of {len(members)}'
    result.attrs['about'] = f'{count} to show what γ can do'
    return result


def draw(result: pd.DataFrame, axes: np.ndarray) -> None:
    """Fills axes [2, 4], a panel for every setting."""
    for p, (title, axis) in enumerate(zip(PANELS, axes.flat, strict=True)):
        _draw_panel(axis, result[result.panel == p])
        axis.set_title(title)
    for axis in axes[:, 0]:
        axis.set_ylabel('share of answers to the\nunseen pair')
    for axis in axes[-1]:
        axis.set_xlabel('γ (at width 400)')
    axes[0, 0].figure.legend(
        handles=_make_legend(), loc='outside lower center', ncols=5
    )


def _draw_panel(axis: Axes, networks: pd.DataFrame) -> None:
    """A dot for every network, hollow where it has not converged; lines of means."""
    cells = networks.groupby(['gamma', 'gamma_at_400'])
    means = cells[['composed', 'symmetric', 'heldout']].mean()
    labels = [f'{gamma:g}\n({at_400:.2f})' for gamma, at_400 in means.index]
    ticks = range(len(labels))
    dots = cells.ngroup() + spread_dots(cells)
    for rule, shift in _SHIFT.items():
        colour = style.COLOURS[rule]
        faces = np.where(networks.converged, colour, 'white')
        edges = {'edgecolors': colour, 'linewidths': 0.7}
        axis.scatter(dots + shift, networks[rule], s=9, c=faces, **edges)
        axis.plot(ticks, means[rule], color=colour, lw=1, alpha=0.7)
    axis.plot(ticks, means.heldout, color='grey', lw=0.8, ls=':')
    axis.set_xticks(ticks, labels)
    axis.set_xlim(-0.5, max(len(labels), 1) - 0.5)
    axis.set_ylim(-0.04, 1.04)


def _make_legend() -> list[Line2D]:
    dot = {'marker': 'o', 'ls': '', 'ms': 4}
    handles = []
    for rule in _SHIFT:
        handles.append(Line2D([], [], color=style.COLOURS[rule], label=rule, **dot))
    hollow = {'color': 'black', 'mfc': 'white', 'label': 'not converged'}
    handles.append(Line2D([], [], **hollow, **dot))
    handles.append(Line2D([], [], color='black', lw=1, label='mean of a γ'))
    dotted = {'color': 'grey', 'lw': 0.8, 'ls': ':'}
    handles.append(Line2D([], [], **dotted, label='mean of right held-out answers'))
    return handles


layout = style.Layout(rows=2, columns=4, width=9.5, height=5.6)


def command(words: list[str]) -> None:
    parser = cli.Parser(prog='python -m analysis law_gamma', description=__doc__)
    parser.add_argument(
        '--members',
        nargs='+',
        type=cli.parse_file,
        required=True,
        metavar='CSV',
        help='tables that `python -m analysis law` has written',
    )
    parser.add_argument('--out', type=cli.parse_folder, required=True)
    flags = parser.parse_args(words)
    require_folder_for_tables(flags.out)
    members = law_members.join(map(law_members.read_csv, flags.members))
    result = compute(members)
    if not len(result):
        raise UserError('--members: no network of these tables is in one of the panels')
    for path in style.write_figure(result, draw, layout, flags.out / 'law_gamma'):
        print(path)
