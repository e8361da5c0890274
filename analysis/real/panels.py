"""The panels of the figure of real tasks: a colour per gamma, a line per decay."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from analysis.drawing import style
from analysis.members.statistics import mean_interval
from analysis.real import corners
from analysis.real.corners import Corner
from analysis.real.result import Result

_LARGE, _SMALL, _BETWEEN = '#E69F00', '#0072B2', '#009E73'  # initialization, as in P1
_GREY = '#999999'
_STYLES = ('--', '-', ':')  # weak decay, strong decay, between
_SPREAD = 0.18  # of the dots around the place of their cell


def describe(result: Result) -> str:
    """The title: how many have converged, and by which criterion."""
    converged = int(result.members['converged'].sum())
    text = f'{result.task}: {converged} of {len(result.agreement_MP)} converged'
    text += f' ({result.criterion}); bars: 95 % over seeds'
    if result.diverged:
        text += f'; {result.diverged} diverged and are left out'
    return text


def draw_agreements(axis: Axes, result: Result, p: int, is_here_M: np.ndarray) -> None:
    """Exact match by size, or by cell where there is one size; baselines in grey."""
    _draw_cells(axis, result, result.agreement_MP[:, p], is_here_M)
    size_M = result.members['size']
    for name, score_MP in zip(result.baseline, result.baseline_KMP, strict=True):
        scores = []
        sizes = np.unique(size_M[is_here_M])
        for size in sizes:
            of_size = score_MP[is_here_M & (size_M == size), p]
            scores.append(np.nan if np.isnan(of_size).all() else np.nanmean(of_size))
        if np.isfinite(scores).any():
            _draw_baseline(axis, sizes, np.array(scores), name)
    axis.set_ylim(-0.04, 1.04)


def draw_moments(axis: Axes, result: Result, is_here_M: np.ndarray) -> None:
    """Steps until the loss first is below the threshold; none where it never is."""
    _draw_cells(axis, result, result.members['moment'], is_here_M)
    axis.set(ylabel='steps to converge', ylim=(0, None))


def draw_groups(axis: Axes, result: Result, p: int, is_here_M: np.ndarray) -> None:
    """Exact match of every group, by cell, at the largest size: the mean of seeds."""
    members = result.members
    is_largest_M = members['size'] == members['size'][is_here_M].max()
    cells = corners.list_cells(members)
    values_GC = np.full((len(result.group), len(cells)), np.nan)
    for c, cell in enumerate(cells):
        is_cell_M = is_here_M & is_largest_M & corners.is_at(members, cell)
        if is_cell_M.any():
            values_GC[:, c] = result.agreement_MPG[is_cell_M, p].mean(0)
    is_asked_G = np.isfinite(values_GC).any(1)
    if not is_asked_G.any():
        axis.set_axis_off()
        return
    style.draw_heatmap(axis, values_GC[is_asked_G], 'Blues', (0, 1))
    axis.set_yticks(range(is_asked_G.sum()), result.group[is_asked_G], fontsize=5)
    axis.set_xticks(range(len(cells)), _label_cells(cells), fontsize=5)


def draw_effects(axis: Axes, result: Result, is_here_M: np.ndarray) -> None:
    """What gamma and decay each change on the tested probe, at the largest size.

    Only members that have converged count, as in the claims.
    """
    members = result.members
    is_largest_M = members['size'] == members['size'][is_here_M].max()
    tested_M = result.agreement_MP[:, result.tested]
    titles = []
    for y, contrast in enumerate(corners.list_contrasts(members)):
        is_counted_M = is_here_M & is_largest_M & members['converged']
        found = corners.estimate_effect(members, tested_M, contrast, is_counted_M)
        axis.plot(found.mean, y, 'o', ms=3, color='black')
        axis.plot([found.low, found.high], [y, y], lw=1, color='black')
        titles.append(contrast.title)
    if not titles:
        axis.set_axis_off()
        return
    axis.axvline(0, color=_GREY, lw=0.6)
    axis.set_yticks(range(len(titles)), titles, fontsize=5)
    axis.set_ylim(len(titles) - 0.5, -0.5)
    axis.set(xlabel=f'difference on {result.probe[result.tested]}')


def draw_legend(axis: Axes, result: Result) -> None:
    """Names the lines, where sizes are an axis; else the axis itself does."""
    if len(np.unique(result.members['size'])) > 1:
        axis.legend(fontsize=5)


def _draw_cells(
    axis: Axes, result: Result, values_M: np.ndarray, is_here_M: np.ndarray
) -> None:
    """Dots of the members, and the mean of every cell with its interval."""
    members = result.members
    sizes = np.unique(members['size'][is_here_M])
    cells = corners.list_cells(members)
    for c, cell in enumerate(cells):
        places, means = [], []
        for i, size in enumerate(sizes):
            place = c if len(sizes) == 1 else i + _shift(c, len(cells))
            is_counted_M = is_here_M & (members['size'] == size)
            is_counted_M &= corners.is_at(members, cell)
            found = mean_interval(values_M[is_counted_M])
            places.append(place)
            means.append(found.mean)
            colour, _ = _choose_style(members, cell)
            axis.plot([place, place], [found.low, found.high], color=colour, lw=1)
            _draw_dots(axis, place, values_M, members, is_counted_M, colour)
        colour, line = _choose_style(members, cell)
        marker = '_' if len(sizes) == 1 else ''
        axis.plot(places, means, line + marker, lw=1, color=colour, label=cell.title)
    if len(sizes) == 1:
        axis.set_xticks(range(len(cells)), _label_cells(cells), fontsize=5)
    else:
        axis.set_xticks(range(len(sizes)), [f'{size:,}' for size in sizes], fontsize=6)
        axis.set_xlabel('training examples')


def _draw_dots(
    axis: Axes,
    place: float,
    values_M: np.ndarray,
    members: dict[str, Any],
    is_counted_M: np.ndarray,
    colour: str,
) -> None:
    for is_filled in (True, False):
        is_drawn_M = is_counted_M & (members['converged'] == is_filled)
        values = values_M[is_drawn_M]
        axis.plot(
            np.full(len(values), place),
            values,
            'o',
            ms=3,
            color=colour,
            mfc=colour if is_filled else 'none',
        )


def _draw_baseline(
    axis: Axes, sizes: np.ndarray, scores: np.ndarray, name: str
) -> None:
    if len(sizes) == 1:
        axis.axhline(scores[0], color=_GREY, lw=0.8, ls=':')
        end = axis.get_xlim()[1]
    else:
        axis.plot(range(len(sizes)), scores, ':', color=_GREY, lw=0.8)
        end = len(sizes) - 1
    axis.text(end, scores[-1], name, fontsize=5, color=_GREY, ha='right', va='bottom')


def _shift(c: int, total: int) -> float:
    """So that the dots of cells at one size lie beside each other."""
    return _SPREAD * (2 * c / max(total - 1, 1) - 1)


def _choose_style(members: dict[str, Any], cell: Corner) -> tuple[str, str]:
    """(colour, line style)."""
    lowest = corners.find_corner(members, 0, 0)
    highest = corners.find_corner(members, 1, 1)
    colour = _BETWEEN
    if cell.gamma == lowest.gamma:
        colour = _LARGE
    elif cell.gamma == highest.gamma:
        colour = _SMALL
    line = _STYLES[2]
    if cell.weight_decay == highest.weight_decay:
        line = _STYLES[1]
    elif cell.weight_decay == lowest.weight_decay:
        line = _STYLES[0]
    return colour, line


def _label_cells(cells: list[Corner]) -> list[str]:
    return [f'γ {cell.gamma:g}\n{cell.weight_decay:g}' for cell in cells]
