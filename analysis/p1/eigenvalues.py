"""How few directions the weights use: eigenvalues and singular values.

P1 Fig 12 (v1 Fig 7): at a small initialization few eigenvalues of the covariance of the
embedding are large, the largest rises first and the others after it. P1 Fig 13: there
the singular values of every matrix fall off after the first few.

Only what sees data is measured: rows of tokens that occur, columns of labels that occur
(`spectra.used`). Error bars are of all converged members; grey, the same networks
before training.

  python -m analysis eigenvalues --run runs/phase
"""

import math
from typing import Annotated, NamedTuple

import numpy as np
import pandas as pd

from analysis import frame
from analysis.drawing import spectrum_panels, style
from analysis.members.member import member_of
from analysis.members.point import Point
from analysis.members.selection import find_trained_gammas
from analysis.spectra import measures, singular
from analysis.spectra.directions import read_matrix
from analysis.spectra.effective import (
    follow_spectrum,
    measure_converged,
)
from analysis.spectra.spectra import (
    covariance_spectrum,
    find_rises,
    pad_spectra,
    singular_values,
)
from analysis.spectra.used import select_used
from anchorjax.limits import at_least, at_most
from anchorjax.storage.reader import Run

TITLE = 'Eigenvalues and singular values'
PAPER = 'P1 Figs 12, 13'
CAPTION = (
    'Few large values mean that the weights use few directions. They are eigenvalues '
    'of the covariance of the embedding, by γ and over training, and singular values '
    'of every matrix.'
)


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
    members: pd.DataFrame  # all converged ones, by `effective.measure_converged`
    width: float = math.nan  # of the networks; NaN: there are several


def compute(
    run: Run,
    step: int | str = 'last',
    matrix: Annotated[
        str, 'whose rows; any matrix of the model by its path'
    ] = 'W_embed',
    leading: Annotated[
        int, at_least(1), at_most(1_000), 'eigenvalues to follow over training'
    ] = 6,
    **point,
) -> Result:
    """Spectra over gamma at one point of the other axes (first values where not given).

    Args:
      leading: number of eigenvalues whose rise is looked for.
      point: `gamma`, if given, is that of the member followed over training; the
        largest by default.

    Raises:
      UserError: no such member or matrix, or none is trained.
      StoreError: no such step.
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
        W = read_matrix(run, matrix, step, gamma=gamma, **rest)
        config = run.experiment_of(gamma=gamma, **rest).task
        W = select_used(config, matrix, W)
        spectrum = covariance_spectrum(W)
        spectra.append(spectrum)
        participation.append(measures.participation_ratio(spectrum))
        stable_rank.append(measures.stable_rank(W))
    spectra_GI = np.stack(spectra)

    if followed_gamma is None:
        followed_gamma = gammas[-1]
    followed = member_of(run, gamma=followed_gamma, **rest)
    steps_S, evolution_SI = follow_spectrum(run, matrix, followed.point)
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
        members=measure_converged(run, step, matrix),
        width=frame.find_width(run),
    )


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [1 + r, 3]: spectra by gamma, by step, numbers; then each matrix."""
    spectrum_panels.draw_spectra(axes[0, 0], result)
    spectrum_panels.draw_training(axes[0, 1], result)
    spectrum_panels.draw_numbers(axes[0, 2], result)
    singular.draw(axes[1:].ravel(), result)


def layout(result: Result) -> style.Layout:
    kinds = singular.list_kinds(result.matrix_names)
    rows = 1 + -(-len(kinds) // 3)
    return style.Layout(rows, 3, 7.0, 0.6 + 1.6 * rows)


def _find_singular_values(
    run: Run, step: int | str, rest: Point, gammas: tuple[float, ...]
) -> tuple[tuple[str, ...], np.ndarray]:
    """(names of all matrices [N], their singular values [gammas, N, I])."""
    spectra = []
    for gamma in gammas:
        member = member_of(run, step, gamma=gamma, **rest)
        matrices = member.matrices
        of_member = []
        for path, W in matrices.items():
            used = select_used(member.experiment.task, path, W)
            of_member.append(singular_values(used))
        spectra.append(of_member)
    return tuple(matrices), pad_spectra(spectra)
