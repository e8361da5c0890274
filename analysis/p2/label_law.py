"""Does the law of labels predict the embedding? Cosines (P2 Figs 4 B, C, 5 C, D).

P2's theory: early embeddings are those that gradient flow makes of P_s, the labels that
occur together with a token. Three predictions of the cosine of two tokens, see
`analysis/theory/predictions.py`, against the measured ones, pair by pair. The
correlation over all pairs of a kind, at every snapshot, stands beside that of random
orders of the tokens and that of the untrained network (step 0).

Training is AdamW, the theory is gradient flow: that they differ is part of the answer.

  python -m analysis label_law --run runs/memory_reasoning_emb_mlp
"""

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from analysis import frame, spectra
from analysis.drawing import style
from analysis.drawing.bands import draw_band, scale_steps
from analysis.p2 import cosines, networks
from analysis.p2.networks import COLOURS, KINDS, list_panels
from analysis.theory.predictions import PREDICTIONS, predict_cosines
from anchorjax.network import Network
from anchorjax.storage.reader import Run

TITLE = 'Law of labels'
PAPER = 'P2 Figs 4 B, C, 5 C, D'
CAPTION = (
    'Do the labels that occur with a token predict its embedding? Predicted and '
    'measured cosines.'
)
MARKERS = dict(zip(PREDICTIONS, ('.', '+', 'x'), strict=True))


@spectra.single_thread
def compute(run: Run) -> xr.Dataset:
    """Predicted and measured cosines of every network; step 0 is before training.

      correlation  [member, step, kind, prediction]; NaN without a prediction
      bound        the 95 % quantile of random orders of the tokens, likewise
      cosine       [member, source, pair] at the early step: 'measured', then predicted;
                   `kind_of` [pair] says of which tokens

    Raises:
      UserError: another task, or no trained member.
    """
    members = frame.list_usable(run, networks.TASK)
    snapshots, ends = networks.choose_snapshots(run, members)
    found = []
    for path in networks.open_paths(run, members, [0, *snapshots]):
        found.append(compare_cosines(path, ends['early']))
    return networks.gather(run, members, found).assign_attrs(ends)


def compare_cosines(path: list[Network], early: int) -> xr.Dataset:
    """A network's cosines at its steps beside those that its first one predicts.

    Args:
      path: the network before training, then at snapshots.
    """
    start = path[0]
    tests = []
    tables = []
    for kind, tokens in networks.list_tokens(start.experiment.task).items():
        measured = {}
        for member in path:
            measured[member.step] = spectra.cosines(member.matrix('W_embed')[tokens])
        pairs = {'measured': spectra.list_pairs(measured[early])}
        for name, predicted_AA in predict_cosines(start, tokens, kind).items():
            reference = cosines.make_reference(predicted_AA)
            for step, measured_AA in measured.items():
                found, by_chance = cosines.correlate(measured_AA, reference)
                bound = np.quantile(by_chance, cosines.QUANTILE)
                tests.append((step, kind, name, found, bound))
            pairs[name] = spectra.list_pairs(predicted_AA)
        tables.append(pd.DataFrame(pairs).assign(kind_of=kind))
    axes = ['step', 'kind', 'prediction']
    table = pd.DataFrame(tests, columns=[*axes, 'correlation', 'bound'])
    result = table.set_index(axes).to_xarray()
    result = result.reindex(kind=list(KINDS), prediction=list(PREDICTIONS))
    table = pd.concat(tables)
    sources = ['measured', *PREDICTIONS]
    result['cosine'] = (('source', 'pair'), table.reindex(columns=sources).values.T)
    kinds = table.kind_of.tolist()
    return result.assign_coords(source=sources, kind_of=('pair', kinds))


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [panel, kind and one]: scatter plots, then correlation by step.

    The scatter plots are of the early snapshot and the first seed. The lines are the
    label law's correlations; dotted: 95 % of random orders are below.
    """
    panels = list_panels(result)
    for row, (title, panel) in zip(axes, panels.items(), strict=True):
        for axis, kind in zip(row, KINDS, strict=False):
            of_kind = panel.isel(member=0, pair=panel.kind_of == kind)
            _draw_scatter(axis, of_kind.cosine)
            axis.set_title(_describe(panel, kind), fontsize=6)
        _draw_correlations(row[-1], panel.sel(prediction='label law'))
        row[0].set_ylabel(f'{title}\nmeasured cosine', fontsize=7)
        row[-1].set_title('correlation with the label law', fontsize=6)
    for axis in axes[-1, :-1]:
        axis.set_xlabel('predicted cosine')
    axes[-1, -1].set_xlabel('step')
    axes[0, KINDS.index('reasoning')].legend(loc='upper left', fontsize=5)
    axes[0, -1].legend(loc='lower right', fontsize=5)


def _draw_scatter(axis: Axes, pairs: xr.DataArray) -> None:
    """The pairs of one network [source, pair]."""
    measured = pairs.sel(source='measured')
    for name, marker in MARKERS.items():
        predicted = pairs.sel(source=name)
        if np.isfinite(predicted).any():
            look = {'marker': marker, 's': 5, 'lw': 0.5, 'alpha': 0.6}
            axis.scatter(predicted, measured, label=name, **look)
    axis.axline((0, 0), slope=1, color='#BBBBBB', lw=0.6, zorder=0)
    axis.set(xlim=(-0.6, 1.05), ylim=(-1.05, 1.05))


def _describe(panel: xr.Dataset, kind: str) -> str:
    """'memory, step 200, r 0.31, 0.28, – (0.12 untrained)', means over seeds."""
    mean = panel.correlation.sel(kind=kind).mean('member', skipna=False)
    words = []
    for value in mean.sel(step=panel.early).values:
        words.append(f'{value:.2f}' if np.isfinite(value) else '–')
    before = float(mean.sel(step=0, prediction='label law'))
    listed = ', '.join(words)
    return f'{kind}, step {panel.early:,}\nr {listed} ({before:.2f} untrained)'


def _draw_correlations(axis: Axes, panel: xr.Dataset) -> None:
    for kind in KINDS:
        of_kind = panel.sel(kind=kind)
        draw_band(axis, panel.step, of_kind.correlation.values, COLOURS[kind], kind)
        bound_S = of_kind.bound.mean('member')
        axis.plot(panel.step, bound_S, ':', color=COLOURS[kind], lw=0.7)
    scale_steps(axis)
    axis.set_ylim(-0.6, 1.05)


def layout(result: xr.Dataset) -> style.Layout:
    rows = len(list_panels(result))
    columns = len(KINDS) + 1
    return style.Layout(rows, columns, 1.7 * columns, 0.4 + 1.8 * rows)
