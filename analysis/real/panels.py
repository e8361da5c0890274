"""The panels of the figure of real tasks: a colour per gamma, a line per decay."""

import numpy as np
from matplotlib.axes import Axes

from analysis.drawing import style
from analysis.members.statistics import mean_interval
from analysis.real import corners
from analysis.real.corners import Corner
from analysis.real.members import Table
from analysis.real.result import Result

_LARGE, _SMALL, _BETWEEN = '#E69F00', '#0072B2', '#009E73'  # initialization, as in P1
_GREY = '#999999'
_STYLES = ('--', '-', ':')  # weak decay, strong decay, between
_SPREAD = 0.18  # of the dots around the place of their cell
_APART = 0.04  # baselines nearer than this share one name, as two would overlap


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
    sizes = np.unique(size_M[is_here_M])
    heights = {}
    for name, score_MP in zip(result.baseline, result.baseline_KMP, strict=True):
        scores = []
        for size in sizes:
            of_size = score_MP[is_here_M & (size_M == size), p]
            scores.append(mean_interval(of_size).mean)
        if np.isfinite(scores).any():
            heights[name] = np.array(scores)
    for names in _group_baselines(heights):
        _draw_baseline(axis, heights[names[0]], ', '.join(names))
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
    agreement_MG = result.agreement_MPG[:, p]
    values_GC = np.full((len(result.group), len(cells)), np.nan)
    for c, cell in enumerate(cells):
        is_cell_M = is_here_M & is_largest_M & corners.is_at(members, cell)
        if is_cell_M.any():
            values_GC[:, c] = agreement_MG[is_cell_M].mean(0)
    is_asked_G = np.isfinite(values_GC).any(1)
    if not is_asked_G.any():
        axis.set_axis_off()
        return
    names = result.group[is_asked_G]
    style.draw_heatmap(axis, values_GC[is_asked_G], 'Blues', (0, 1))
    axis.set_yticks(range(len(names)), names, fontsize=5)
    axis.set_xticks(range(len(cells)), _label_cells(cells), fontsize=5)


def draw_effects(axis: Axes, result: Result, is_here_M: np.ndarray) -> None:
    """What gamma and decay each change on the tested probe, at the largest size.

    Only members that have converged count, as in the claims.
    """
    members = result.members
    is_largest_M = members['size'] == members['size'][is_here_M].max()
    tested_M = result.agreement_MP[:, result.tested]
    is_counted_M = is_here_M & is_largest_M & members['converged']
    titles = []
    for y, contrast in enumerate(corners.list_contrasts(members)):
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
    has_one_size = len(sizes) == 1
    for c, cell in enumerate(cells):
        is_cell_M = is_here_M & corners.is_at(members, cell)
        place_of = {}
        for i, size in enumerate(sizes):
            place_of[size] = c if has_one_size else i + _shift(c, len(cells))
        _draw_cell(axis, members, cell, values_M, is_cell_M, place_of)
    if has_one_size:
        axis.set_xticks(range(len(cells)), _label_cells(cells), fontsize=5)
    else:
        labels = [f'{size:,}' for size in sizes]
        axis.set_xticks(range(len(sizes)), labels, fontsize=6)
        axis.set_xlabel('training examples')


def _draw_cell(
    axis: Axes,
    members: Table,
    cell: Corner,
    values_M: np.ndarray,
    is_cell_M: np.ndarray,
    place_of: dict[int, float],
) -> None:
    """A line through the means of a cell, at the place of every size."""
    colour, line = _choose_style(members, cell)
    means = []
    for size, place in place_of.items():
        is_size_M = is_cell_M & (members['size'] == size)
        found = mean_interval(values_M[is_size_M])
        means.append(found.mean)
        axis.plot([place, place], [found.low, found.high], color=colour, lw=1)
        is_converged_M = is_size_M & members['converged']
        is_other_M = is_size_M & ~members['converged']
        _draw_dots(axis, place, values_M[is_converged_M], colour, colour)
        _draw_dots(axis, place, values_M[is_other_M], colour, 'none')
    marker = '_' if len(means) == 1 else ''
    axis.plot(
        list(place_of.values()),
        means,
        line + marker,
        lw=1,
        color=colour,
        label=cell.title,
    )


def _draw_dots(
    axis: Axes, place: float, values: np.ndarray, colour: str, inside: str
) -> None:
    places = np.full(len(values), place)
    axis.plot(places, values, 'o', ms=3, color=colour, mfc=inside)


def _group_baselines(heights: dict[str, np.ndarray]) -> list[list[str]]:
    """The names of baselines, those together whose names would overlap."""
    groups: list[list[str]] = []
    for name, scores in heights.items():
        for group in groups:
            others = heights[group[0]]
            if np.allclose(scores, others, rtol=0, atol=_APART, equal_nan=True):
                group.append(name)
                break
        else:
            groups.append([name])
    return groups


def _draw_baseline(axis: Axes, scores: np.ndarray, name: str) -> None:
    """A dotted line along the sizes, or across where there is one."""
    if len(scores) == 1:
        axis.axhline(scores[0], color=_GREY, lw=0.8, ls=':')
        end = axis.get_xlim()[1]
    else:
        axis.plot(range(len(scores)), scores, ':', color=_GREY, lw=0.8)
        end = len(scores) - 1
    axis.text(end, scores[-1], name, fontsize=5, color=_GREY, ha='right', va='bottom')


def _shift(c: int, total: int) -> float:
    """So that the dots of cells at one size lie beside each other."""
    return _SPREAD * (2 * c / max(total - 1, 1) - 1)


def _choose_style(members: Table, cell: Corner) -> tuple[str, str]:
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
