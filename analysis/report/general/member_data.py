"""Every network of a task as the page shows it: its state, its numbers, its curves."""

from typing import Any

import numpy as np
import xarray as xr

from analysis.members.measures import TOKENS, Counted, read_measure
from analysis.members.selection import iterate_points
from analysis.report.digits import shorten
from analysis.report.general.shown import Shown
from analysis.report.member_data import DIGITS, SERIES
from anchorjax.grid import axis_label
from anchorjax.storage.reader import Run

# Of a network of the anchor task; the page's parts that show them are left out.
NOTHING = dict.fromkeys(('solution', 'answer', 'by_position', 'attention', 'embedding'))


def describe_members(
    run: Run, shown: list[Shown], counted: Counted
) -> list[dict[str, Any]]:
    """One entry per member, in the order of the grid."""
    names = [*SERIES]
    if any(one.measure.source == TOKENS for one in shown):
        names.append(TOKENS)
    measured = {'training loss': run.results.train_loss}
    for one in shown:
        measured[one.label] = read_measure(run.results, one.measure)
    members = []
    for index, point in iterate_points(run):
        labels = {axis: axis_label(value) for axis, value in point.items()}
        member = {'point': labels, 'status': _describe_status(run, counted, index)}
        numbers = {name: float(v.values[index]) for name, v in measured.items()}
        member |= NOTHING | {'numbers': shorten(numbers, DIGITS)}
        for name in names:
            member[name] = _read_curves(run.curves[name], index)
        member['by_group'] = _read_groups(run, index)
        members.append(member)
    return members


def _describe_status(run: Run, counted: Counted, index: tuple[int, ...]) -> str:
    """'trained', 'not trained', 'diverged at ...' or 'not converged (...)'."""
    diverged = int(run.results.diverged.values[index])
    if diverged >= 0:
        return f'diverged at step {diverged}'
    if not counted.is_trained.values[index]:
        return 'not trained'
    if counted.is_converged.values[index]:
        return 'trained'
    loss = float(counted.loss.values[index])
    return f'not converged ({counted.loss_name} {loss:.2g})'


def _read_curves(cube: xr.DataArray, index: tuple[int, ...]) -> Any:
    """[..., S]: the recorded steps are last."""
    return shorten(np.moveaxis(cube.values[index], 0, -1), DIGITS)


def _read_groups(run: Run, index: tuple[int, ...]) -> list | None:
    """Agreement [P, G] with what is trained; None for a task without groups."""
    if not run.results.sizes['group']:
        return None
    trained = run.experiment.task.make().trained_mapping
    by_group = run.results.agreement_by_group.sel(mapping=trained)
    return shorten(by_group.transpose(..., 'probe', 'group').values[index], DIGITS)
