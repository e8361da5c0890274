"""Are anchors and keys in numerical order in the embedding? PCA by kind (P2 Fig 5 B).

The rows of all anchors and keys in one PCA. P2 says that reasoning anchors and keys are
in order along it, and that memory anchors lie together. The number for every member:
the rank correlation of value and score, of the first two components, for each kind,
beside random orders and the untrained network. `analysis/p1/embedding.py` has more on
the keys of one member.

  python -m analysis embedding_pca --run runs/memory_reasoning --step=4465
"""

from typing import Annotated

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from scipy import stats

from analysis import frame, spectra
from analysis.drawing import style
from analysis.p2 import networks
from analysis.p2.cosines import QUANTILE
from analysis.p2.networks import COLOURS, SINGLE_KINDS, list_panels
from analysis.vectors import order
from anchorjax.errors import require
from anchorjax.network import Network
from anchorjax.storage.reader import Run

TITLE = 'Embedding of anchors and keys'
PAPER = 'P2 Fig 5 B'
CAPTION = 'Their order along the first principal components.'
COMPONENTS = 2
ORDERS = 2_000  # random orders for the null


@spectra.single_thread
def compute(
    run: Run, step: Annotated[int | None, 'snapshot; by default the last'] = None
) -> xr.Dataset:
    """The PCA of every network, before training (step 0) and at a snapshot.

      scores    [member, step, token, component]; `kind_of` [token] says whose
      explained [member, step, component] share of the variance
      rho       [member, step, kind, component] |rank correlation| of value and score
      bound     [kind] 95 % of random orders are below, of the better component
      spread    [member, step, kind] `measure_spread` by that of all: small where a kind
                lies together

    Raises:
      UserError: another task, no trained member, or no such snapshot.
    """
    members = frame.list_usable(run, networks.TASK)
    snapshots = networks.find_snapshots(run, members)
    if step is None:
        step = snapshots[-1]
    require(step in snapshots, 'step', step, f'a snapshot step, {snapshots}')
    result = networks.follow(run, members, [0, step], measure_order)
    numbers = result.kind_of.to_series().value_counts()
    bounds = [bound_random_orders(numbers[kind]) for kind in SINGLE_KINDS]
    return result.assign(bound=('kind', bounds))


def measure_order(member: Network) -> xr.Dataset:
    """The PCA of a network's anchors and keys, and what it says of each kind."""
    tokens_of = networks.list_tokens(member.experiment.task)
    tokens = np.concatenate([tokens_of[kind] for kind in SINGLE_KINDS])
    rows = member.matrix('W_embed')[tokens]
    scores, shares = order.pca(rows)
    found = []
    kinds = []
    for kind in SINGLE_KINDS:
        is_kind = np.isin(tokens, tokens_of[kind])
        rho = []
        for component in range(COMPONENTS):
            of_kind = scores[is_kind, component]
            rho.append(abs(spectra.rank_correlation(tokens_of[kind], of_kind)))
        spread = measure_spread(rows[is_kind]) / measure_spread(rows)
        found.append(xr.Dataset({'rho': ('component', rho), 'spread': spread}))
        kinds += [kind] * len(tokens_of[kind])
    result = xr.concat(found, pd.Index(SINGLE_KINDS, name='kind'))
    result['scores'] = (('token', 'component'), scores[:, :COMPONENTS])
    result['explained'] = ('component', shares[:COMPONENTS])
    return result.assign_coords(token=tokens, kind_of=('token', kinds))


def measure_spread(rows: np.ndarray) -> float:
    """Root mean square distance of rows from their mean."""
    return np.sqrt(rows.var(0).sum())


def bound_random_orders(count: int) -> float:
    """95 % quantile of the larger |rank correlation| of two random orders."""
    rng = np.random.default_rng(0)
    value = stats.zscore(np.arange(count))
    largest = []
    for _ in range(ORDERS):
        first = abs(value @ rng.permutation(value)) / count
        second = abs(value @ rng.permutation(value)) / count
        largest.append(max(first, second))
    return float(np.quantile(largest, QUANTILE))


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [1, panel]: the first seed's tokens, coloured by kind."""
    panels = list_panels(result.isel(step=-1))
    for axis, (title, panel) in zip(axes[0], panels.items(), strict=True):
        _draw_panel(axis, panel)
        words = []
        for kind in SINGLE_KINDS:
            of_kind = panel.sel(kind=kind)
            best = float(of_kind.rho.max('component').mean())
            words.append(f'{kind} {best:.2f} (< {float(of_kind.bound):.2f})')
        listed = ', '.join(words)
        axis.set_title(f'{title}, |ρ| with the value\n{listed}', fontsize=5)
    axes[0, 0].legend(fontsize=5)


def _draw_panel(axis: Axes, panel: xr.Dataset) -> None:
    first = panel.isel(member=0)
    for kind in SINGLE_KINDS:
        of_kind = first.scores.isel(token=np.flatnonzero(first.kind_of == kind))
        x, y = of_kind.values.T
        if kind != 'keys':
            axis.plot(x, y, '-', lw=0.4, color=COLOURS[kind])
        axis.scatter(x, y, s=6, color=COLOURS[kind], label=kind)
        for i in (0, -1):
            axis.annotate(str(int(of_kind.token[i])), (x[i], y[i]), fontsize=5)
    share_1, share_2 = first.explained.values
    axis.set(xticks=[], yticks=[])
    axis.set_xlabel(f'component 1: {share_1:.0%}')
    axis.set_ylabel(f'component 2: {share_2:.0%}')


def layout(result: xr.Dataset) -> style.Layout:
    columns = len(list_panels(result))
    return style.Layout(1, columns, 0.4 + 2.5 * columns, 2.7)
