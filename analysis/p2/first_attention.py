"""Does layer 1 average, what does W_V read, does layer 2 find the key? (P2 Fig 6)

P2 says: at a small start the attention of layer 1 is 1/i; W_V has one large singular
value, whose vector lies along the embeddings of the reasoning anchors and orthogonal to
those of the memory anchors; layer 2 finds the key by its position.

  distance    total variation distance of the attention from 1/i, beside rows at random
  alignment   |cosine| of the embeddings with the first vectors of W_V, beside random
              directions
  key         attention of the last position to the key in layer 2, beside 1/T, and what
              is left of it when all position embeddings are the same

Every number also of the network before training.

  python -m analysis first_attention --run runs/memory_reasoning
"""

from typing import Annotated

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from analysis.drawing import style
from analysis.drawing.bands import draw_band, scale_steps
from analysis.members.member import Member, member_of, require_attention
from analysis.members.selection import report_progress
from analysis.p2 import attention, networks
from analysis.p2.networks import COLOURS, SINGLE_KINDS, list_panels
from anchorjax.limits import at_least, at_most
from anchorjax.storage.reader import Run

TITLE = 'First attention'
PAPER = 'P2 Fig 6'
CAPTION = 'Does layer 1 average, what does its W_V read, does layer 2 find the key?'
W_V = 'block_0/W_V'
GREY = '#BBBBBB'


@networks.single_thread
def compute(
    run: Run,
    early: networks.Early = None,
    number: Annotated[
        int, at_least(1), at_most(100_000), 'sequences of each probe'
    ] = 300,
) -> xr.Dataset:
    """Attention and W_V of every network, before training (step 0) and at snapshots.

      attention              [member, reader, position] of layer 1 at the early step,
                             mean over sequences and heads
      distance               [member, step] of it from 1/i; random_distance [member]
      sigma                  [member, index] singular values of W_V at the early step
      sigma_ratio            [member, step] the first by the second of them
      alignment              [member, step, kind, vector]
      key                    [member, step] attention of layer 2 to the key; NaN without
                             a layer 2; chance [member] is 1/T
      key_without_positions  [member] at the last step; NaN without positions

    Raises:
      UserError: another task, a model without attention, or no such snapshot.
    """
    points = networks.list_points(run)
    snapshots = networks.find_snapshots(run, points)
    early = networks.find_early(run, points, snapshots, early)
    steps = pd.Index([0, *snapshots], name='step')
    found = []
    for point in report_progress(points, 'first_attention'):
        last = member_of(run, int(snapshots[-1]), **point)
        require_attention(last)
        tokens_BT = np.concatenate(last.probes.tokens_PBT[:, :number])
        of_steps = []
        for step in steps.tolist():
            member = networks.read_member(run, step, point)
            of_steps.append(_measure(member, tokens_BT))
        numbers = xr.concat(of_steps, steps)
        for name in ('attention', 'sigma'):
            numbers[name] = numbers[name].sel(step=early, drop=True)
        numbers['key_without_positions'] = np.nan
        if 'W_pos' in last.params:
            blind = attention.remove_positions(last)
            key = attention.attend_to_key(blind, tokens_BT)
            numbers['key_without_positions'] = key
        length = last.task.seq_len
        numbers['chance'] = 1 / length
        numbers['random_distance'] = attention.expect_random_distance(length)
        found.append(numbers)
    mean, bound = attention.expect_random_alignment(len(last.matrix(W_V)))
    result = networks.gather(run, points, found)
    return result.assign_attrs(
        early=early, random_alignment=mean, random_alignment_bound=bound
    )


def _measure(member: Member, tokens_BT: np.ndarray) -> xr.Dataset:
    tokens = networks.list_tokens(member.experiment.task)
    of_kinds = [tokens[kind] for kind in SINGLE_KINDS]
    Attn_BTT = member.forward(tokens_BT).blocks[0].Attn.mean(1)
    sigma, alignment = attention.measure_values(
        member.matrix(W_V), member.matrix('W_embed'), of_kinds
    )
    position = np.arange(tokens_BT.shape[1])
    return xr.Dataset(
        {
            'attention': (('reader', 'position'), Attn_BTT.mean(0)),
            'distance': attention.measure_distance(Attn_BTT),
            'sigma': ('index', sigma),
            'sigma_ratio': sigma[0] / sigma[1],
            'alignment': (('kind', 'vector'), alignment),
            'key': attention.attend_to_key(member, tokens_BT),
        },
        {'reader': position, 'position': position, 'kind': list(SINGLE_KINDS)},
    )


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [panel, 5]: attention, distance, singular values, alignment, key."""
    panels = list_panels(result)
    for row, (title, panel) in zip(axes, panels.items(), strict=True):
        mean_TT = panel.attention.mean('member', skipna=False)
        row[0].imshow(mean_TT, cmap='viridis', vmin=0, vmax=1)
        row[0].set(xticks=[], yticks=[])
        row[0].set_ylabel(f'{title}\nreader', fontsize=7)
        _draw_distance(row[1], panel)
        index = np.arange(1, panel.sizes['index'] + 1)
        draw_band(row[2], index, panel.sigma.values, 'black', None)
        row[2].set_ylim(bottom=0)
        _draw_alignment(row[3], panel)
        _draw_key(row[4], panel)
    titles = (
        f'layer 1, step {result.early:,}',
        'distance from 1/i',
        f'singular values, {W_V}',
        'its first vector: |cosine|',
        'layer 2: last → key',
    )
    for axis, title in zip(axes[0], titles, strict=True):
        axis.set_title(title, fontsize=7)
    labels = ('', 'step', 'index', 'step', 'step')
    for axis, label in zip(axes[-1], labels, strict=True):
        axis.set_xlabel(label)
    axes[0, 1].legend(fontsize=5)
    axes[0, 3].legend(fontsize=5)


def _draw_distance(axis: Axes, panel: xr.Dataset) -> None:
    draw_band(axis, panel.step, panel.distance.values, 'black', 'measured')
    chance = float(panel.random_distance.mean())
    axis.axhline(chance, color=GREY, lw=0.8, label='random rows')
    scale_steps(axis)
    axis.set_ylim(0, 1)


def _draw_alignment(axis: Axes, panel: xr.Dataset) -> None:
    for kind in SINGLE_KINDS:
        values_MS = panel.alignment.sel(kind=kind).isel(vector=0).values
        draw_band(axis, panel.step, values_MS, COLOURS[kind], kind)
    bound = panel.random_alignment_bound
    axis.axhline(bound, color=GREY, lw=0.8, label='95 % of random')
    scale_steps(axis)
    axis.set_ylim(0, 1)


def _draw_key(axis: Axes, panel: xr.Dataset) -> None:
    draw_band(axis, panel.step, panel.key.values, 'black', None)
    axis.axhline(float(panel.chance.mean()), color=GREY, lw=0.8)
    blind = float(panel.key_without_positions.mean())
    axis.plot(panel.step[-1], blind, 'x', ms=4, color='#D55E00')
    scale_steps(axis)
    axis.set_ylim(0, 1)
    axis.text(0.03, 0.9, '× without positions', fontsize=5, transform=axis.transAxes)


def layout(result: xr.Dataset) -> style.Layout:
    rows = len(list_panels(result))
    return style.Layout(rows, 5, 9.0, 0.5 + 1.6 * rows)
