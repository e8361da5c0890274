"""Panels of the figure `first_attention`; each takes the result of that figure."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from analysis.bias.tokens import COLOURS, SINGLE_KINDS
from analysis.drawing.bands import draw_band
from analysis.members.table import Panel


def draw_attention(axis: Axes, result: Any, panel: Panel) -> None:
    mean_TT = result.attention[panel.is_here_M].mean(0)
    axis.imshow(mean_TT, cmap='viridis', vmin=0, vmax=1)
    axis.set(xticks=[], yticks=[])
    axis.set_ylabel(f'{panel.title}\nreader', fontsize=7)


def draw_distance(axis: Axes, result: Any, panel: Panel) -> None:
    here = panel.is_here_M
    draw_band(axis, result.step_S, result.distance[here], 'black', 'measured')
    chance = result.random_distance_M[here].mean()
    axis.axhline(chance, color='#BBBBBB', lw=0.8, label='random rows')
    axis.set_ylim(0, 1)


def draw_values(axis: Axes, result: Any, panel: Panel) -> None:
    sigma = result.sigma[panel.is_here_M]
    index = np.arange(1, sigma.shape[1] + 1)
    draw_band(axis, index, sigma, 'black', None)
    axis.set_ylim(bottom=0)


def draw_alignment(axis: Axes, result: Any, panel: Panel) -> None:
    for k, kind in enumerate(SINGLE_KINDS):
        values_MS = result.alignment[panel.is_here_M, :, k, 0]
        draw_band(axis, result.step_S, values_MS, COLOURS[kind], kind)
    chance = result.random_alignment[1]
    axis.axhline(chance, color='#BBBBBB', lw=0.8, label='95 % of random')
    axis.set_ylim(0, 1)


def draw_key(axis: Axes, result: Any, panel: Panel) -> None:
    here = panel.is_here_M
    draw_band(axis, result.step_S, result.key[here], 'black', None)
    axis.axhline(result.chance_M[here].mean(), color='#BBBBBB', lw=0.8)
    blind = result.key_without_positions[here].mean()
    axis.plot(result.step_S[-1], blind, 'x', ms=4, color='#D55E00')
    axis.set_ylim(0, 1)
    axis.text(0.03, 0.9, '× without positions', fontsize=5, transform=axis.transAxes)
