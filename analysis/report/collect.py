"""A run as the page's data: what was trained, and what every member does."""

import time
from collections.abc import Callable
from typing import Any

from analysis.members.selection import find_row_axis
from analysis.report.member_data import describe_members, list_positions
from analysis.report.provenance import collect_provenance
from anchorjax.config.grid import axis_label
from anchorjax.storage.reader import Run
from anchorjax.tasks import anchors


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
        'positions': list_positions(run),
        'record_steps': run.curves.step.values.tolist(),
        'members': members,
        'provenance': collect_provenance(run),
    }


def _describe_unseen_pair(task: anchors.AnchorsConfig) -> dict[str, str]:
    """The first unseen pair, the answers to it, and why one of them is symmetric."""
    first, second = task.unseen_pairs[0]
    row = anchors.pairs(task).tolist().index([first, second])
    shifts = anchors.mapping_shifts(task)[row].tolist()
    answers = {}
    for mapping, shift in zip(anchors.MAPPINGS, shifts, strict=True):
        sign = '−' if shift < 0 else '+'
        answers[mapping] = f'x {sign} {abs(shift)}'
    reverse = f'({second}, {first})'
    reason = f'the reversed pair {reverse} was trained with this answer'
    if (second, first) in task.unseen_pairs:
        reason = f'it treats the reversed pair {reverse} in the same way'
    return {
        'pair': f'({first}, {second})',
        'inferential': answers['inferential'],
        'symmetric': answers['symmetric'],
        'because': reason,
    }


def _summarize(run: Run, members: list[dict[str, Any]]) -> str:
    """How many networks there are, what became of them, and the axes that vary."""
    counts = {'trained': 0, 'not converged': 0, 'diverged': 0, 'not trained': 0}
    for member in members:
        for status in counts:
            if member['status'].startswith(status):
                counts[status] += 1
    counts = {'converged': counts.pop('trained')} | counts
    parts = [f'{len(members)} networks']
    parts += [f'{count} {name}' for name, count in counts.items()]
    axes = []
    for axis, values in run.experiment.axes.items():
        if len(values) > 1:
            axes.append(f'{axis.replace("_", " ")} {", ".join(map(str, values))}')
    summary = f'{", ".join(parts)}; {" × ".join(axes)}'
    limit = run.experiment.train.converged_loss
    summary += f'; converged: train loss at most {limit:g}'
    moved = int((run.results.environments > 1).sum())
    if moved:
        summary += f'; {moved} were trained in several environments, one after another'
    return summary
