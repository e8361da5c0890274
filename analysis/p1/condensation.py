"""Do neurons condense? Groups of nearly parallel input weights (P1 Fig 5 a, b).

Neurons are grouped by the cosine of their input weights (see `vectors.groups`). The
threshold is 0.7 in P1 Fig 10 and 0.4 in P3's notebook. Every number is shown beside its
mean over Gaussian matrices of the same shape.

  python -m analysis condensation --run runs/phase --gamma=2.04 --depth=3 --seed=0

  --threshold=0.4 gives P3's groups
"""

from typing import Annotated

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.image import AxesImage

from analysis.drawing import style
from analysis.names import name_matrix
from analysis.spectra import single_thread
from analysis.vectors import groups
from anchorjax.limits import above, at_least, at_most, below
from anchorjax.network import Network

TITLE = 'Condensation'
PAPER = 'P1 Fig 5 (a, b)'
CAPTION = 'Do the neurons of the first query matrix share their direction?'
GRID_PAPER = 'P1 Fig 10'
GRID_CAPTION = (
    'Do neurons come to share a direction? In the cosines between the input weights '
    'of the neurons of the first query matrix, W_Q, red blocks (near 1) mean yes; '
    'blue is −1. Above each: how many groups there are, and how many directions count.'
)
MATRIX = 'block_0/W_Q'
THRESHOLD = 0.7
BINS = np.linspace(-1, 1, 41)
COLOURS = 'RdBu_r'  # of cosines
Threshold = Annotated[
    float, above(0), below(1), 'two neurons above this cosine are one group'
]


@single_thread
def compute(
    member: Network,
    matrix: Annotated[str, 'path of a matrix [d_in, d_out]'] = MATRIX,
    threshold: Threshold = THRESHOLD,
    draws: Annotated[
        int, at_least(1), at_most(1_000), 'Gaussian matrices to compare with'
    ] = 20,
) -> xr.Dataset:
    """Groups of neurons of one matrix, beside those of `draws` Gaussian matrices.

    Returns:
      place         [neuron] its column of the matrix; by group, the largest group first
      cosine        [neuron, other]
      size          [group]
      value         [number] of `groups.measure_condensation`; null [draw, number]
      density       [bin] share of pairs by cosine, between BINS; null_density of the
                    Gaussian matrices, their mean

    Raises:
      UserError: no such matrix, fewer than two neurons, or a threshold outside (0, 1).
    """
    W = member.matrix(matrix)
    neurons = groups.group_neurons(W, threshold)
    numbers = groups.measure_condensation(W, threshold)
    rng = np.random.default_rng(0)
    null = []
    densities = []
    for _ in range(draws):
        gaussian = rng.standard_normal(W.shape)
        drawn = groups.measure_condensation(gaussian, threshold)
        null.append(list(drawn.values()))
        densities.append(groups.bin_cosines(gaussian, BINS))
    return xr.Dataset(
        {
            'place': ('neuron', neurons.order),
            'cosine': (('neuron', 'other'), neurons.cosine),
            'size': ('group', neurons.sizes),
            'value': ('number', list(numbers.values())),
            'null': (('draw', 'number'), null),
            'density': ('bin', groups.bin_cosines(W, BINS)),
            'null_density': ('bin', np.mean(densities, axis=0)),
        },
        {'number': list(numbers)},
        {'matrix': matrix, 'threshold': threshold},
    )


def count_directions(member: Network) -> float:
    """How many directions the neurons of the first W_Q have (P1 Fig 10)."""
    return groups.measure_condensation(member.matrix(MATRIX), THRESHOLD)['directions']


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [1, 3]: the cosine matrix by group, its distribution, the numbers."""
    matrix_axis, density_axis, table_axis = axes[0]
    image = draw_cosines(matrix_axis, result.cosine.values)
    matrix_axis.set(xlabel='neuron, by group', ylabel='neuron, by group')
    matrix_axis.set_title(name_matrix(result.matrix))
    matrix_axis.figure.colorbar(image, ax=matrix_axis, shrink=0.8, label='cosine')
    _draw_densities(density_axis, result)
    _draw_table(table_axis, result)


def draw_cosines(axis: Axes, cosine: np.ndarray) -> AxesImage:
    """Draws a cosine matrix, from blue at -1 to red at 1."""
    return axis.imshow(cosine, cmap=COLOURS, vmin=-1, vmax=1, interpolation='nearest')


def draw_cell(axis: Axes, result: xr.Dataset) -> None:
    """Draws the cosine matrix of one network among others."""
    draw_cosines(axis, result.cosine.values)
    number = result.value.to_series()
    noun = 'group' if number['groups'] == 1 else 'groups'
    words = f'{number["groups"]:.0f} {noun},\n{number["directions"]:.1f} directions'
    axis.set_title(words, fontsize=6, pad=2)


def draw_key(result: xr.Dataset, axes: np.ndarray) -> None:
    """Draws the colours of cosines, and names the matrix."""
    figure = axes[0, 0].figure
    figure.suptitle(name_matrix(result.matrix))
    key = ScalarMappable(Normalize(-1, 1), COLOURS)
    figure.colorbar(key, label='cosine of two neurons', ax=axes[:, -1], **style.KEY)


def _draw_densities(axis: Axes, result: xr.Dataset) -> None:
    bars = {'fill': True, 'alpha': 0.6}
    grey = style.COLOURS['memorizing']
    blue = style.COLOURS['composed']
    axis.stairs(result.null_density, BINS, color=grey, label='Gaussian', **bars)
    axis.stairs(result.density, BINS, color=blue, label='network', **bars)
    axis.axvline(result.threshold, ymax=0.85, color='black', lw=0.8, ls=':')
    highest = max(result.density.max(), result.null_density.max())
    axis.set(xlim=(-1, 1), ylim=(0, 1.3 * highest))  # room for the legend
    axis.set(xlabel='cosine of two neurons', ylabel='share')
    axis.set_title('pairs of neurons')
    axis.legend(loc='upper center', ncols=2, handlelength=1, columnspacing=1)


def _draw_table(axis: Axes, result: xr.Dataset) -> None:
    """Writes one line per number, beside its mean over the Gaussian matrices."""
    lines = [('', 'network', 'Gaussian')]
    table = result[['value', 'null']].mean('draw').to_dataframe()
    for name, value, null in table.itertuples():
        lines.append((name, f'{value:.3g}', f'{null:.3g}'))
    for i, (name, network, gaussian) in enumerate(lines):
        height = 0.92 - 0.13 * i
        axis.text(0, height, name)
        axis.text(0.75, height, network, ha='right')
        axis.text(1.1, height, gaussian, ha='right')
    neurons = result.sizes['neuron']
    axis.set_title(f'{neurons} neurons, cosine > {result.threshold:g}')
    axis.axis('off')


layout = style.Layout(1, 3, 7.0, 2.2)
