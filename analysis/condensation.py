"""Do neurons condense onto few directions? Cosines between their input weights (P1 Fig 5 a, b).

A neuron's input weights are a column of a matrix [d_in, d_out]. Neurons are grouped by the papers'
greedy rule: the first neuron left takes all whose cosine with it is above the threshold (0.7 in P1
Fig 10, 0.4 in P3's notebook). Every number comes with what Gaussian matrices of that shape give.

  python analysis/condensation.py --run runs/phase --depth=2 --gamma=1.5 --seed=0
  python analysis/condensation.py --run runs/phase --gamma=1.5 --depth=2 --seed=0 --threshold=0.4
"""

from typing import NamedTuple

import numpy as np
import threadpoolctl

from analysis.drawing import command, style
from analysis.members.member import Member
from analysis.spectra import measures
from anchorjax.errors import UserError

MATRIX, THRESHOLD = 'block_0/W_Q', 0.7
BINS = np.linspace(-1, 1, 41)


class Result(NamedTuple):
    """Neurons are in the drawn order: by group, the largest group first."""

    matrix: str
    threshold: float
    order: np.ndarray  # [neuron] column of the matrix that is drawn there
    cosine: np.ndarray  # [neuron, neuron]
    sizes: np.ndarray  # [group]
    numbers: dict[str, float]  # see `numbers`
    null: dict[str, np.ndarray]  # the same, [draw], of Gaussian matrices
    density: np.ndarray  # [bin] share of pairs by cosine, between BINS
    null_density: np.ndarray  # [bin] mean over the draws


@threadpoolctl.threadpool_limits.wrap(
    limits=1
)  # the same bits anywhere; faster for small matrices
def compute(
    member: Member, matrix: str = MATRIX, threshold: float = THRESHOLD, draws: int = 20
) -> Result:
    """Groups of neurons of one matrix.

    Raises:
      UserError: no such matrix, one of fewer than two neurons, or a threshold out of (0, 1).
    """
    W = member.matrix(matrix)
    if draws < 1:
        raise UserError(f'draws = {draws}: must be at least 1')
    cosine, sizes, order = condensed(W, threshold)
    rng = np.random.default_rng(0)
    gaussian = [rng.standard_normal(W.shape) for _ in range(draws)]
    null = [numbers(G, threshold) for G in gaussian]
    return Result(
        matrix=matrix,
        threshold=threshold,
        order=order,
        cosine=cosine,
        sizes=sizes,
        numbers=numbers(W, threshold),
        null={name: np.array([one[name] for one in null]) for name in null[0]},
        density=_density(W),
        null_density=np.mean([_density(G) for G in gaussian], axis=0),
    )


def condensed(W, threshold: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(cosine [neuron, neuron] reordered by group, sizes [group], order [neuron])."""
    if W.shape[1] < 2:
        raise UserError(
            f'a matrix of shape {W.shape}: must have at least two neurons (columns)'
        )
    if not 0 < threshold < 1:
        raise UserError(f'threshold = {threshold}: must be between 0 and 1')
    cosine = measures.cosines(W.T)
    found = groups(cosine, threshold)
    order = np.concatenate(found)
    return cosine[np.ix_(order, order)], np.array([len(g) for g in found]), order


def groups(cosine, threshold: float) -> list[np.ndarray]:
    """Indices of neurons by the greedy rule; the largest group first, ties as they were found."""
    left, found = np.arange(len(cosine)), []
    while left.size:
        near = cosine[left[0], left] > threshold
        near[0] = True  # a neuron of zeros is near to nothing, not even to itself
        found.append(left[near])
        left = left[~near]
    return sorted(found, key=len, reverse=True)


def numbers(W, threshold: float) -> dict[str, float]:
    """Groups, shares of pairs of neurons, and how many directions they use.

    `directions` is the participation ratio of the eigenvalues of the neurons' cosine matrix: blind
    to their norms and signs, 1 when all are parallel or opposite.
    """
    cosine, sizes, _ = condensed(W, threshold)
    pairs = cosine[np.triu_indices(len(cosine), 1)]
    return {
        'groups': float(len(sizes)),
        'largest group': float(sizes[0]),
        'pairs parallel': float((pairs > threshold).mean()),
        'pairs opposite': float((pairs < -threshold).mean()),
        'directions': measures.participation_ratio(np.linalg.eigvalsh(cosine)),
        'stable rank': measures.stable_rank(W),
    }


def draw(result: Result, axes) -> None:
    """Fills axes [1, 3]: the cosine matrix by group, its distribution, the numbers."""
    image = heatmap(axes[0, 0], result.cosine)
    axes[0, 0].set(
        xlabel='neuron, by group', ylabel='neuron, by group', title=result.matrix
    )
    axes[0, 0].figure.colorbar(image, ax=axes[0, 0], shrink=0.8, label='cosine')
    for density, colour, label in (
        (result.null_density, style.COLOURS['memorizing'], 'Gaussian'),
        (result.density, style.COLOURS['inferential'], 'network'),
    ):
        axes[0, 1].stairs(
            density, BINS, fill=True, alpha=0.6, color=colour, label=label
        )
    axes[0, 1].axvline(result.threshold, ymax=0.85, color='black', lw=0.8, ls=':')
    top = 1.3 * max(
        result.density.max(), result.null_density.max()
    )  # room for the legend
    axes[0, 1].set(
        xlim=(-1, 1), ylim=(0, top), xlabel='cosine of two neurons', ylabel='share'
    )
    axes[0, 1].set_title('pairs of neurons')
    axes[0, 1].legend(loc='upper center', ncols=2, handlelength=1, columnspacing=1)
    _table(axes[0, 2], result)


def heatmap(axis, cosine):
    """A cosine matrix, blue -1 to red 1; returns the image."""
    return axis.imshow(cosine, cmap='RdBu_r', vmin=-1, vmax=1, interpolation='nearest')


def _density(W) -> np.ndarray:
    cosine = measures.cosines(W.T)
    pairs = cosine[np.triu_indices(len(cosine), 1)]
    return np.histogram(pairs.clip(-1, 1), BINS)[0] / len(pairs)


def _table(axis, result: Result) -> None:
    """One line a number, beside the mean of the Gaussian matrices."""
    lines = [('', 'network', 'Gaussian')] + [
        (name, f'{value:.3g}', f'{result.null[name].mean():.3g}')
        for name, value in result.numbers.items()
    ]
    for i, (name, *values) in enumerate(lines):
        height = 0.92 - 0.13 * i
        axis.text(0, height, name)
        for right, value in zip((0.75, 1.1), values, strict=True):
            axis.text(right, height, value, ha='right')
    axis.set_title(f'{len(result.order)} neurons, cosine > {result.threshold:g}')
    axis.axis('off')


layout = style.Layout(1, 3, 7.0, 2.2)

if __name__ == '__main__':
    command.member(
        __doc__,
        'condensation',
        compute,
        draw,
        layout,
        matrix=command.Flag(str, MATRIX, 'path of a matrix [d_in, d_out]'),
        threshold=command.Flag(
            float, THRESHOLD, 'cosine above which two neurons are one group'
        ),
        draws=command.Flag(int, 20, 'Gaussian matrices to compare with'),
    )
