"""A run as the page's data: what was trained, and what every member does."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

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
      UserError: no member is trained yet, or the task is not the anchor task with an
        unseen pair.
    """
    workdir = run.folder.workdir
    task = run.experiment.task
    if not isinstance(task, anchors.AnchorsConfig):
        raise UserError(f'{workdir}: task {task.name!r}: the report is for anchors')
    if not task.unseen:
        raise UserError(f'{workdir}: task.unseen = (): the report needs an unseen pair')
    is_usable = find_usable(run).values
    if not is_usable.any():
        raise UserError(f'{workdir}: no member is trained yet')
    inferential = _find_highest(run, 'inferential', is_usable)
    # The symmetric one has the static axes of the inferential one.
    for index, axis in enumerate(run.experiment.axes):
        if axis not in TRACED_AXES:
            is_other = np.arange(is_usable.shape[index]) != inferential[index]
            is_usable = is_usable.copy()
            np.moveaxis(is_usable, index, 0)[is_other] = False
    symmetric = _find_highest(run, 'symmetric', is_usable)
    return {
        'inferential': _point_at(run, inferential),
        'symmetric': _point_at(run, symmetric),
    }


def _find_highest(run: Run, mapping: str, is_usable: np.ndarray) -> tuple[int, ...]:
    """Index, along the axes, of the usable member that agrees most with a mapping.

    In NumPy: xarray takes an array with an axis called `keys` for a dict.
    """
    agreement = run.results.agreement
    unseen = agreement.sel(probe='unseen', mapping=mapping).values
    heldout = agreement.sel(probe='seen_heldout', mapping='assigned').values
    scores = unseen + TIE_BREAK * np.nan_to_num(heldout)
    scores = np.where(is_usable, scores, -np.inf)
    return np.unravel_index(scores.argmax(), scores.shape)


def _point_at(run: Run, index: tuple[int, ...]) -> dict[str, Any]:
    """The point of the member at an index along the axes."""
    point = {}
    for (axis, values), i in zip(run.experiment.axes.items(), index, strict=True):
        point[axis] = values[i]
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
