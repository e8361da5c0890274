"""The members of a sweep that there is something to look into, and what each of them ends at."""

import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr

from analysis.members.member import full_point, label, varying
from anchorjax.config.grid import TRACED_AXES
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

OUTCOMES = ('inferential', 'symmetric', 'held-out')


def members(run: Run) -> Iterator[tuple[tuple[int, ...], dict[str, Any]]]:
    """(index along the axes, point) of every member that was trained and did not diverge."""
    there = usable(run).values
    return ((index, point) for index, point in every(run) if there[index])


def every(run: Run) -> Iterator[tuple[tuple[int, ...], dict[str, Any]]]:
    """(index along the axes, point) of every member of the grid, the last axis fastest."""
    axes = run.experiment.axes
    for index in np.ndindex(*map(len, axes.values())):
        yield index, {axis: axes[axis][i] for axis, i in zip(axes, index, strict=True)}


def usable(run: Run) -> xr.DataArray:
    """[axes of the sweep] whether there is something to look into: trained, not diverged."""
    return run.results.trained & (run.results.diverged < 0)


def missing(run: Run, point: dict[str, Any]) -> str:
    """Why there is nothing to look into at a whole point: '' when there is."""
    there = run.results.sel(point)
    if not there.trained:
        return 'not trained yet'
    return 'diverged' if there.diverged >= 0 else ''


def spans_from(run: Run, start: int) -> tuple[list[tuple[dict, int, int]], list[str]]:
    """([(point, its first snapshot from `start` on, its last)], a line for every other member).

    Raises:
      UserError: no member has two snapshots.
    """
    spans, left_out = [], []
    for _, point in every(run):
        steps = [step for step in run.steps(**point) if step >= start]
        if reason := missing(run, point) or (
            'a single snapshot' if len(steps) < 2 else ''
        ):
            left_out.append(f'{label(varying(run, point))}: {reason}')
        else:
            spans.append((point, steps[0], steps[-1]))
    if not spans:
        raise UserError(
            f'no member has a snapshot of its start and its end: {left_out[0]}'
        )
    return spans, left_out


def trained_gammas(run: Run, rest: dict) -> tuple[list[float], list[str]]:
    """(gammas with a member at `rest`, the other axes; a line for every gamma without one).

    Raises:
      UserError: no such axis or value, or none of the members is trained.
    """
    gammas, without = [], []
    for gamma in sorted(run.experiment.axes['gamma']):
        if reason := missing(run, full_point(run, rest | {'gamma': gamma})):
            without.append(f'γ {gamma:g} {reason}')
        else:
            gammas.append(gamma)
    if not gammas:
        raise UserError(
            f'no member at {label(varying(run, rest | {"gamma": 0}))} is trained'
        )
    return gammas, without


def row_axis(run: Run) -> str:
    """The axis a figure shows beside gamma: the first static one, else the weight decay."""
    static = (axis for axis in run.experiment.axes if axis not in TRACED_AXES)
    return next(static, 'weight_decay')


def outcomes(results: xr.Dataset) -> xr.DataArray:
    """[OUTCOMES, axes of the sweep]: agreement on the unseen pair, and on held-out seen pairs."""
    agreement = results.agreement
    unseen = [agreement.sel(probe='unseen', mapping=m, drop=True) for m in OUTCOMES[:2]]
    heldout = agreement.sel(probe='seen_heldout', mapping='assigned', drop=True)
    return xr.concat([*unseen, heldout], 'outcome')


def told(items: list, name: str) -> Iterator:
    """The items one by one; says on stderr how far it is, every five seconds."""
    said = time.monotonic()
    for i, item in enumerate(items):
        yield item
        if time.monotonic() - said > 5:
            said = time.monotonic()
            print(f'{name}: {i + 1} of {len(items)} members', file=sys.stderr)
