"""Which anchors have parallel embeddings, early and late? (P2 Figs 4 A, 5 A, 14)

P2 says: at a small start the cosine of two reasoning anchors falls with the distance
of their numbers, and memory anchors are all alike; at a large start all anchors are
orthogonal. Here two numbers say that for every member and kind: the rank correlation of
cosine and distance, beside random orders of the same anchors, and the mean cosine; both
also before training. `analysis/p2/networks.py` says which snapshots are early and late.

  python -m analysis anchor_cosines --run runs/memory_reasoning
"""

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

from analysis import spectra
from analysis.drawing import style
from analysis.drawing.bands import draw_band, scale_steps
from analysis.p2 import cosines, networks
from analysis.p2.networks import list_panels
from anchorjax.network import Network
from anchorjax.storage.reader import Run

TITLE = 'Cosines of anchors'
PAPER = 'P2 Figs 4 A, 5 A, 14'
CAPTION = 'Are the embeddings of anchors ordered by what they add? Cosine by distance.'
ANCHORS = ('memory', 'reasoning')


@spectra.single_thread
def compute(run: Run) -> xr.Dataset:
    """Cosines of the anchors' embeddings in every network; step 0 is before training.

      cosine       [member, step, anchor, other]; `kind_of` [anchor] says whose
      rho, ...     [member, step, kind] the numbers of `cosines.measure_order`

    Raises:
      UserError: another task, or no trained member.
    """
    return networks.follow_training(run, measure_anchors)


def measure_anchors(member: Network) -> xr.Dataset:
    """The cosines of a network's anchors, and what they say of each kind."""
    W_embed = member.matrix('W_embed')
    tokens = networks.list_tokens(member.experiment.task)
    orders = []
    for kind in ANCHORS:
        cosine_AA = spectra.cosines(W_embed[tokens[kind]])
        orders.append(cosines.measure_order(cosine_AA, tokens[kind]))
    anchors = tokens['both']
    result = pd.DataFrame(orders, pd.Index(ANCHORS, name='kind')).to_xarray()
    result['cosine'] = (('anchor', 'other'), spectra.cosines(W_embed[anchors]))
    is_memory = np.isin(anchors, tokens['memory'])
    kinds = np.where(is_memory, *ANCHORS)
    return result.assign_coords(anchor=anchors, kind_of=('anchor', kinds))


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [panel and kind, 4]: heat-maps of the seeds' mean, and lines by step.

    Two rows for every panel: memory anchors above reasoning anchors, as in the paper.
    """
    times = {'untrained': 0, 'early': result.early, 'late': result.late}
    rows = iter(axes)
    image = None
    for title, panel in list_panels(result).items():
        for kind in ANCHORS:
            *heatmaps, lines = next(rows)
            for axis, (time, step) in zip(heatmaps, times.items(), strict=True):
                image = _draw_cosines(axis, panel.sel(step=step), kind)
                axis.set_title(f'{time}, {axis.get_title()}', fontsize=6)
            heatmaps[0].set_ylabel(f'{title}\n{kind}', fontsize=7)
            _draw_lines(lines, panel.sel(kind=kind))
    figure = axes[0, 0].figure
    figure.colorbar(image, ax=axes, shrink=0.4, label='cosine', location='bottom')
    axes[0, -1].legend(fontsize=5)


def _draw_cosines(axis: Axes, panel: xr.Dataset, kind: str) -> AxesImage:
    """The anchors of a kind at one step, mean of the seeds."""
    place = np.flatnonzero(panel.kind_of == kind)
    of_kind = panel.cosine.isel(anchor=place, other=place).mean('member')
    image = axis.imshow(of_kind, cmap='RdBu_r', vmin=-1, vmax=1)
    ticks = [0, len(place) - 1]
    labels = of_kind.anchor.values[ticks]
    axis.set_xticks(ticks, labels)
    axis.set_yticks(ticks, labels)
    numbers = panel.sel(kind=kind)
    mean = float(numbers['mean'].mean())
    rho = float(numbers.rho.mean())
    axis.set_title(f'step {int(panel.step):,}\nmean {mean:.2f}, ρ {rho:.2f}')
    return image


def _draw_lines(axis: Axes, panel: xr.Dataset) -> None:
    """Mean cosine and rank correlation by step; dotted: 5 % of random orders."""
    draw_band(axis, panel.step, panel['mean'].values, '#D55E00', 'mean cosine')
    draw_band(axis, panel.step, panel.rho.values, '#0072B2', 'ρ')
    bound_S = panel.rho_bound.mean('member')
    axis.plot(panel.step, bound_S, ':', color='#0072B2', lw=0.7)
    axis.set_ylim(-1.05, 1.05)
    scale_steps(axis)


def layout(result: xr.Dataset) -> style.Layout:
    rows = len(ANCHORS) * len(list_panels(result))
    return style.Layout(rows, 4, 7.0, 0.6 + 1.5 * rows)
