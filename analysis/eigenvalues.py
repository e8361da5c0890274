"""How few directions the weights use: eigenvalues of the embedding, singular values of the rest.

P1 Fig 12 (v1 Fig 7): at a small initialization few eigenvalues of the covariance of the embedding
are large, the largest rises first and the others after it. P1 Fig 13: there the singular values of
every matrix fall off after the first few.

  python analysis/eigenvalues.py --run runs/phase --depth=2
"""

from typing import NamedTuple

import numpy as np

from analysis.drawing import command, style
from analysis.members.member import member_of
from analysis.members.selection import trained_gammas
from analysis.spectra import measures, singular
from analysis.spectra.spectra import covariance_spectrum, padded, rises, singular_values
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
    rises_I: np.ndarray  # see `spectra.rises`; of the leading ones
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
      point: `gamma`, if given, is the member followed over training; the largest by default.

    Raises:
      UserError: no such member or matrix, or none is trained; StoreError: no such step.
    """
    followed = point.pop('gamma', None)
    rest = {a: v[0] for a, v in run.experiment.axes.items() if a != 'gamma'} | point
    gammas, without = trained_gammas(run, rest)
    last = [run.parameter(matrix, step, gamma=g, **rest) for g in gammas]
    spectra = np.stack([covariance_spectrum(W) for W in last])
    member = member_of(run, gamma=gammas[-1] if followed is None else followed, **rest)
    steps_S, evolution_SI = _evolution(run, matrix, member.point)
    extremes = [
        member_of(run, step, gamma=g, **rest).matrices for g in (gammas[0], gammas[-1])
    ]
    return Result(
        matrix=matrix,
        gamma_G=np.array(gammas),
        eigenvalues_GI=spectra,
        participation_G=np.array([measures.participation_ratio(e) for e in spectra]),
        stable_rank_G=np.array([measures.stable_rank(W) for W in last]),
        share_G=spectra[:, 0] / spectra.sum(-1),
        gamma=member.point['gamma'],
        steps_S=steps_S,
        evolution_SI=evolution_SI,
        rises_I=rises(steps_S, evolution_SI[:, :leading]),
        matrix_names=tuple(extremes[0]),
        extremes=np.array([gammas[0], gammas[-1]]),
        singular_2NI=padded(
            [[singular_values(W) for W in m.values()] for m in extremes]
        ),
        missing=(
            *without,
            *(['no snapshot but one: no evolution'] if len(steps_S) < 2 else []),
        ),
    )


def draw(result: Result, axes) -> None:
    """Fills axes [1 + r, 3]: spectra over gamma, one over training, numbers; then each matrix."""
    _spectra(axes[0, 0], result)
    _training(axes[0, 1], result)
    _numbers(axes[0, 2], result)
    singular.draw(axes[1:].ravel(), result)


def layout(result: Result) -> style.Layout:
    rows = 1 + -(-len(singular.kinds(result.matrix_names)) // 3)
    return style.Layout(rows, 3, 7.0, 0.6 + 1.6 * rows)


def _evolution(run: Run, matrix: str, point: dict) -> tuple[np.ndarray, np.ndarray]:
    """(steps of the snapshots [S], spectra there [S, I])."""
    steps = run.steps(**point)
    spectra = [
        covariance_spectrum(run.parameter(matrix, step, **point)) for step in steps
    ]
    return np.array(steps), np.stack(spectra)


def _spectra(axis, result: Result) -> None:
    colours = style.plt.get_cmap('viridis')(np.linspace(0, 0.9, len(result.gamma_G)))
    for gamma, values, colour in zip(
        result.gamma_G, result.eigenvalues_GI, colours, strict=True
    ):
        axis.plot(
            np.arange(len(values)) + 1, values, color=colour, label=f'γ {gamma:g}'
        )
    axis.set(
        xscale='log',
        yscale='log',
        xlabel='index',
        title=f'eigenvalues, {result.matrix}',
    )
    axis.set_ylim(bottom=result.eigenvalues_GI.max() / 1e8)
    axis.legend()


def _training(axis, result: Result) -> None:
    """The leading eigenvalues of one member; a circle where one rises."""
    leading = len(result.rises_I)
    for e, colour in enumerate(
        style.plt.get_cmap('magma')(np.linspace(0, 0.8, leading))
    ):
        values = result.evolution_SI[:, e]
        axis.plot(result.steps_S, values, '.-', ms=3, color=colour)
        at = result.steps_S == result.rises_I[e]
        axis.plot(result.steps_S[at], values[at], 'o', ms=5, mfc='none', color=colour)
    axis.set(xlabel='step', title=f'the leading {leading} at γ {result.gamma:g}')
    if result.missing:
        axis.text(
            0.03, 0.97, '\n'.join(result.missing), va='top', transform=axis.transAxes
        )


def _numbers(axis, result: Result) -> None:
    lines = (
        ('participation ratio', result.participation_G),
        ('stable rank', result.stable_rank_G),
    )
    for (name, values), marker in zip(lines, 'os', strict=True):
        axis.plot(result.gamma_G, values, f'{marker}-', ms=3, label=name)
    axis.plot(
        result.gamma_G, 1 / result.share_G, '^:', ms=3, label='1 / share of the first'
    )
    axis.set(xlabel='γ', title='effective number of directions')
    axis.set_ylim(bottom=0)
    axis.legend()


if __name__ == '__main__':
    command.at(
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
