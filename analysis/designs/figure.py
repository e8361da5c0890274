"""The picture of the law: what each setting ends at over gamma, and what moves it."""

import textwrap
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from analysis.designs import effect_table, factors, matching, outcomes
from analysis.designs.judgement import MIN_SETTINGS, describe_number
from analysis.drawing import style
from analysis.members.solution import SOLUTIONS

_BAR = 0.62  # height of a strip's bars, of the distance between two strips
_FAINT = 0.35  # opacity
_COLUMN = 0.13  # width of a column of levels, of the panel beside it
_SHOWN = (outcomes.MEMORIZING, outcomes.SYMMETRIC, outcomes.INFERENTIAL)
_NOT_A_SETTING = ('gamma', 'exception', factors.NUISANCE)


class Picture(NamedTuple):
    """Arrays for the figure.

    S settings, F factors that vary between them, G gammas, six solutions, E effects.
    """

    gamma: np.ndarray  # [G]
    factor: np.ndarray  # [F] titles
    level: np.ndarray  # [S, F] of each setting, as text
    setting_block: np.ndarray  # [S]
    share: np.ndarray  # [S, G, solution] of the converged members; NaN without any
    converged: np.ndarray  # [S, G]
    trained: np.ndarray  # [S, G]
    effect_block: np.ndarray  # [E]
    effect_factor: np.ndarray  # [E] with its levels
    effect_outcome: np.ndarray  # [E]
    effect: np.ndarray  # [E]
    effect_low: np.ndarray  # [E]
    effect_high: np.ndarray  # [E]
    effect_evidence: np.ndarray  # [E] which contrast, of how many settings
    effect_is_matched: np.ndarray  # [E] the cells differ in this factor alone
    common: str  # what all settings share


def arrange_picture(members: pd.DataFrame, effects: pd.DataFrame) -> Picture:
    """The arrays of the figure; `effects` are from `effect_table`."""
    members = matching.keep_longest(members)
    varying = factors.list_varying(members)
    fixed = [name for name in factors.NAMES if name not in varying]
    common = factors.describe_setting(members.iloc[0], fixed)
    return Picture(
        **_arrange_strips(members, varying), **_arrange_effects(effects), common=common
    )


def _arrange_strips(members: pd.DataFrame, varying: list[str]) -> dict[str, np.ndarray]:
    named = [name for name in varying if name not in _NOT_A_SETTING]
    gammas = np.sort(members.gamma.unique())
    levels, blocks, shares, converged, trained = [], [], [], [], []
    settings = members.groupby(['exception', *named], sort=True)
    for (block, *_), setting in sorted(settings, key=_order_by_block):
        levels.append(_format_levels(setting.iloc[0], named))
        blocks.append(outcomes.name_block(block))
        for gamma in gammas:
            cell = setting[setting.gamma == gamma]
            solution = cell.solution[cell.converged]
            shares.append([(solution == name).mean() for name in SOLUTIONS])
            converged.append(len(solution))
            trained.append(len(cell))
    shape = (len(blocks), len(gammas))
    titles = [factors.BY_NAME[name].title for name in named]
    return {
        'gamma': gammas,
        'factor': np.array(titles, str),
        'level': np.array(levels, str).reshape(len(blocks), len(named)),
        'setting_block': np.array(blocks, str),
        'share': np.array(shares, float).reshape(*shape, len(SOLUTIONS)),
        'converged': np.array(converged).reshape(shape),
        'trained': np.array(trained).reshape(shape),
    }


def _format_levels(row: pd.Series, names: list[str]) -> list[str]:
    return [factors.format_level(factors.BY_NAME[name], row[name]) for name in names]


def _arrange_effects(effects: pd.DataFrame) -> dict[str, np.ndarray]:
    shown = _select_effects(effects)
    blocks, labels, evidence = [], [], []
    for row in shown.to_dict('records'):
        title = factors.BY_NAME[row['factor']].title
        blocks.append(outcomes.name_block(row['block']))
        labels.append(f'{title}: {row["lower"]} → {row["upper"]}')
        settings = describe_number(row['settings'], 'setting')
        evidence.append(f'{row["method"]}, {settings}')
    return {
        'effect_block': np.array(blocks, str),
        'effect_factor': np.array(labels, str),
        'effect_evidence': np.array(evidence, str),
        'effect_is_matched': (shown.method == effect_table.MATCHED).to_numpy(bool),
        'effect_outcome': shown.outcome.to_numpy(str),
        'effect': shown.effect.to_numpy(float),
        'effect_low': shown.low.to_numpy(float),
        'effect_high': shown.high.to_numpy(float),
    }


def layout(picture: Picture) -> style.Layout:
    """Two panels, as high as the settings need."""
    rows = len(picture.level) + len(np.unique(picture.setting_block))
    effects = len(np.unique(_name_effect_rows(picture)))
    return style.Layout(1, 2, 11.0, 1.4 + 0.25 * max(rows, effects, 6))


def draw(picture: Picture, axes: np.ndarray) -> None:
    """Fills axes [1, 2]: a strip per setting, and the effects of the factors."""
    strips, effects = axes[0]
    strips.get_gridspec().set_width_ratios([3, 2])
    _draw_strips(strips, picture)
    _draw_effects(effects, picture)
    handles = [Patch(color=_find_colour(name), label=name) for name in SOLUTIONS]
    strips.figure.legend(
        handles=handles, loc='outside lower center', ncols=len(handles)
    )
    if picture.common:
        strips.figure.suptitle(f'everywhere: {picture.common}', fontsize=7)


def _order_by_block(group: tuple[tuple, pd.DataFrame]) -> int:
    key, _ = group
    return factors.rank_level(factors.BY_NAME['exception'], key[0])


def _select_effects(effects: pd.DataFrame) -> pd.DataFrame:
    """The extremes of every factor, by the contrast that decides hypotheses."""
    shown = effects[effects.outcome.isin(_SHOWN) & (effects.sets > 0)]
    shown = shown[shown.block != effect_table.ALL]
    is_matched = shown.method == effect_table.MATCHED
    is_one_setting = is_matched & (shown.settings < MIN_SETTINGS)
    is_enough = is_matched & ~is_one_setting
    ranked = pd.concat([shown[is_enough], shown[~is_matched], shown[is_one_setting]])
    return ranked.drop_duplicates(['block', 'factor', 'outcome']).sort_index()


def _draw_strips(axis: Axes, picture: Picture) -> None:
    _write_levels(axis, -1, picture.factor, 'black')
    usual = [_find_most_frequent(levels) for levels in picture.level.T]
    y = 0
    for s, levels in enumerate(picture.level):
        block = picture.setting_block[s]
        if s == 0 or block != picture.setting_block[s - 1]:
            axis.text(-0.5, y, block, weight='bold', va='center', fontsize=8)
            y += 1
        _draw_strip(axis, picture, s, y)
        colours = np.where(levels == usual, 'grey', 'black')
        _write_levels(axis, y, levels, colours)
        y += 1
    axis.set_yticks([])
    axis.set_ylim(y - 0.4, -0.6)
    axis.set_xlim(-0.5, len(picture.gamma) - 0.5)
    gammas = [f'{gamma:g}' for gamma in picture.gamma]
    axis.set_xticks(range(len(gammas)), gammas)
    axis.set_xlabel('initialization rate γ')
    axis.set_title('solutions of the converged members (converged / trained)')


def _write_levels(
    axis: Axes, y: float, words: np.ndarray, colours: np.ndarray | str
) -> None:
    """A row of the table to the left of the strips: a column per factor."""
    left = -_COLUMN * len(words)
    for k, colour in enumerate(np.broadcast_to(colours, words.shape)):
        axis.text(
            left + _COLUMN * (k + 0.5),
            y,
            textwrap.fill(words[k], 8),
            color=colour,
            ha='center',
            va='center',
            fontsize=6,
            transform=axis.get_yaxis_transform(),
        )


def _find_most_frequent(words: np.ndarray) -> str:
    values, counts = np.unique(words, return_counts=True)
    return values[counts.argmax()]


def _draw_strip(axis: Axes, picture: Picture, s: int, y: float) -> None:
    """Stacked shares over gamma, with the numbers of members."""
    for g in range(len(picture.gamma)):
        trained = picture.trained[s, g]
        if trained == 0:
            continue
        left = g - 0.46
        for name, share in zip(SOLUTIONS, picture.share[s, g], strict=True):
            width = 0.92 * share
            if width > 0:
                axis.barh(y, width, _BAR, left=left, color=_find_colour(name))
                left += width
        number = f'{picture.converged[s, g]}/{trained}'
        axis.text(
            g,
            y,
            number,
            ha='center',
            va='center',
            fontsize=6,
            path_effects=[withStroke(linewidth=1.5, foreground='white')],
        )


def _draw_effects(axis: Axes, picture: Picture) -> None:
    """A row per block and factor, a point with its interval per outcome.

    Contrasts that are not matched are faint: other factors differ there, too.
    """
    rows = _name_effect_rows(picture)
    names = list(dict.fromkeys(rows))
    for e, row in enumerate(rows):
        outcome = str(picture.effect_outcome[e])
        y = names.index(row) + 0.22 * (_SHOWN.index(outcome) - 1)
        colour = _find_colour(outcome)
        alpha = 1.0 if picture.effect_is_matched[e] else _FAINT
        ends = [picture.effect_low[e], picture.effect_high[e]]
        axis.plot(ends, [y, y], color=colour, lw=1.2, alpha=alpha)
        axis.plot(picture.effect[e], y, 'o', color=colour, ms=3, alpha=alpha)
    axis.axvline(0, color='black', lw=0.6)
    axis.set_yticks(range(len(names)), names, fontsize=6)
    axis.set_ylim(max(len(names), 1) - 0.4, -0.6)
    axis.set_xlim(-1.05, 1.05)
    axis.set_xlabel('difference of the share of members')
    axis.set_title('what one factor changes (faint: not matched)')


def _name_effect_rows(picture: Picture) -> list[str]:
    """The row of every effect: its factor and levels, its block, how many sets."""
    rows = []
    for e, factor in enumerate(picture.effect_factor):
        block = picture.effect_block[e]
        rows.append(f'{factor}\n{block}; {picture.effect_evidence[e]}')
    return rows


def _find_colour(name: str) -> str:
    return style.COLOURS.get(name, style.COLOURS['other'])
