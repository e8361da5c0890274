"""Does layer 1 average, what does W_V read, does layer 2 find the key? (P2 Fig 6)

P2 says: at a small start the attention of layer 1 is 1/i; W_V has one large singular
value, whose vector lies along the embeddings of the reasoning anchors and orthogonal to
those of the memory anchors; layer 2 finds the key by its position.

  distance    total variation distance of the attention from 1/i, beside rows at random
  alignment   |cosine| of the embeddings with the first vector of W_V, beside random
              directions
  key         attention of the last position to the key in layer 2, beside 1/T, and what
              is left of it when all position embeddings are the same

Every number also of the network before training.

  python -m analysis first_attention --run runs/memory_reasoning
"""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from analysis import spectra
from analysis.drawing import style
from analysis.drawing.bands import draw_band, scale_steps
from analysis.members.untrained import require_attention
from analysis.p2 import networks
from analysis.p2.cosines import QUANTILE
from analysis.p2.networks import COLOURS, SINGLE_KINDS, list_panels
from anchorjax.network import Network
from anchorjax.storage.reader import Run

TITLE = 'First attention'
PAPER = 'P2 Fig 6'
CAPTION = 'Does layer 1 average, what does its W_V read, does layer 2 find the key?'
W_V = 'block_0/W_V'
SEQUENCES = 300  # of each eval set
DIRECTIONS = 2_000  # at random
GREY = '#BBBBBB'


@spectra.single_thread
def compute(run: Run) -> xr.Dataset:
    """The numbers of `measure_attention`, before training (step 0) and at snapshots.

    Raises:
      UserError: another task, no trained member, or a model without attention.
    """
    return networks.follow_training(run, measure_attention)


def measure_attention(member: Network) -> xr.Dataset:
    """What the attentions and the first W_V of a network do, beside chance.

    attention   [reader, position] of layer 1, mean over sequences and heads
    distance    random_distance: the same of rows at random
    sigma       [index] singular values of W_V
    alignment   [kind]; random_alignment [kind]: 95 % of random directions are below
    key         NaN without a layer 2; key_without_positions: NaN without positions
    """
    require_attention(member)
    first_PBT = member.eval_sets.tokens_PBT[:, :SEQUENCES]
    tokens_BT = first_PBT[member.is_asked_PB[:, :SEQUENCES]]
    Attn_BTT = np.asarray(member.activations(tokens_BT).blocks[0].Attn).mean(1)
    length = tokens_BT.shape[1]
    sigma, alignment, random_alignment = measure_values(member)
    key_without_positions = np.nan
    if 'W_pos' in member.params:
        blind = remove_positions(member)
        key_without_positions = attend_to_key(blind, tokens_BT)
    numbers = {
        'attention': (('reader', 'position'), Attn_BTT.mean(0)),
        'distance': measure_distance(Attn_BTT),
        'random_distance': expect_random_distance(length),
        'sigma': ('index', sigma),
        'alignment': ('kind', alignment),
        'random_alignment': ('kind', random_alignment),
        'key': attend_to_key(member, tokens_BT),
        'chance': 1 / length,
        'key_without_positions': key_without_positions,
    }
    places = np.arange(length)
    labels = {'reader': places, 'position': places, 'kind': list(SINGLE_KINDS)}
    return xr.Dataset(numbers, labels)


def measure_distance(Attn_BTT: np.ndarray) -> float:
    """Mean total variation distance of the rows from 1/i, in [0, 1).

    The first position is left out: it can only read itself.
    """
    length = Attn_BTT.shape[-1]
    mean_TT = np.tri(length) / np.arange(1, length + 1)[:, None]
    distance_BT = np.abs(Attn_BTT - mean_TT).sum(-1) / 2
    return float(distance_BT[:, 1:].mean())


def expect_random_distance(length: int) -> float:
    """The mean of `measure_distance` over rows drawn uniformly from all that sum to 1.

    A weight of such a row of i is above a share x with probability (1 - x)^(i - 1), so
    that the row is (1 - 1/i)^i away from 1/i in the mean.
    """
    i = np.arange(2, length + 1)
    return float(((1 - 1 / i) ** i).mean())


def attend_to_key(member: Network, tokens_BT: np.ndarray) -> float:
    """Mean attention that the last position of layer 2 pays to the key.

    NaN for a model of one layer.
    """
    blocks = member.activations(tokens_BT).blocks
    if len(blocks) < 2:
        return np.nan
    from_last_BT = blocks[1].Attn.mean(1)[:, -1]
    row_B = np.arange(len(tokens_BT))
    return float(from_last_BT[row_B, find_keys(member, tokens_BT)].mean())


def find_keys(member: Network, tokens_BT: np.ndarray) -> np.ndarray:
    """The position of the key in every sequence, [B]."""
    key = member.task.role_names.index('key')
    return (member.roles(tokens_BT) == key).argmax(-1)


def remove_positions(member: Network) -> Network:
    """The member with the same position embedding, its mean, at every position."""
    W_pos = member.params['W_pos']
    same = np.broadcast_to(W_pos.mean(0), W_pos.shape)
    return member._replace(params=member.params | {'W_pos': same})


def measure_values(member: Network) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(singular values of W_V, |cosine| of its first vector with each kind's tokens).

    W_V is read from the left: its input directions are in the stream. The cosines
    [kind] are means over the tokens of a kind, and third is what 95 % of random
    directions have less of, [kind].
    """
    W_embed = member.matrix('W_embed')
    U, sigma, _ = np.linalg.svd(np.asarray(member.matrix(W_V), np.float64))
    tokens = networks.list_tokens(member.experiment.task)
    alignment = []
    bounds = []
    for kind in SINGLE_KINDS:
        rows = W_embed[tokens[kind]]
        alignment.append(np.abs(spectra.cosines(rows, U[:, :1].T)).mean())
        bounds.append(bound_random_alignment(rows))
    return sigma, np.array(alignment), np.array(bounds)


def bound_random_alignment(rows_AD: np.ndarray) -> float:
    """The 95 % quantile of the mean |cosine| of some rows with a random direction.

    The less parallel the rows are, the nearer it is to the mean.
    """
    rng = np.random.default_rng(0)
    directions = rng.standard_normal((DIRECTIONS, rows_AD.shape[1]))
    alignment = np.abs(spectra.cosines(rows_AD, directions)).mean(0)
    return float(np.quantile(alignment, QUANTILE))


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [panel, 5]: attention, distance, singular values, alignment, key."""
    panels = list_panels(result)
    for row, (title, panel) in zip(axes, panels.items(), strict=True):
        _draw_early(row[0], row[2], panel.sel(step=result.early))
        row[0].set_ylabel(f'{title}\nreader', fontsize=7)
        _draw_distance(row[1], panel)
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


def _draw_early(attention: Axes, values: Axes, panel: xr.Dataset) -> None:
    """The first attention, and the singular values of its W_V."""
    mean_TT = panel.attention.mean('member', skipna=False)
    attention.imshow(mean_TT, cmap='viridis', vmin=0, vmax=1)
    attention.set(xticks=[], yticks=[])
    index = np.arange(1, panel.sizes['index'] + 1)
    draw_band(values, index, panel.sigma.values, 'black', None)
    values.set_ylim(bottom=0)


def _draw_distance(axis: Axes, panel: xr.Dataset) -> None:
    draw_band(axis, panel.step, panel.distance.values, 'black', 'measured')
    chance = float(panel.random_distance.mean())
    axis.axhline(chance, color=GREY, lw=0.8, label='random rows')
    scale_steps(axis)
    axis.set_ylim(0, 1)


def _draw_alignment(axis: Axes, panel: xr.Dataset) -> None:
    for kind in SINGLE_KINDS:
        values_MS = panel.alignment.sel(kind=kind).values
        draw_band(axis, panel.step, values_MS, COLOURS[kind], kind)
        bound_S = panel.random_alignment.sel(kind=kind).mean('member')
        axis.plot(panel.step, bound_S, ':', color=COLOURS[kind], lw=0.7)
    axis.plot([], [], ':', color='black', lw=0.7, label='95 % of random')
    scale_steps(axis)
    axis.set_ylim(0, 1)


def _draw_key(axis: Axes, panel: xr.Dataset) -> None:
    draw_band(axis, panel.step, panel.key.values, 'black', None)
    axis.axhline(float(panel.chance.mean()), color=GREY, lw=0.8)
    blind = float(panel.key_without_positions[:, -1].mean())
    axis.plot(panel.step[-1], blind, 'x', ms=4, color='#D55E00')
    scale_steps(axis)
    axis.set_ylim(0, 1)
    axis.text(0.03, 0.9, '× without positions', fontsize=5, transform=axis.transAxes)


def layout(result: xr.Dataset) -> style.Layout:
    rows = len(list_panels(result))
    return style.Layout(rows, 5, 9.0, 0.5 + 1.6 * rows)
