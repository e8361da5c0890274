"""Decay against gamma or against the rate: P3 Figs 3 and 5 C, P1 Figs 14 to 16.

Across goes gamma, or the learning rate in a sweep with one gamma; upwards the weight
decay. Every cell is the mean over seeds. Agreement with the inferential mapping is read
at the last step and, as in P3, as the maximum over all records: an oracle, which stops
each network when it answers the test best. The phases of P3, by our thresholds, of
which the first that fits is taken:

  3    reasoning: inferential >= 0.9 on the unseen pair, and held-out >= 0.9
  1    held-out < 0.9: it does not generalize on seen pairs
  2b   the unseen pair and its reverse get the same answer in >= 0.9 of sequences
  2a   they do not

P3 takes held-out questions of one pair, and the maximum over epochs.

  python -m analysis decay_map --run runs/decay
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
import xarray as xr

from analysis.drawing import style
from analysis.members.commutativity import measure_commutativity
from analysis.members.member import Member, member_of
from analysis.members.point import complete_point
from analysis.members.selection import (
    find_column_axis,
    find_usable,
    report_progress,
    require_task,
)
from analysis.p1 import condensation, embedding
from analysis.spectra.measures import stable_rank
from analysis.vectors import groups, order
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

TITLE = 'Decay, γ and rate'
PAPER = 'P3 Figs 3, 5 C; P1 Figs 14 to 16'
CAPTION = (
    'Answers to unseen pairs, and complexity, by weight decay and γ or learning rate; '
    'every cell is the mean over seeds.'
)


READINGS = (
    'held-out',
    'inferential',
    'inferential, best record',
    'commutativity',
    'chance of that',
    'stable rank',
    'directions of W_Q',
    'order of the embedding',
)
SHARES = (*READINGS[:4], 'order of the embedding')  # the others are 1 or more
PHASES = ('1', '2a', '2b', '3')
ENOUGH = 0.9  # of every threshold of the phases


class Result(NamedTuple):
    """Arrays over [decay Y, column X, seed S]; NaN where there is no member."""

    column_name: str
    column_X: np.ndarray
    decay_Y: np.ndarray
    seed_S: np.ndarray
    fixed: dict[str, Any]  # value of every axis that is not shown
    matrix: str  # whose stable rank it is
    reading_NYXS: np.ndarray  # along READINGS
    phase_YXS: np.ndarray  # index into PHASES; NaN without a member
    train_loss_YXS: np.ndarray
    converged_YXS: np.ndarray  # bool

    def read(self, name: str) -> np.ndarray:
        """One reading, [Y, X, S]."""
        return self.reading_NYXS[READINGS.index(name)]


def compute(
    run: Run,
    matrix: Annotated[str, 'of the stable rank'] = condensation.MATRIX,
    **point,
) -> Result:
    """Reads curves and the last snapshot of every trained member at `point`.

    Raises:
      UserError: a task without an unseen pair of two anchors, no such axis or matrix,
        or no trained member.
    """
    require_task(run, ('anchors',), "task 'anchors'")
    axes = dict(run.experiment.axes)
    column_name = find_column_axis(axes)
    rising = ['weight_decay', column_name]
    shown = (*rising, 'seed')
    for axis in rising:  # claims compare the first and the last; a grid has any order
        axes[axis] = tuple(sorted(axes[axis]))
    fixed = {}
    for axis, values in axes.items():
        if axis not in shown:
            fixed[axis] = point.pop(axis, values[0])
    if point:
        raise UserError(
            f'--{min(point)}: the map shows all its values, or no such axis'
        )
    shape = tuple(len(axes[axis]) for axis in shown)
    readings = np.full((len(READINGS), *shape), np.nan)
    phases = np.full(shape, np.nan)
    results = run.results.sel(run.labels(**fixed)).sortby(rising)
    results = results.transpose(*shown, ...)
    is_usable = find_usable(run).sel(run.labels(**fixed)).sortby(rising)
    is_usable = is_usable.transpose(*shown).values
    if not is_usable.any():
        raise UserError('no member of this map is trained yet')
    usable = np.argwhere(is_usable).tolist()
    for index in report_progress(usable, 'decay_map'):
        values = [axes[axis][i] for axis, i in zip(shown, index, strict=True)]
        place = complete_point(run, fixed | dict(zip(shown, values, strict=True)))
        member = member_of(run, **place)
        numbers = _read_curves(run.curves.sel(run.labels(**place)))
        numbers |= _read_member(member, matrix)
        readings[:, *index] = [numbers[name] for name in READINGS]
        phases[tuple(index)] = find_phase(
            numbers['held-out'], numbers['inferential'], numbers['commutativity']
        )
    return Result(
        column_name=column_name,
        column_X=np.array(axes[column_name]),
        decay_Y=np.array(axes['weight_decay']),
        seed_S=np.array(axes['seed']),
        fixed=fixed,
        matrix=matrix,
        reading_NYXS=readings,
        phase_YXS=phases,
        train_loss_YXS=results.train_loss.values,
        converged_YXS=results.converged.values & is_usable,
    )


def find_phase(heldout: float, inferential: float, commutativity: float) -> int:
    """The phase as an index into PHASES; agreements are recorded in float32."""
    numbers = np.float32([heldout, inferential, commutativity])
    generalizes, composes, commutes = (numbers >= np.float32(ENOUGH)).tolist()
    if generalizes and composes:
        return PHASES.index('3')
    if not generalizes:
        return PHASES.index('1')
    return PHASES.index('2b' if commutes else '2a')


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [2, 4]; a dot marks cells of which a seed has not converged."""
    decays = [f'{decay:g}' for decay in result.decay_Y]
    for axis, name in zip(axes.flat, READINGS, strict=True):
        if name == 'chance of that':
            _draw_phases(axis, result)
        else:
            _draw_reading(axis, result, name)
        axis.invert_yaxis()
        style.label_grid(axis, result.column_X, decays)
        _mark_open_cells(axis, result)
    symbol = 'γ' if result.column_name == 'gamma' else 'learning rate'
    for axis in axes[-1]:
        axis.set_xlabel(symbol)
    for axis in axes[:, 0]:
        axis.set_ylabel('weight decay')
    axes[0, 0].figure.suptitle(
        f'means over {len(result.seed_S)} seeds; red: a seed has not converged', size=7
    )


def _draw_phases(axis: style.Axes, result: Result) -> None:
    """The median phase; it takes the place of a reading that is a null."""
    phase_YX = np.nanmedian(result.phase_YXS, axis=-1)
    style.draw_heatmap(axis, phase_YX, 'viridis_r', (0, 3))
    axis.set_title('median phase (0: 1, 1: 2a, 2: 2b, 3: 3)', fontsize=7)


def _draw_reading(axis: style.Axes, result: Result, name: str) -> None:
    """Shares in blue, from 0 to 1; numbers that are at least 1 in grey."""
    mean_YX = np.nanmean(result.read(name), axis=-1)
    if name in SHARES:
        style.draw_heatmap(axis, mean_YX, 'Blues', (0, 1))
    else:
        largest = max(np.nanmax(mean_YX), 1.01)
        style.draw_heatmap(axis, mean_YX, 'Greys', (1, largest))
    title = name
    if name == 'stable rank':
        title = f'{name}, {result.matrix}'
    axis.set_title(title)


def _mark_open_cells(axis: style.Axes, result: Result) -> None:
    """A dot in the corner of the cells of which a seed has not converged."""
    is_open_YX = ~result.converged_YXS.all(-1)
    for y, x in np.argwhere(is_open_YX):
        axis.plot(x + 0.4, y + 0.4, '.', ms=3, color='C3')


def layout(result: Result) -> style.Layout:
    height = 1.0 + 0.35 * len(result.decay_Y)
    return style.Layout(2, 4, 10.0, 2 * height)


def _read_curves(member: xr.Dataset) -> dict[str, float]:
    """Agreements at the last record, and the best of all records."""
    heldout = member.agreement.sel(probe='seen_heldout', mapping='assigned')
    if 'unseen' not in member.probe.values:
        raise UserError('decay_map: the task has no unseen pair')
    inferential = member.agreement.sel(probe='unseen', mapping='inferential')
    return {
        'held-out': float(heldout.values[-1]),
        'inferential': float(inferential.values[-1]),
        'inferential, best record': float(np.nanmax(inferential.values)),
    }


def _read_member(member: Member, matrix: str) -> dict[str, float]:
    """What the last snapshot shows."""
    commutes = measure_commutativity(member)
    W_Q = member.matrix(condensation.MATRIX)
    condensed = groups.measure_condensation(W_Q, condensation.THRESHOLD)
    W_embed = member.matrix(embedding.MATRIX)
    tokens = embedding.check_items(member.experiment.task, W_embed, None)
    return {
        'commutativity': commutes.equal,
        'chance of that': commutes.chance,
        'stable rank': stable_rank(member.matrix(matrix)),
        'directions of W_Q': condensed['directions'],
        'order of the embedding': order.measure_order(W_embed[tokens])['rho'],
    }
