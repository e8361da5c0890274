"""Is PrOntoQA learned before stories, the more so from small weights? (P2 Figs 1, 7)

Three rows, a column for each γ:

  loss       of the sequences of both sources. A dotted line is the label entropy of a
             source: the loss of a network that only knows how frequent each token is
  Delta L    (L_stories - L_prontoqa) / L_prontoqa (PAPERS 2.3). The dotted line is that
             of the two entropies: so much of it needs no more than counting tokens
  cosine     mean of all pairs of different tokens of a source, from the embeddings

The moment of a source is the step at which its loss falls below a share of its own
label entropy, 0.9: from there on it has learned more than frequencies.

  python -m analysis reasoning_bias --run runs/reasoning_bias_laptop
"""

import numpy as np
import pandas as pd
import xarray as xr

from analysis import frame
from analysis.drawing import style
from analysis.drawing.bands import draw_band, scale_steps
from analysis.members.selection import require_task
from analysis.p2 import networks
from analysis.p2.networks import list_panels
from anchorjax.errors import UserError
from anchorjax.network import Network
from anchorjax.storage.reader import Run
from anchorjax.tasks.mixture import (
    SOURCES,
    MixtureConfig,
    describe_sources,
    read_mixture,
)

TITLE = 'Proofs before stories'
PAPER = 'P2 Figs 1, 7'
CAPTION = (
    'Is PrOntoQA learned before stories, the more so from small weights? Loss of both, '
    'their relative difference, and the cosines of their tokens.'
)
TASK = 'mixture'
COLOURS = {'prontoqa': '#0072B2', 'stories': '#E69F00'}
SHARE = 0.9  # of the label entropy, for the moments


def compute(run: Run) -> xr.Dataset:
    """Losses, Delta L, moments and cosines of every network, by `source`.

      loss, heldout  [member, step, source] nats a token, trained and held-out
      delta          [member, step] Delta L
      moment         [member, source] step; NaN: the loss never falls so low
      cosine         [member, snapshot, source] of two tokens of a source; the first
                     snapshot is before training
      entropy        [source] of the labels, nats

    The attribute early is the last snapshot before PrOntoQA is learned at the largest
    gamma, median of the seeds.

    Raises:
      UserError: another task, several settings of it, or no trained member.
    """
    members = frame.list_usable(run, TASK)
    result = measure_losses(run, members)
    snapshots = networks.find_snapshots(run, members)
    result['delta'] = compare_losses(result.loss)
    aligned = networks.follow(run, members, [0, *snapshots], measure_cosines)
    result['cosine'] = aligned.cosine.rename(step='snapshot')
    return result.assign_attrs(
        delta_of_counting=float(compare_losses(result.entropy)),
        early=find_early(result, snapshots),
    )


def measure_losses(run: Run, members: pd.DataFrame) -> xr.Dataset:
    """The losses, entropies and moments of `compute`, and its errors.

    Args:
      members: rows of `frame.list_usable`.
    """
    points = frame.find_points(run, members)
    if len({run.experiment_of(**point).task for point in points}) > 1:
        raise UserError(
            'reasoning_bias: the sources differ between cohorts, and their entropies '
            'with them; train each setting of the task in a run of its own'
        )
    curves = networks.read_curves(run, members).eval_set_loss
    loss = curves.sel(eval_set=list(SOURCES)).rename(eval_set='source')
    heldout = curves.sel(eval_set=[f'{source}_heldout' for source in SOURCES])
    result = xr.Dataset({'loss': loss, 'heldout': loss.copy(data=heldout.values)})
    described = describe_sources(require_task(run.experiment.task, MixtureConfig))
    result['entropy'] = ('source', [described[source][1] for source in SOURCES])
    result['moment'] = networks.time_to_threshold(loss / result.entropy, SHARE)
    return result


def find_early(losses: xr.Dataset, snapshots: list[int]) -> int:
    """The last snapshot before PrOntoQA is learned at the largest gamma."""
    moment = losses.moment.sel(source='prontoqa').fillna(np.inf)
    learned = float(moment.where(losses.gamma == losses.gamma.max()).median())
    return networks.find_last_before(snapshots, learned)


def compare_losses(loss: xr.DataArray) -> xr.DataArray:
    """Delta L of the losses of both sources."""
    of_proofs = loss.sel(source='prontoqa', drop=True)
    return (loss.sel(source='stories', drop=True) - of_proofs) / of_proofs


def measure_cosines(member: Network) -> xr.Dataset:
    """The mean cosine of two tokens of a source."""
    config = require_task(member.experiment.task, MixtureConfig)
    W_embed = member.matrix('W_embed')
    found = []
    for source in SOURCES:
        counts = read_mixture(config).sequences[source].count_labels(config.vocab)
        found.append(average_cosine(W_embed[np.flatnonzero(counts)]))
    return xr.Dataset({'cosine': ('source', found)}, {'source': list(SOURCES)})


def average_cosine(rows: np.ndarray) -> float:
    """The mean cosine of all pairs of different rows."""
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    number = len(unit)
    total = float((unit.sum(0) ** 2).sum())  # of all pairs, each row with itself too
    return (total - number) / (number * (number - 1))


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [3, panel]."""
    for column, (title, panel) in enumerate(list_panels(result).items()):
        loss_axis, delta_axis, cosine_axis = axes[:, column]
        for source, colour in COLOURS.items():
            of_source = panel.sel(source=source)
            draw_band(loss_axis, panel.step, of_source.loss.values, colour, source)
            loss_axis.axhline(float(of_source.entropy), color=colour, ls=':', lw=0.8)
            cosine_MS = of_source.cosine.values
            draw_band(cosine_axis, panel.snapshot, cosine_MS, colour, source)
        draw_band(delta_axis, panel.step, panel.delta.values, '#000000', None)
        delta_axis.axhline(result.delta_of_counting, color='#999999', ls=':', lw=0.8)
        cosine_axis.axvline(result.early, color='#999999', ls=':', lw=0.8)
        scale_steps(cosine_axis)
        loss_axis.set_title(title)
        delta_axis.set_xlabel('step')
        cosine_axis.set_xlabel('step')
    axes[0, 0].set_ylabel('loss (nats)')
    axes[1, 0].set_ylabel('Delta L')
    axes[2, 0].set_ylabel('mean cosine')
    axes[0, 0].legend()
    for row in axes:
        limits = [axis.get_ylim() for axis in row]
        for axis in row:
            axis.set_ylim(np.min(limits), np.max(limits))


def layout(result: xr.Dataset) -> style.Layout:
    columns = len(list_panels(result))
    return style.Layout(3, columns, width=0.6 + 2.1 * columns, height=5.4)
