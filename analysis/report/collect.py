"""A run as the page's data: what was trained, and what every member does."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr

from analysis.members.selection import find_row_axis, find_usable
from analysis.report.member_data import describe_members
from analysis.report.provenance import collect_provenance
from anchorjax.config.grid import TRACED_AXES, axis_label
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run
from anchorjax.tasks import anchors

TIE_BREAK = 1e-3  # weight of held-out agreement where two members score alike


def collect(run: Run, report_progress: Callable[[str], None]) -> dict[str, Any]:
    """All of the payload of `page.render` but the figures and the claims."""
    axes = {}
    for axis, values in run.experiment.axes.items():
        axes[axis] = [axis_label(value) for value in values]
    members = describe_members(run, report_progress)
    return {
        'title': run.experiment.name,
        'created': time.strftime('%Y-%m-%d'),
        'summary': _summarize(run, members),
        'unseen': _describe_unseen_pair(run.experiment.task),
        'axes': axes,
        'row_axis': find_row_axis(run.experiment.axes),
        'column_axis': 'gamma',
        'probes': run.curves.probe.values.tolist(),
        'mappings': run.curves.mapping.values.tolist(),
        'record_steps': run.curves.step.values.tolist(),
        'members': members,
        'provenance': collect_provenance(run),
    }


def choose_members(run: Run) -> dict[str, dict[str, Any]]:
    """Points of the most inferential and of the most symmetric member.

    Both have the same architecture. Held-out agreement breaks ties.

    Raises:
      UserError: no member is trained yet, or the task has no unseen pair.
    """
    workdir = run.folder.workdir
    if not run.experiment.task.unseen:
        raise UserError(f'{workdir}: task.unseen = (): the report needs an unseen pair')
    trained = find_usable(run)
    if not trained.any():
        raise UserError(f'{workdir}: no member is trained yet')
    # Not .where(trained): xarray takes an array with an axis called keys for a dict.
    factor = trained.copy(data=np.where(trained.values, 1.0, np.nan))
    agreement = run.results.agreement * factor
    heldout = agreement.sel(probe='seen_heldout', mapping='assigned').fillna(0)
    unseen = agreement.sel(probe='unseen')
    scores = unseen.sel(mapping='inferential') + TIE_BREAK * heldout
    inferential = _find_highest(run, scores)
    scores = unseen.sel(mapping='symmetric') + TIE_BREAK * heldout
    for axis, values in run.experiment.axes.items():
        if axis not in TRACED_AXES:
            scores = scores.isel({axis: values.index(inferential[axis])})
    symmetric = inferential | _find_highest(run, scores)
    return {'inferential': inferential, 'symmetric': symmetric}


def _find_highest(run: Run, scores: xr.DataArray) -> dict[str, Any]:
    """The point of the highest score along the axes that `scores` has."""
    indices = scores.argmax(...)
    point = {}
    for axis, values in run.experiment.axes.items():
        if axis in indices:
            point[axis] = values[int(indices[axis])]
    return point


def _describe_unseen_pair(task: anchors.AnchorsConfig) -> dict[str, str]:
    """The first unseen pair, the answers to it, and why one of them is symmetric."""
    first, second = task.unseen[0]
    row = anchors.pairs(task).tolist().index([first, second])
    shifts = anchors.mapping_shifts(task)[row].tolist()
    answers = {}
    for mapping, shift in zip(anchors.MAPPINGS, shifts, strict=True):
        sign = '−' if shift < 0 else '+'
        answers[mapping] = f'x {sign} {abs(shift)}'
    reverse = f'({second}, {first})'
    reason = f'the reversed pair {reverse} was trained with this answer'
    if (second, first) in task.unseen:
        reason = f'it treats the reversed pair {reverse} in the same way'
    return {
        'pair': f'({first}, {second})',
        'inferential': answers['inferential'],
        'symmetric': answers['symmetric'],
        'because': reason,
    }


def _summarize(run: Run, members: list[dict[str, Any]]) -> str:
    """How many networks there are, what became of them, and the axes that vary."""
    counts = {'trained': 0, 'diverged': 0, 'not trained': 0}
    for member in members:
        for status in counts:
            if member['status'].startswith(status):
                counts[status] += 1
    parts = [f'{len(members)} networks']
    parts += [f'{count} {status}' for status, count in counts.items()]
    axes = []
    for axis, values in run.experiment.axes.items():
        if len(values) > 1:
            axes.append(f'{axis.replace("_", " ")} {", ".join(map(str, values))}')
    summary = f'{", ".join(parts)}; {" × ".join(axes)}'
    moved = int((run.results.environments > 1).sum())
    if moved:
        summary += f'; {moved} were trained in several environments, one after another'
    return summary
