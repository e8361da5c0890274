"""How few directions the weights use: eigenvalues of the embedding, singular values of the rest.

P1 Fig 12 (v1 Fig 7): at a small initialization few eigenvalues of the covariance of the embedding
are large, the largest rises first and the others after it. P1 Fig 13: there the singular values of
every matrix fall off after the first few (its caption exchanges the two colours).

  python analysis/eigenvalues.py --run runs/phase --depth=2
"""

import pathlib
import sys
from typing import NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

import numpy as np

from analysis import command, measures, style
from analysis.member import label, member_of, varying
from anchorjax import store
from anchorjax.errors import UserError

GROWS = 2.0  # an eigenvalue that never doubles does not rise


class Result(NamedTuple):
    """Spectra are in descending order; small gamma is LARGE initialization."""

    matrix: str
    gamma_G: np.ndarray  # those with a trained member
    eigenvalues_GE: np.ndarray  # of the covariance of the rows, at the step asked for
    participation_G: np.ndarray  # of the eigenvalues
    stable_rank_G: np.ndarray  # of the matrix itself, rows not centred
    share_G: np.ndarray  # of the leading eigenvalue in the sum
    gamma: float  # of the member that is followed
    steps_S: np.ndarray  # its snapshots
    evolution_SE: np.ndarray
    rises_E: np.ndarray  # see `rises`; of the leading ones
    matrix_names: tuple[str, ...]
    extremes: np.ndarray  # [2] gamma of the largest and of the smallest initialization
    singular_2NE: np.ndarray  # of every matrix there; NaN beyond its rank
    missing: tuple[str, ...]  # members left out, and what the run does not hold


def compute(
    run: store.Run, step: int | str = 'last', matrix: str = 'W_embed', leading: int = 6, **point
) -> Result:
    """Spectra over gamma at one point of the other axes (first values where not given).

    Args:
      point: `gamma`, if given, is the member followed over training; the largest by default.

    Raises:
      UserError: no such member or matrix, or none is trained; StoreError: no such step.
    """
    followed = point.pop('gamma', None)
    rest = {a: v[0] for a, v in run.experiment.axes.items() if a != 'gamma'} | point
    gammas, missing = _trained(run, rest)
    gamma = gammas[-1] if followed is None else followed
    last = [run.parameter(matrix, step, gamma=g, **rest) for g in gammas]
    spectra = np.stack([covariance_spectrum(W) for W in last])
    member = member_of(run, gamma=gamma, **rest)
    steps = np.array(run.steps(**member.point))
    evolution = [covariance_spectrum(run.parameter(matrix, s, **member.point)) for s in steps]
    extremes = [member_of(run, step, gamma=g, **rest).matrices for g in (gammas[0], gammas[-1])]
    return Result(
        matrix=matrix,
        gamma_G=np.array(gammas),
        eigenvalues_GE=spectra,
        participation_G=np.array([measures.participation_ratio(e) for e in spectra]),
        stable_rank_G=np.array([measures.stable_rank(W) for W in last]),
        share_G=spectra[:, 0] / spectra.sum(-1),
        gamma=member.point['gamma'],
        steps_S=steps,
        evolution_SE=np.stack(evolution),
        rises_E=rises(steps, np.stack(evolution)[:, :leading]),
        matrix_names=tuple(extremes[0]),
        extremes=np.array([gammas[0], gammas[-1]]),
        singular_2NE=_padded([[_singular(W) for W in m.values()] for m in extremes]),
        missing=(*missing, *(['no snapshot but one: no evolution'] if len(steps) < 2 else [])),
    )


def covariance_spectrum(W) -> np.ndarray:
    """Eigenvalues of the covariance of the rows [d_in, d_out], descending, min(d_in, d_out)."""
    rows = np.asarray(W, np.float64)
    return _singular(rows - rows.mean(0)) ** 2 / max(len(rows) - 1, 1)


def rises(steps_S, values_SE) -> np.ndarray:
    """First snapshot where a value is above its start by half of its rise, [E].

    The rise is from the start to the peak (weight decay may lower it again). NaN for a value that
    never reaches GROWS times its start, and with a single snapshot.
    """
    start, peak = values_SE[0], values_SE.max(0)
    above = values_SE >= start + (peak - start) / 2
    grows = (peak > start) & (peak >= GROWS * start)
    return np.where(grows, np.asarray(steps_S)[above.argmax(0)], np.nan)


def draw(result: Result, axes) -> None:
    """Fills axes [1 + r, 3]: spectra over gamma, one over training, numbers; then each matrix."""
    spectrum, evolution, numbers = axes[0]
    for g, values, colour in zip(
        result.gamma_G, result.eigenvalues_GE, _scale(len(result.gamma_G)), strict=True
    ):
        spectrum.plot(np.arange(len(values)) + 1, values, color=colour, label=f'γ {g:g}')
    spectrum.set(xscale='log', yscale='log', xlabel='index', title=f'eigenvalues, {result.matrix}')
    spectrum.set_ylim(bottom=result.eigenvalues_GE.max() / 1e8)
    spectrum.legend()
    _evolution(evolution, result)
    _numbers(numbers, result)
    kinds = list(dict.fromkeys(name.split('/')[-1] for name in result.matrix_names))
    for i, axis in enumerate(axes[1:].flat):
        _singular_values(axis, result, kinds[i]) if i < len(kinds) else axis.set_axis_off()
    axes[1, 0].legend()


def layout(result: Result) -> style.Layout:
    kinds = {name.split('/')[-1] for name in result.matrix_names}
    rows = 1 + -(-len(kinds) // 3)
    return style.Layout(rows, 3, 7.0, 0.6 + 1.6 * rows)


_INITIALIZATIONS = (('large', '#D55E00'), ('small', '#0072B2'))  # of the two extremes


def _trained(run: store.Run, rest: dict) -> tuple[list[float], list[str]]:
    """(gammas with a trained member, a line for every other member)."""
    gammas, missing = [], []
    for gamma in sorted(run.experiment.axes['gamma']):
        run.at(gamma=gamma, **rest)  # complains of an unknown axis or value
        there = run.results.sel(gamma=gamma, **rest, method='nearest')
        if there.trained and there.diverged < 0:
            gammas.append(gamma)
        else:
            missing.append(f'γ {gamma:g} {"diverged" if there.trained else "not trained yet"}')
    if not gammas:
        raise UserError(f'no member at {label(varying(run, rest | {"gamma": 0}))} is trained')
    return gammas, missing


def _singular(W) -> np.ndarray:
    return np.linalg.svd(np.asarray(W, np.float64), compute_uv=False)


def _padded(spectra) -> np.ndarray:
    longest = max(len(s) for row in spectra for s in row)
    pad = lambda s: np.pad(s, (0, longest - len(s)), constant_values=np.nan)
    return np.array([[pad(s) for s in row] for row in spectra])


def _scale(number: int) -> list:
    return list(style.plt.get_cmap('viridis')(np.linspace(0, 0.9, number)))


def _evolution(axis, result: Result) -> None:
    """Steps on an axis that shows 0; a circle where an eigenvalue rises."""
    leading = len(result.rises_E)
    for e, colour in enumerate(style.plt.get_cmap('magma')(np.linspace(0, 0.8, leading))):
        values = result.evolution_SE[:, e]
        axis.plot(result.steps_S, values, '.-', ms=3, color=colour, label=f'{e + 1}')
        at = result.steps_S == result.rises_E[e]
        axis.plot(result.steps_S[at], values[at], 'o', ms=5, mfc='none', color=colour)
    axis.set(xlabel='step', title=f'the leading {leading} at γ {result.gamma:g}')
    if result.missing:
        axis.text(0.03, 0.97, '\n'.join(result.missing), va='top', transform=axis.transAxes)


def _numbers(axis, result: Result) -> None:
    lines = (('participation ratio', result.participation_G), ('stable rank', result.stable_rank_G))
    for (name, values), marker in zip(lines, 'os', strict=True):
        axis.plot(result.gamma_G, values, f'{marker}-', ms=3, label=name)
    axis.plot(result.gamma_G, 1 / result.share_G, '^:', ms=3, label='1 / share of the first')
    axis.set(xlabel='γ', title='effective number of directions')
    axis.set_ylim(bottom=0)
    axis.legend()


def _singular_values(axis, result: Result, kind: str) -> None:
    """A panel of the matrices of one name: a line for each block, later ones thinner."""
    for (size, colour), gamma, spectra in zip(
        _INITIALIZATIONS, result.extremes, result.singular_2NE, strict=True
    ):
        named = f'{size} init. (γ {gamma:g})'
        chosen = [i for i, name in enumerate(result.matrix_names) if name.split('/')[-1] == kind]
        for layer, i in enumerate(chosen):
            look = {'color': colour, 'lw': 1.5 / (1 + layer), 'label': None if layer else named}
            axis.plot(np.arange(spectra.shape[-1]) + 1, spectra[i], **look)
    axis.set(yscale='log', title=f'singular values, {kind}')


if __name__ == '__main__':
    command.at(
        __doc__,
        'eigenvalues',
        compute,
        draw,
        layout,
        matrix=command.Flag(str, 'W_embed', 'whose rows; any matrix of the model by its path'),
        leading=command.Flag(int, 6, 'eigenvalues to follow over training'),
    )
