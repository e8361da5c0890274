"""Do neurons condense? Groups of nearly parallel input weights (P1 Fig 5 a, b).

Neurons are grouped by the cosine of their input weights (see `vectors.groups`). The
threshold is 0.7 in P1 Fig 10 and 0.4 in P3's notebook. Every number is shown beside its
mean over Gaussian matrices of the same shape.

  python -m analysis condensation --run runs/phase --gamma=1.7 --seed=0

  --threshold=0.4 gives P3's groups
"""

from typing import Annotated, NamedTuple

import numpy as np
import threadpoolctl
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

from analysis.drawing import style
from analysis.members.member import Member
from analysis.spectra import measures
from analysis.vectors import groups
from anchorjax.limits import above, at_least, at_most, below

TITLE = 'Condensation'
PAPER = 'P1 Fig 5 (a, b)'
CAPTION = 'Do the neurons of the first query matrix share their direction?'


MATRIX = 'block_0/W_Q'
THRESHOLD = 0.7
BINS = np.linspace(-1, 1, 41)


class Result(NamedTuple):
    """Neurons are sorted by group, the largest group first."""

    matrix: str
    threshold: float
    order: np.ndarray  # [neuron] its column of the matrix
    cosine: np.ndarray  # [neuron, neuron]
    sizes: np.ndarray  # [group]
    numbers: dict[str, float]  # of groups.measure_condensation
    null: dict[str, np.ndarray]  # the same of Gaussian matrices, [draw]
    density: np.ndarray  # [bin] share of pairs by cosine, between BINS
    null_density: np.ndarray  # [bin] mean over the draws


# One thread gives the same bits on every machine, and is faster for small matrices.
@threadpoolctl.threadpool_limits.wrap(limits=1)
def compute(
    member: Member,
    matrix: Annotated[str, 'path of a matrix [d_in, d_out]'] = MATRIX,
    threshold: Annotated[
        float, above(0), below(1), 'two neurons above this cosine are one group'
    ] = THRESHOLD,
    draws: Annotated[
        int, at_least(1), at_most(1_000), 'Gaussian matrices to compare with'
    ] = 20,
) -> Result:
    """Groups of neurons of one matrix, beside those of `draws` Gaussian matrices.

    Raises:
      UserError: no such matrix, fewer than two neurons, or a threshold outside (0, 1).
    """
    W = member.matrix(matrix)
    neurons = groups.group_neurons(W, threshold)
    rng = np.random.default_rng(0)
    null_numbers = []
    null_densities = []
    for _ in range(draws):
        gaussian = rng.standard_normal(W.shape)
        null_numbers.append(groups.measure_condensation(gaussian, threshold))
        null_densities.append(groups.bin_cosines(gaussian, BINS))
    return Result(
        matrix=matrix,
        threshold=threshold,
        order=neurons.order,
        cosine=neurons.cosine,
        sizes=neurons.sizes,
        numbers=groups.measure_condensation(W, threshold),
        null=measures.stack_numbers(null_numbers),
        density=groups.bin_cosines(W, BINS),
        null_density=np.mean(null_densities, axis=0),
    )


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [1, 3]: the cosine matrix by group, its distribution, the numbers."""
    matrix_axis, density_axis, table_axis = axes[0]
    image = draw_cosines(matrix_axis, result.cosine)
    matrix_axis.set(xlabel='neuron, by group', ylabel='neuron, by group')
    matrix_axis.set_title(result.matrix)
    matrix_axis.figure.colorbar(image, ax=matrix_axis, shrink=0.8, label='cosine')
    _draw_densities(density_axis, result)
    _draw_table(table_axis, result)


def draw_cosines(axis: Axes, cosine: np.ndarray) -> AxesImage:
    """Draws a cosine matrix, from blue at -1 to red at 1."""
    return axis.imshow(cosine, cmap='RdBu_r', vmin=-1, vmax=1, interpolation='nearest')


def _draw_densities(axis: Axes, result: Result) -> None:
    bars = {'fill': True, 'alpha': 0.6}
    grey = style.COLOURS['memorizing']
    blue = style.COLOURS['inferential']
    null = result.null_density
    axis.stairs(null, BINS, color=grey, label='Gaussian', **bars)
    axis.stairs(result.density, BINS, color=blue, label='network', **bars)
    axis.axvline(result.threshold, ymax=0.85, color='black', lw=0.8, ls=':')
    highest = max(result.density.max(), null.max())
    axis.set(xlim=(-1, 1), ylim=(0, 1.3 * highest))  # room for the legend
    axis.set(xlabel='cosine of two neurons', ylabel='share')
    axis.set_title('pairs of neurons')
    axis.legend(loc='upper center', ncols=2, handlelength=1, columnspacing=1)


def _draw_table(axis: Axes, result: Result) -> None:
    """Writes one line per number, beside its mean over the Gaussian matrices."""
    lines = [('', 'network', 'Gaussian')]
    for name, value in result.numbers.items():
        null = result.null[name].mean()
        lines.append((name, f'{value:.3g}', f'{null:.3g}'))
    for i, (name, network, gaussian) in enumerate(lines):
        height = 0.92 - 0.13 * i
        axis.text(0, height, name)
        axis.text(0.75, height, network, ha='right')
        axis.text(1.1, height, gaussian, ha='right')
    neurons = len(result.order)
    axis.set_title(f'{neurons} neurons, cosine > {result.threshold:g}')
    axis.axis('off')


layout = style.Layout(1, 3, 7.0, 2.2)
