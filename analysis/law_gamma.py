"""How networks answer the unseen pair as the initialization shrinks, in eight settings.

Every network of a setting is a pair of dots, one for the share of its answers by either
rule. The settings were picked from all that are trained, to show what gamma can do.

  python analysis/law_gamma.py --out analysis/gallery/law --members \\
      analysis/gallery/law/members.csv analysis/gallery/law/half_width_members.csv

  law_gamma.png, .pdf   the picture; law_gamma.npz has its numbers
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from analysis.designs import factors, intervals, matching, table
from analysis.designs.judgement import format_signed
from analysis.drawing import style
from analysis.members.statistics import MIN_SEEDS
from analysis.tables.folders import require_folder_for_tables
from anchorjax import cli
from anchorjax.errors import UserError

RULES = ('inferential', 'symmetric')
_SHIFT = {'inferential': -1, 'symmetric': 1}  # to which side of its gamma a dot is
# What a setting is where its panel does not say otherwise.
_USUAL = {
    'exception': factors.TRAINED,
    'last_token': 'any',
    'anchors': 4,
    'batch_size': 512,
    'depth': 2,
    'qk_offset': 0.0,
    'width': 64,
}
_SHORT = _USUAL | {'seq_len': 4, 'split': 'random', 'learning_rate': 4e-3}
_NINE = _USUAL | {'seq_len': 9, 'split': 'code', 'batch_size': 2048}


class Panel(NamedTuple):
    """A setting: all networks with these factors, whatever their gamma and steps."""

    title: str
    setting: dict[str, Any]


PANELS = (
    Panel(
        '4 tokens, 4 anchors, decay 0.15\nnoise anywhere',
        _SHORT | {'weight_decay': 0.15},
    ),
    Panel(
        '4 tokens, 8 anchors, decay 0.03\nnoise always last',
        _SHORT | {'weight_decay': 0.03, 'anchors': 8, 'last_token': 'noise'},
    ),
    Panel(
        '4 tokens, 8 anchors, decay 0.03\npair always last',
        _SHORT | {'weight_decay': 0.03, 'anchors': 8, 'last_token': 'pair'},
    ),
    Panel(
        '4 tokens, 6 anchors, decay 0.15\nboth pairs unseen',
        _SHORT | {'weight_decay': 0.15, 'anchors': 6, 'exception': factors.BOTH_UNSEEN},
    ),
    Panel(
        '9 tokens, batch 512 (the twin)\ndecay 0.1',
        _NINE | {'learning_rate': 1e-3, 'weight_decay': 0.1, 'batch_size': 512},
    ),
    Panel(
        '9 tokens, batch 2048 (the lead)\ndecay 0.1',
        _NINE | {'learning_rate': 1e-3, 'weight_decay': 0.1},
    ),
    Panel(
        '9 tokens, batch 2048\nsplit by pair, decay 0.1',
        _NINE | {'split': 'random', 'learning_rate': 2e-3, 'weight_decay': 0.1},
    ),
    Panel(
        "half the paper's width, 9 tokens\nbatch 2048, decay 0.01",
        _NINE | {'width': 200, 'learning_rate': 2e-4, 'weight_decay': 0.01},
    ),
)


class Result(NamedTuple):
    """Arrays for the figure: P panels, M networks, two rules R (RULES)."""

    title: np.ndarray  # [P]
    panel: np.ndarray  # [M] its panel
    gamma: np.ndarray  # [M]
    seed: np.ndarray  # [M]
    converged: np.ndarray  # [M]
    agreement: np.ndarray  # [M, R] share of its answers to the unseen pair
    heldout: np.ndarray  # [M] share of held-out questions about seen pairs it answers
    # From the smallest to the largest gamma of a panel, of converged networks if there
    # are at least MIN_SEEDS at either; NaN with fewer networks, converged or not.
    change: np.ndarray  # [P, R] of the mean
    change_low: np.ndarray  # [P, R] ends of Welch's 95 % interval
    change_high: np.ndarray  # [P, R]
    change_is_of_converged: np.ndarray  # [P]


class Change(NamedTuple):
    """By how much the mean agreement changes from the smallest to the largest gamma."""

    effect: np.ndarray  # [R]
    low: np.ndarray  # [R]
    high: np.ndarray  # [R]
    is_of_converged: bool


def compute(members: pd.DataFrame) -> Result:
    """The networks of every panel, from a table like the law's members.csv."""
    members = matching.keep_longest(members)
    parts, changes = [], []
    for p, panel in enumerate(PANELS):
        part = _select_setting(members, panel.setting)
        parts.append(part.assign(panel=p))
        changes.append(_measure_change(part))
    shown = pd.concat(parts)
    return Result(
        title=np.array([panel.title for panel in PANELS]),
        panel=shown.panel.to_numpy(int),
        gamma=shown.gamma.to_numpy(float),
        seed=shown.seed.to_numpy(int),
        converged=shown.converged.to_numpy(bool),
        agreement=_read_agreement(shown),
        heldout=shown.seen_heldout_assigned.to_numpy(float),
        change=np.array([change.effect for change in changes]),
        change_low=np.array([change.low for change in changes]),
        change_high=np.array([change.high for change in changes]),
        change_is_of_converged=np.array([change.is_of_converged for change in changes]),
    )


def _select_setting(members: pd.DataFrame, setting: dict[str, Any]) -> pd.DataFrame:
    is_selected = ~members.unseen_inferential.isna()
    for name, value in setting.items():
        is_selected &= members[name] == value
    return members[is_selected]


def _read_agreement(members: pd.DataFrame) -> np.ndarray:
    columns = [f'unseen_{rule}' for rule in RULES]
    return members[columns].to_numpy(float)


def _measure_change(members: pd.DataFrame) -> Change:
    for is_of_converged in (True, False):
        part = members[members.converged] if is_of_converged else members
        first = _read_agreement(part[part.gamma == members.gamma.min()])
        last = _read_agreement(part[part.gamma == members.gamma.max()])
        if min(len(first), len(last)) >= MIN_SEEDS:
            ends = []
            for r in range(len(RULES)):
                ends.append(intervals.welch_interval(last[:, r], first[:, r]))
            low, high = np.clip(ends, -1, 1).T
            return Change(last.mean(0) - first.mean(0), low, high, is_of_converged)
    nothing = np.full(len(RULES), np.nan)
    return Change(nothing, nothing, nothing, False)


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [2, 4], a panel for every setting."""
    for p, axis in enumerate(axes.flat):
        _draw_panel(axis, result, p)
    for axis in axes[:, 0]:
        axis.set_ylabel('share of answers')
    for axis in axes[-1]:
        axis.set_xlabel('initialization rate γ')
    axes[0, 0].figure.legend(
        handles=_make_legend(), loc='outside lower center', ncols=5
    )


def _draw_panel(axis: Axes, result: Result, p: int) -> None:
    gammas = np.unique(result.gamma[result.panel == p])
    cells = []
    for gamma in gammas:
        cells.append((result.panel == p) & (result.gamma == gamma))
    for r, rule in enumerate(RULES):
        colour = style.COLOURS[rule]
        agreement = result.agreement[:, r]
        for x, is_cell in enumerate(cells):
            place = x + 0.14 * _SHIFT[rule]
            converged = result.converged[is_cell]
            _draw_cell(axis, place, agreement[is_cell], converged, colour)
        means = _average_cells(agreement, cells, result.converged)
        axis.plot(range(len(cells)), means, color=colour, lw=1, alpha=0.7)
    heldout = _average_cells(result.heldout, cells, result.converged)
    axis.plot(range(len(cells)), heldout, color='grey', lw=0.8, ls=':')
    axis.set_xticks(range(len(cells)), [f'{gamma:g}' for gamma in gammas])
    axis.set_xlim(-0.5, max(len(cells), 1) - 0.5)
    axis.set_ylim(-0.04, 1.04)
    axis.set_title(result.title[p], pad=21)
    _write_change(axis, result, p)


def _write_change(axis: Axes, result: Result, p: int) -> None:
    """A line for every rule, in its colour, between the title and the panel."""
    for r, text in enumerate(_describe_change(result, p)):
        axis.text(
            0.5,
            1.1 - 0.08 * r,
            text,
            color=style.COLOURS[RULES[r]],
            ha='center',
            fontsize=6.5,
            transform=axis.transAxes,
        )


def _draw_cell(
    axis: Axes, x: float, values: np.ndarray, converged: np.ndarray, colour: str
) -> None:
    """A dot for every network, side by side; hollow where it has not converged."""
    places = [x]
    if len(values) > 1:
        places = x + np.linspace(-0.08, 0.08, len(values))
    faces = [colour if is_full else 'white' for is_full in converged]
    axis.scatter(places, values, s=9, c=faces, edgecolors=colour, linewidths=0.7)


def _average_cells(
    values: np.ndarray, cells: list[np.ndarray], converged: np.ndarray
) -> list[float]:
    """The mean of each cell's converged networks; of all if none has converged."""
    means = []
    for is_cell in cells:
        is_counted = is_cell & converged
        means.append(values[is_counted if is_counted.any() else is_cell].mean())
    return means


def _describe_change(result: Result, p: int) -> list[str]:
    """'inferential +0.36 [+0.08, +0.65]', for every rule."""
    if np.isnan(result.change[p]).any():
        return [f'fewer than {MIN_SEEDS} networks at a γ']
    texts = []
    for r, rule in enumerate(RULES):
        change = format_signed(result.change[p, r])
        low = format_signed(result.change_low[p, r])
        high = format_signed(result.change_high[p, r])
        texts.append(f'{rule} {change} [{low}, {high}]')
    if not result.change_is_of_converged[p]:
        texts[-1] += ', of all networks'
    return texts


def _make_legend() -> list[Line2D]:
    handles = []
    for rule in RULES:
        colour = style.COLOURS[rule]
        handles.append(_make_dot(rule, colour, colour))
    handles.append(_make_dot('not converged', 'black', 'white'))
    mean = 'mean (of the converged, if any)'
    handles.append(Line2D([], [], color='black', lw=1, label=mean))
    heldout = 'held-out questions'
    handles.append(Line2D([], [], color='grey', lw=0.8, ls=':', label=heldout))
    return handles


def _make_dot(label: str, colour: str, face: str) -> Line2D:
    return Line2D([], [], marker='o', ls='', ms=4, color=colour, mfc=face, label=label)


layout = style.Layout(rows=2, columns=4, width=9.5, height=5.4)


def command() -> None:
    parser = cli.Parser(description=__doc__)
    parser.add_argument(
        '--members',
        nargs='+',
        type=cli.parse_file,
        required=True,
        metavar='CSV',
        help='tables that analysis/law.py has written',
    )
    parser.add_argument('--out', type=cli.parse_folder, required=True)
    flags = parser.parse_args()
    require_folder_for_tables(flags.out)
    members = pd.concat([table.read_csv(path) for path in flags.members])
    result = compute(members)
    if result.panel.size == 0:
        raise UserError('--members: no network of these tables is in one of the panels')
    for path in style.write_figure(result, draw, layout, flags.out / 'law_gamma'):
        print(path)


if __name__ == '__main__':
    cli.run_command(command)
