"""How few directions the weights use: eigenvalues and singular values.

P1 Fig 12 (v1 Fig 7): at a small initialization few eigenvalues of the covariance of the
embedding are large, the largest rises first and the others after it. P1 Fig 13: there
the singular values of every matrix fall off after the first few.

  python analysis/eigenvalues.py --run runs/phase --depth=2
"""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from analysis.drawing import command, style
from analysis.members.member import member_of
from analysis.members.point import Point
from analysis.members.selection import find_trained_gammas
from analysis.spectra import measures, singular
from analysis.spectra.spectra import (
    covariance_spectrum,
    find_rises,
    pad_spectra,
    singular_values,
)
from anchorjax.storage.reader import Run


class Result(NamedTuple):
    """Spectra are in descending order; small gamma is LARGE initialization."""

    matrix: str
    gamma_G: np.ndarray  # those with a trained member
    eigenvalues_GI: np.ndarray  # of the covariance of the rows, at the step asked for
    participation_G: np.ndarray  # of the eigenvalues
    stable_rank_G: np.ndarray  # of the matrix itself, rows not centred
    share_G: np.ndarray  # of the leading eigenvalue in the sum
    gamma: float  # of the member that is followed
    steps_S: np.ndarray  # its snapshots
    evolution_SI: np.ndarray
    rises_I: np.ndarray  # see `spectra.find_rises`; of the leading ones
    matrix_names: tuple[str, ...]
    extremes: np.ndarray  # [2] gamma of the largest and of the smallest initialization
    singular_2NI: np.ndarray  # of every matrix there; NaN beyond its rank
    missing: tuple[str, ...]  # members left out, and what the run does not hold


def compute(
    run: Run,
    step: int | str = 'last',
    matrix: str = 'W_embed',
    leading: int = 6,
    **point,
) -> Result:
    """Spectra over gamma at one point of the other axes (first values where not given).

    Args:
      leading: number of eigenvalues whose rise is looked for.
      point: `gamma`, if given, is that of the member followed over training; the
        largest by default.

    Raises:
      UserError: no such member or matrix, or none is trained; StoreError: no such step.
    """
    followed_gamma = point.pop('gamma', None)
    rest = {}
    for axis, values in run.experiment.axes.items():
        if axis != 'gamma':
            rest[axis] = values[0]
    rest |= point
    gammas, left_out = find_trained_gammas(run, rest)
    spectra = []
    participation = []
    stable_rank = []
    for gamma in gammas:
        W = run.parameter(matrix, step, gamma=gamma, **rest)
        spectrum = covariance_spectrum(W)
        spectra.append(spectrum)
        participation.append(measures.participation_ratio(spectrum))
        stable_rank.append(measures.stable_rank(W))
    spectra_GI = np.stack(spectra)

    if followed_gamma is None:
        followed_gamma = gammas[-1]
    followed = member_of(run, gamma=followed_gamma, **rest)
    steps_S, evolution_SI = _follow_spectrum(run, matrix, followed.point)
    if len(steps_S) < 2:
        left_out = [*left_out, 'no snapshot but one: no evolution']
    extremes = (gammas[0], gammas[-1])
    matrix_names, singular_2NI = _find_singular_values(run, step, rest, extremes)
    return Result(
        matrix=matrix,
        gamma_G=np.array(gammas),
        eigenvalues_GI=spectra_GI,
        participation_G=np.array(participation),
        stable_rank_G=np.array(stable_rank),
        share_G=spectra_GI[:, 0] / spectra_GI.sum(-1),
        gamma=followed.point['gamma'],
        steps_S=steps_S,
        evolution_SI=evolution_SI,
        rises_I=find_rises(steps_S, evolution_SI[:, :leading]),
        matrix_names=matrix_names,
        extremes=np.array(extremes),
        singular_2NI=singular_2NI,
        missing=tuple(left_out),
    )


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [1 + r, 3]: spectra by gamma, by step, numbers; then each matrix."""
    _draw_spectra(axes[0, 0], result)
    _draw_training(axes[0, 1], result)
    _draw_numbers(axes[0, 2], result)
    singular.draw(axes[1:].ravel(), result)


def layout(result: Result) -> style.Layout:
    kinds = singular.list_kinds(result.matrix_names)
    rows = 1 + -(-len(kinds) // 3)
    return style.Layout(rows, 3, 7.0, 0.6 + 1.6 * rows)


def _follow_spectrum(
    run: Run, matrix: str, point: Point
) -> tuple[np.ndarray, np.ndarray]:
    """(steps of the snapshots [S], spectra there [S, I])."""
    steps = run.steps(**point)
    spectra = []
    for step in steps:
        W = run.parameter(matrix, step, **point)
        spectra.append(covariance_spectrum(W))
    return np.array(steps), np.stack(spectra)


def _find_singular_values(
    run: Run, step: int | str, rest: Point, gammas: tuple[float, ...]
) -> tuple[tuple[str, ...], np.ndarray]:
    """(names of all matrices [N], their singular values [gammas, N, I])."""
    spectra = []
    for gamma in gammas:
        matrices = member_of(run, step, gamma=gamma, **rest).matrices
        spectra.append([singular_values(W) for W in matrices.values()])
    return tuple(matrices), pad_spectra(spectra)


def _draw_spectra(axis: Axes, result: Result) -> None:
    colours = _sample_colours('viridis', 0.9, len(result.gamma_G))
    index = np.arange(result.eigenvalues_GI.shape[-1]) + 1
    for i, gamma in enumerate(result.gamma_G):
        values = result.eigenvalues_GI[i]
        axis.plot(index, values, color=colours[i], label=f'γ {gamma:g}')
    axis.set(xscale='log', yscale='log', xlabel='index')
    axis.set_title(f'eigenvalues, {result.matrix}')
    axis.set_ylim(bottom=result.eigenvalues_GI.max() / 1e8)
    axis.legend()


def _draw_training(axis: Axes, result: Result) -> None:
    """The leading eigenvalues of one member; a circle where one rises."""
    leading = len(result.rises_I)
    colours = _sample_colours('magma', 0.8, leading)
    for i, colour in enumerate(colours):
        values = result.evolution_SI[:, i]
        axis.plot(result.steps_S, values, '.-', ms=3, color=colour)
        chosen = result.steps_S == result.rises_I[i]
        steps = result.steps_S[chosen]
        axis.plot(steps, values[chosen], 'o', ms=5, mfc='none', color=colour)
    axis.set(xlabel='step', title=f'the leading {leading} at γ {result.gamma:g}')
    if result.missing:
        lines = '\n'.join(result.missing)
        axis.text(0.03, 0.97, lines, va='top', transform=axis.transAxes)


def _draw_numbers(axis: Axes, result: Result) -> None:
    lines = (
        ('participation ratio', result.participation_G, 'o-'),
        ('stable rank', result.stable_rank_G, 's-'),
        ('1 / share of the first', 1 / result.share_G, '^:'),
    )
    for name, values, line in lines:
        axis.plot(result.gamma_G, values, line, ms=3, label=name)
    axis.set(xlabel='γ', title='effective number of directions')
    axis.set_ylim(bottom=0)
    axis.legend()


def _sample_colours(name: str, end: float, number: int) -> np.ndarray:
    """Colours [number, 4] from the start of a colour map to the share `end` of it."""
    return style.plt.get_cmap(name)(np.linspace(0, end, number))


if __name__ == '__main__':
    command.run_point_figure(
        __doc__,
        'eigenvalues',
        compute,
        draw,
        layout,
        matrix=command.Flag(
            str, 'W_embed', 'whose rows; any matrix of the model by its path'
        ),
        leading=command.Flag(int, 6, 'eigenvalues to follow over training'),
    )
