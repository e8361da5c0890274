"""Eigenvalues by gamma and over training: panels of the figure `eigenvalues`.

Each takes the result of that figure.
"""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.drawing import style
from analysis.drawing.gammas import label_gamma
from analysis.stats import mean_interval


def draw_spectra(axis: Axes, result: Any) -> None:
    colours = _sample_colours('viridis', 0.9, len(result.gamma_G))
    index = np.arange(result.eigenvalues_GI.shape[-1]) + 1
    for i, gamma in enumerate(result.gamma_G):
        values = result.eigenvalues_GI[i]
        axis.plot(index, values, color=colours[i], label=f'γ {gamma:g}')
    axis.set(xscale='log', yscale='log', xlabel='index')
    axis.set_title(f'eigenvalues, {result.matrix}')
    axis.set_ylim(bottom=result.eigenvalues_GI.max() / 1e8)
    axis.legend()


def draw_training(axis: Axes, result: Any) -> None:
    """The leading eigenvalues of one member; a circle where one rises."""
    leading = len(result.rises_I)
    colours = _sample_colours('magma', 0.8, leading)
    for i, colour in enumerate(colours):
        values = result.evolution_SI[:, i]
        axis.plot(result.steps_S, values, '.-', ms=3, color=colour)
        chosen = result.steps_S == result.rises_I[i]
        steps = result.steps_S[chosen]
        axis.plot(steps, values[chosen], 'o', ms=5, mfc='none', color=colour)
    axis.set(xlabel='step', title=f'the leading {leading} at γ {result.gamma:g}')
    if result.missing:
        lines = '\n'.join(result.missing)
        axis.text(0.03, 0.97, lines, va='top', transform=axis.transAxes)


def draw_numbers(axis: Axes, result: Any) -> None:
    """Numbers of the members at the point, and of all converged members.

    Error bars: mean and 95 % interval over seeds of their participation ratio. Grey:
    the same before training.
    """
    lines = (
        ('participation ratio', result.participation_G, 'o-'),
        ('stable rank', result.stable_rank_G, 's-'),
        ('1 / share of the first', 1 / result.share_G, '^:'),
    )
    for name, values, line in lines:
        axis.plot(result.gamma_G, values, line, ms=3, label=name)
    _draw_seeds(axis, result.members, 'participation', 'C0', None)
    _draw_seeds(axis, result.members, 'untrained', 'grey', 'untrained')
    axis.set_title('effective number of directions')
    label_gamma(axis, result.width)
    _, highest = axis.get_ylim()
    axis.set_ylim(0, 2.2 * highest)  # room for the legend
    axis.legend(loc='upper right')


def _draw_seeds(
    axis: Axes, members: pd.DataFrame, column: str, colour: str, label: str | None
) -> None:
    """A point and an error bar at every gamma with enough converged seeds."""
    for gamma, here in members.groupby('gamma'):
        found = mean_interval(here.groupby('seed')[column].mean())
        if np.isfinite(found.low):
            reach = [[found.mean - found.low], [found.high - found.mean]]
            bar = {'color': colour, 'fmt': '_', 'ms': 5, 'lw': 1, 'label': label}
            axis.errorbar(gamma, found.mean, reach, **bar)
            label = None  # one entry of the legend


def _sample_colours(name: str, end: float, number: int) -> np.ndarray:
    """Colours [number, 4] from the start of a colour map to the share `end` of it."""
    return style.plt.get_cmap(name)(np.linspace(0, end, number))
