"""Are the tokens of stories more alike than those of PrOntoQA, early? (P2 Fig 7 B)

Cosines of the embeddings of the most frequent tokens of each source, mean of the seeds,
at the early snapshot of `reasoning_bias`; above them the mean over all its tokens, of
which P2 prints 0.123 (PrOntoQA) and 0.531 (PAPERS 2.3).

  python -m analysis token_cosines --run runs/reasoning_bias_laptop
"""

import numpy as np
import xarray as xr

from analysis import frame, spectra
from analysis.drawing import style
from analysis.members.selection import require_task
from analysis.p2 import networks, reasoning_bias
from analysis.p2.networks import list_panels
from anchorjax.network import Network
from anchorjax.storage.reader import Run
from anchorjax.tasks.mixture import SOURCES, MixtureConfig, read_mixture

TITLE = 'Cosines of tokens'
PAPER = 'P2 Fig 7 B'
CAPTION = 'Are the tokens of stories more alike than those of PrOntoQA, early?'
SHOWN = 60  # tokens of each source, the most frequent first


@spectra.single_thread
def compute(run: Run) -> xr.Dataset:
    """Cosines of tokens in every network, at the step of the attribute early.

      cosine  [member, source, token, other] of the most frequent tokens
      mean    [member, source] of any two tokens of a source

    Raises:
      UserError: another task, several settings of it, or no trained member.
    """
    members = frame.list_usable(run, reasoning_bias.TASK)
    moments = reasoning_bias.measure_losses(run, members)
    early = reasoning_bias.find_early(moments, networks.find_snapshots(run, members))
    found = networks.follow(run, members, [early], measure_tokens)
    return found.isel(step=0, drop=True).assign_attrs(early=early)


def measure_tokens(member: Network) -> xr.Dataset:
    """The cosines of a network's tokens, by source."""
    config = require_task(member.experiment.task, MixtureConfig)
    W_embed = member.matrix('W_embed')
    cosines, means = [], []
    for source in SOURCES:
        counts = read_mixture(config).sequences[source].count_labels(config.vocab)
        frequent = np.argsort(-counts, kind='stable')[:SHOWN]
        cosines.append(spectra.cosines(W_embed[frequent]))
        means.append(reasoning_bias.average_cosine(W_embed[np.flatnonzero(counts)]))
    numbers = {
        'cosine': (('source', 'token', 'other'), np.array(cosines)),
        'mean': ('source', means),
    }
    return xr.Dataset(numbers, {'source': list(SOURCES)})


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [panel, source]: a heat-map of the seeds' mean."""
    panels = list_panels(result)
    for row, (title, panel) in zip(axes, panels.items(), strict=True):
        for axis, source in zip(row, SOURCES, strict=True):
            of_source = panel.sel(source=source).mean('member')
            image = axis.imshow(of_source.cosine, cmap='RdBu_r', vmin=-1, vmax=1)
            axis.set_title(f'{source}: mean {float(of_source["mean"]):.2f}', fontsize=7)
            axis.set(xticks=[], yticks=[])
        row[0].set_ylabel(f'{title}, step {result.early}', fontsize=7)
    words = f'the {result.sizes["token"]} most frequent tokens'
    for axis in axes[-1]:
        axis.set_xlabel(words, fontsize=7)
    axes[0, 0].figure.colorbar(image, ax=axes, shrink=0.8, label='cosine')


def layout(result: xr.Dataset) -> style.Layout:
    rows = len(list_panels(result))
    return style.Layout(rows, len(SOURCES), 5.6, 0.4 + 2.3 * rows)
