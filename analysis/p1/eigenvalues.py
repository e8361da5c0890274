"""How few directions the weights use: eigenvalues and singular values.

P1 Fig 12 (v1 Fig 7): at a small initialization few eigenvalues of the covariance of the
embedding are large, the largest rises first and the others after it. P1 Fig 13: there
the singular values of every matrix fall off after the first few.

Only what sees data is measured: rows of tokens that occur, columns of labels that occur
(`select_used`). Error bars are of all converged seeds; grey, the same networks before
training.

  python -m analysis eigenvalues --run runs/phase --depth=2
"""

from typing import Annotated, Any

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib import colormaps
from matplotlib.axes import Axes

from analysis import frame, stats
from analysis.drawing import style
from analysis.drawing.bands import draw_intervals
from analysis.drawing.gammas import label_gamma
from analysis.members.point import Point
from analysis.members.selection import explain_missing
from analysis.members.untrained import make_untrained
from analysis.names import name_values
from analysis.spectra import (
    covariance_spectrum,
    find_rises,
    participation_ratio,
    singular_values,
    stable_rank,
)
from anchorjax.errors import UserError
from anchorjax.limits import at_least, at_most
from anchorjax.network import Network
from anchorjax.storage.reader import Run
from anchorjax.tasks import TaskConfig, anchors

TITLE = 'Eigenvalues and singular values'
PAPER = 'P1 Figs 12, 13'
CAPTION = (
    'Few large values mean that the weights use few directions. Above: eigenvalues of '
    'the covariance of the embedding, a line for each γ; the leading ones over '
    'training (dark: the largest; a circle: where one rises), if there are snapshots; '
    'and how many directions count, with error bars of the converged seeds (grey: '
    'before training). Below: singular values of every matrix at the largest (orange) '
    'and the smallest (blue) initialization; a thinner line is a later block.'
)
# Colours of the largest and the smallest initialization, and of the only one. The
# caption of P1 Fig 13 exchanges the two.
SIZES = {'large': '#D55E00', 'small': '#0072B2', '': '#333333'}


def compute(
    run: Run,
    step: int | str = 'last',
    matrix: Annotated[
        str, 'whose rows; any matrix of the model by its path'
    ] = 'W_embed',
    leading: Annotated[
        int, at_least(1), at_most(1_000), 'eigenvalues to follow over training'
    ] = 6,
    **point: Any,
) -> xr.Dataset:
    """Spectra over gamma at one point of the other axes (`frame.fix_axes`).

    All spectra are in descending order; small gamma is LARGE initialization.

      eigenvalue [gamma, index] of the covariance of the rows, at the step asked for
      participation, stable_rank, share [gamma] of the eigenvalues, of the matrix itself
                 (rows not centred), of the leading eigenvalue in the sum
      evolution  [step, index] of the member with the gamma `followed`
      rise       [leading] see `spectra.find_rises`
      singular   [size, matrix, rank] of every matrix for a large and a small
                 initialization, with gamma `extreme` [size]; NaN beyond the rank; one
                 size, '', if one gamma is trained
      member_*   [member] the converged ones at the point, by `measure_converged`
      missing    a line for each member left out and for what the run does not hold

    Args:
      point: `gamma`, if given, is that of the member followed over training; the
        largest by default.

    Raises:
      UserError: no such member or matrix, or none is trained.
      StoreError: no such step.
    """
    followed = point.pop('gamma', None)
    axes = run.experiment.axes
    rest = frame.fix_axes(run, point, ('gamma',))
    gammas = []
    missing = []
    for gamma in sorted(axes['gamma']):
        reason = explain_missing(run, run.complete_point({**rest, 'gamma': gamma}))
        if reason:
            missing.append(f'γ {gamma:g} {reason}')
        else:
            gammas.append(gamma)
    if not gammas:
        raise UserError(f'eigenvalues: no such member is trained: {missing[0]}')
    if followed is None:
        followed = gammas[-1]
    if followed not in gammas:
        raise UserError(f'eigenvalues: gamma = {followed:g}: must be one of {gammas}')
    members = [run.network(step, gamma=gamma, **rest) for gamma in gammas]
    followed_point = run.complete_point({**rest, 'gamma': followed})
    steps = run.steps(**followed_point)
    if len(steps) < 2:
        missing.append('no snapshot but one: no evolution')
    evolution = []
    for at_step in steps:
        member = run.network(at_step, **followed_point)
        evolution.append(covariance_spectrum(read_used(member, matrix)))
    evolution_SI = np.stack(evolution)
    rises = find_rises(np.array(steps), evolution_SI[:, :leading])
    measured = [measure_matrix(member, matrix) for member in members]
    by_gamma = xr.concat(measured, pd.Index(gammas, name='gamma'))
    if len(gammas) == 1:
        ends = {'': 0}
    elif frame.is_rate(run):
        ends = {'large': 0, 'small': -1}
    else:
        ends = {'large': -1, 'small': 0}
    singular = [find_singular_values(members[end]) for end in ends.values()]
    by_gamma = by_gamma.assign(
        evolution=(('step', 'index'), evolution_SI),
        rise=('leading', rises),
        singular=xr.concat(singular, pd.Index(ends, name='size')),
        extreme=('size', [gammas[end] for end in ends.values()]),
        followed=followed_point['gamma'],
        path=matrix,
        missing='\n'.join(missing),
        width=frame.find_width(run),
    )
    converged = measure_converged(run, step, matrix, rest)
    result = by_gamma.merge(converged.to_xarray()).assign_coords(step=steps)
    return result.assign_attrs(selection=name_values(rest))


def read_used(member: Network, path: str) -> np.ndarray:
    """The part of a matrix that sees data."""
    return select_used(member.experiment.task, path, member.matrix(path))


def select_used(config: TaskConfig, path: str, W: np.ndarray) -> np.ndarray:
    """The rows of W_embed and W_pos and the columns of W_U that the task uses.

    The vocabulary is larger than the task: a token that never occurs keeps its initial
    row, shrunk by weight decay. Such rows show the initialization, not what was learnt.
    All of any other matrix, and all of every matrix of a task that is not the anchor
    task.
    """
    if not isinstance(config, anchors.AnchorsConfig):
        return W
    if path == 'W_embed':
        return W[list_tokens(config)]
    if path == 'W_pos':
        return W[: config.seq_len]
    if path == 'W_U':
        return W[:, list_labels(config)]
    return W


def list_tokens(config: anchors.AnchorsConfig) -> np.ndarray:
    """Tokens that occur in sequences, in order: key items (also noise) and anchors."""
    keys = np.arange(*config.keys)
    return np.union1d(keys, list(config.shift_of))


def list_labels(config: anchors.AnchorsConfig) -> np.ndarray:
    """Labels that occur in training, in order: every key item with a trained shift."""
    assigned_P = anchors.list_shifts(config)[:, anchors.MAPPINGS.index('assigned')]
    trained, _ = anchors.list_asked_pairs(config)['seen_train']
    keys = np.arange(*config.keys)
    return np.unique(keys + assigned_P[trained, None])


def measure_matrix(member: Network, path: str) -> xr.Dataset:
    """The spectrum of a matrix and its numbers, of the rows that see data."""
    W = read_used(member, path)
    spectrum_I = covariance_spectrum(W)
    return xr.Dataset(
        {
            'eigenvalue': ('index', spectrum_I),
            'participation': participation_ratio(spectrum_I),
            'stable_rank': stable_rank(W),
            'share': spectrum_I[0] / spectrum_I.sum(),
        }
    )


def find_singular_values(member: Network) -> xr.DataArray:
    """The singular values of all matrices, [matrix, rank]; NaN beyond the rank."""
    spectra = {}
    for path in member.matrices:
        spectra[path] = pd.Series(singular_values(read_used(member, path)))
    return xr.DataArray(pd.DataFrame(spectra).T, dims=('matrix', 'rank'))


def measure_converged(
    run: Run, step: int | str, path: str, point: Point
) -> pd.DataFrame:
    """A row per converged member that has the matrix: its labels along the axes.

    Those at the point count, whatever their gamma and seed. `member_participation` is
    the effective number of directions at a step, of the eigenvalues of the matrix;
    `member_untrained` the same at initialization.
    """
    usable = frame.list_usable(run)
    converged = usable[usable.converged]
    for axis, label in run.labels(**point).items():
        if axis != 'seed':
            converged = converged[converged[axis] == label]
    rows = {}
    for place, member in frame.open_networks(run, converged, 'eigenvalues', step):
        if path in member.matrices:
            ends = (member, make_untrained(member))
            spectra = [covariance_spectrum(read_used(end, path)) for end in ends]
            rows[place] = list(map(participation_ratio, spectra))
    columns = ['participation', 'untrained']
    found = pd.DataFrame.from_dict(rows, 'index', columns=columns)
    members = converged[[*run.experiment.axes]].join(found, how='inner')
    return members.add_prefix('member_').reset_index(drop=True).rename_axis('member')


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [1 + r, 3]: spectra by gamma, by step, numbers; then each matrix."""
    above = iter(axes[0])
    _draw_spectra(next(above), result)
    if result.sizes['step'] > 1:
        _draw_training(next(above), result)
    _draw_numbers(next(above), result)
    for axis in above:
        axis.set_axis_off()
    axes[0, 0].figure.suptitle(result.missing.item())
    panels = axes[1:].ravel()
    kinds = _list_kinds(result)
    for axis, (kind, matrices) in zip(panels, kinds.items(), strict=False):
        _draw_singular_values(axis, result.sel(matrix=matrices), kind)
    for axis in panels[len(kinds) :]:
        axis.set_axis_off()
    panels[0].legend()


def layout(result: xr.Dataset) -> style.Layout:
    rows = 1 + -(-len(_list_kinds(result)) // 3)
    return style.Layout(rows, 3, 7.0, 0.6 + 1.6 * rows)


def _list_kinds(result: xr.Dataset) -> dict[str, list[str]]:
    """{'W_Q': ['block_0/W_Q', 'block_1/W_Q']}: one panel each."""
    kinds = {}
    for path in result.matrix.values:
        kinds.setdefault(path.split('/')[-1], []).append(path)
    return kinds


def _draw_spectra(axis: Axes, result: xr.Dataset) -> None:
    index = np.arange(result.sizes['index']) + 1
    colours = colormaps['viridis'](np.linspace(0, 0.9, result.sizes['gamma']))
    for colour, values in zip(colours, result.eigenvalue, strict=True):
        label = f'γ {values.gamma.item():g}'
        axis.plot(index, values, color=colour, label=label)
    axis.set(xscale='log', yscale='log', xlabel='index')
    axis.set_title(f'eigenvalues, {result.path.item()}')
    axis.set_ylim(bottom=result.eigenvalue.max() / 1e8)
    axis.legend()


def _draw_training(axis: Axes, result: xr.Dataset) -> None:
    """The leading eigenvalues of one member; a circle where one rises."""
    leading = result.sizes['leading']
    colours = colormaps['magma'](np.linspace(0, 0.8, leading))
    for i, colour in enumerate(colours):
        values = result.evolution.isel(index=i)
        axis.plot(result.step, values, '.-', ms=3, color=colour)
        rises = values[result.step == result.rise[i]]
        axis.plot(rises.step, rises, 'o', ms=5, mfc='none', color=colour)
    title = f'the leading {leading} at γ {result.followed.item():g}'
    axis.set(xlabel='step', title=title)


def _draw_numbers(axis: Axes, result: xr.Dataset) -> None:
    """Numbers of the members at the point, and of its converged seeds.

    Error bars: mean and 95 % interval over seeds of their participation ratio. Grey:
    the same before training.
    """
    lines = (
        ('participation ratio', result.participation, 'o-'),
        ('stable rank', result.stable_rank, 's-'),
        ('1 / share of the first', 1 / result.share, '^:'),
    )
    for name, values, line in lines:
        axis.plot(result.gamma, values, line, ms=3, label=name)
    _draw_seeds(axis, result, 'member_participation', 'C0', None)
    _draw_seeds(axis, result, 'member_untrained', 'grey', 'untrained')
    axis.set_title('effective number of directions')
    label_gamma(axis, result.width.item())
    _, highest = axis.get_ylim()
    axis.set_ylim(0, 2.2 * highest)  # room for the legend
    axis.legend(loc='upper right')


def _draw_seeds(
    axis: Axes, result: xr.Dataset, column: str, colour: str, label: str | None
) -> None:
    """A point and an error bar at every gamma with enough converged seeds."""
    members = result[['member_gamma', 'member_seed', column]].to_dataframe()
    of_seeds = members.groupby(['member_gamma', 'member_seed'])[column].mean()
    by_gamma = of_seeds.groupby('member_gamma')
    found = stats.mean_intervals(by_gamma, stats.POSITIVE).dropna()
    if len(found):
        bar = {'color': colour, 'fmt': '_', 'ms': 5, 'lw': 1, 'label': label}
        draw_intervals(axis, found, **bar)


def _draw_singular_values(axis: Axes, result: xr.Dataset, kind: str) -> None:
    """A line for each block; later blocks have thinner lines."""
    index = np.arange(result.sizes['rank']) + 1
    for size in result['size'].values:
        here = result.sel(size=size)
        label = f'γ {here.extreme.item():g}'
        if size:
            label = f'{size} init. ({label})'
        for layer, values in enumerate(here.singular):
            width = 1.5 / (1 + layer)
            axis.plot(index, values, color=SIZES[size], lw=width, label=label)
            label = None  # one entry of the legend for all blocks
    axis.set(yscale='log', title=f'singular values, {kind}')
