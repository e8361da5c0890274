"""Does the law of labels predict the embedding? Cosines (P2 Figs 4 B, C, 5 C, D).

P2's theory: early embeddings are those that gradient flow makes of P_s, the labels that
occur together with a token. Three predictions of the cosine of two tokens, see
`analysis/theory/predictions.py`, against the measured ones, pair by pair. The
correlation over all pairs of a kind, at every snapshot, stands beside that of random
orders of the tokens and that of the untrained network (step 0).

Training is AdamW, the theory is gradient flow: that they differ is part of the answer.

  python -m analysis label_law --run runs/memory_reasoning_emb_mlp
  python -m analysis label_law --run runs/memory_reasoning_emb_mlp --early=52
"""

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes

from analysis.drawing import style
from analysis.drawing.bands import draw_band, scale_steps
from analysis.members.selection import report_progress
from analysis.p2 import cosines, networks
from analysis.p2.networks import COLOURS, KINDS, list_panels
from analysis.spectra import measures
from analysis.theory.predictions import PREDICTIONS, predict_all
from anchorjax.storage.reader import Run

TITLE = 'Law of labels'
PAPER = 'P2 Figs 4 B, C, 5 C, D'
CAPTION = (
    'Do the labels that occur with a token predict its embedding? Predicted and '
    'measured cosines.'
)
MARKERS = dict(zip(PREDICTIONS, ('.', '+', 'x'), strict=True))


@networks.single_thread
def compute(
    run: Run,
    early: networks.Early = None,
    permutations: cosines.Permutations = cosines.PERMUTATIONS,
) -> xr.Dataset:
    """Predicted and measured cosines of every network; step 0 is before training.

      correlation  [member, kind, prediction, step]; NaN without a prediction
      bound        the 95 % quantile of random orders of the tokens, likewise
      pairs_KIND   [member, source, KIND_pair] cosines at the early step: 'measured',
                   then predicted

    Raises:
      UserError: another task, no trained member, or no such snapshot.
    """
    points = networks.list_points(run)
    snapshots = networks.find_snapshots(run, points)
    early = networks.find_early(run, points, snapshots, early)
    steps = pd.Index([0, *snapshots], name='step')
    found = []
    for point in report_progress(points, 'label_law'):
        embeddings = networks.read_embeddings(run, steps, point)
        start = networks.read_member(run, 0, point)
        kinds = []
        pairs = xr.Dataset()
        for kind, tokens in networks.list_tokens(start.experiment.task).items():
            measured = []
            for W_embed in embeddings:
                measured.append(measures.cosines(W_embed[tokens]))
            predicted = predict_all(start, tokens, kind)
            kinds.append(_correlate(measured, predicted, permutations, steps))
            of_pairs = {'measured': measured[steps.get_loc(early)], **predicted}
            pairs[f'pairs_{kind}'] = _stack_pairs(of_pairs, f'{kind}_pair')
        numbers = xr.concat(kinds, pd.Index(KINDS, name='kind'))
        found.append(numbers.merge(pairs))
    return networks.gather(run, points, found).assign_attrs(early=early)


def _correlate(
    measured: list[np.ndarray],
    predicted: dict[str, np.ndarray | None],
    permutations: int,
    steps: pd.Index,
) -> xr.Dataset:
    """The correlation and its bound [prediction, step] of one kind of tokens."""
    numbers = np.full((2, len(PREDICTIONS), len(steps)), np.nan)
    for p, name in enumerate(PREDICTIONS):
        if predicted[name] is None:
            continue
        reference = cosines.make_reference(predicted[name], permutations)
        for s, cosine_AA in enumerate(measured):
            found, by_chance = cosines.correlate(cosine_AA, reference)
            numbers[:, p, s] = found, np.quantile(by_chance, cosines.QUANTILE)
    places = {'prediction': list(PREDICTIONS), 'step': steps}
    correlation, bound = xr.DataArray(numbers, places, ('number', 'prediction', 'step'))
    return xr.Dataset({'correlation': correlation, 'bound': bound})


def _stack_pairs(
    matrices: dict[str, np.ndarray | None], dimension: str
) -> xr.DataArray:
    """Every pair of the matrices [source, pair]; NaN where there is no matrix."""
    measured = matrices['measured']
    rows = []
    for matrix_AA in matrices.values():
        if matrix_AA is None:
            matrix_AA = np.full_like(measured, np.nan)
        rows.append(cosines.list_pairs(matrix_AA))
    return xr.DataArray(
        np.array(rows), {'source': list(matrices)}, ('source', dimension)
    )


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [panel, kind and one]: scatter plots, then correlation by step.

    The scatter plots are of the early snapshot and the first seed. The lines are the
    label law's correlations; dotted: 95 % of random orders are below.
    """
    panels = list_panels(result)
    for row, (title, panel) in zip(axes, panels.items(), strict=True):
        for axis, kind in zip(row, KINDS, strict=False):
            _draw_scatter(axis, panel[f'pairs_{kind}'][0])
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
