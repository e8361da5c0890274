"""A sweep of any task as the page's data: what was trained, and what came out.

Only networks that may compose an unseen pair of anchors have solutions, a playground,
and a look inside; the page of any other task is the same without them.
"""

import time
from collections.abc import Callable
from typing import Any

from analysis.members.selection import choose_axis, list_varying
from analysis.report.members import describe_members, list_positions
from analysis.report.names import describe_axes, list_shown_axes, name_value
from analysis.report.outcome import describe_outcome, describe_settings
from analysis.report.provenance import collect_provenance
from analysis.report.subject import COLOURS, Subject
from analysis.report.words import explain_axes
from anchorjax.grid import TRACED_AXES, axis_label
from anchorjax.storage.reader import Run

# What the status of a member begins with: the words for it. A status that says
# 'trained' and no more is of a member that has converged.
_OUTCOMES = {
    'trained': 'converged',
    'not converged': 'not converged',
    'diverged': 'diverged',
    'not trained': 'not trained',
}
PANELS = ('answers', 'losses', 'groups')
ANCHOR_PANELS = ('answers', 'positions', 'losses', 'attention', 'embedding')


def collect(subject: Subject, report_progress: Callable[[str], None]) -> dict[str, Any]:
    """All of the payload of `page.render` but the playground, figures and claims."""
    run = subject.run
    axes = run.experiment.axes
    is_anchors = subject.unseen is not None
    members = describe_members(subject, report_progress)
    groups = [] if is_anchors else run.curves.group.values.tolist()
    return {
        'title': run.experiment.name,
        'created': time.strftime('%Y-%m-%d'),
        'summary': summarize(run, members),
        'question': subject.words.question,
        'unseen': subject.unseen._asdict() if is_anchors else None,
        'notes': _list_notes(subject),
        'axes': list_labels(run),
        'axis_words': describe_axes(run),
        'shown_axes': list_shown_axes(run),
        'row_axis': choose_row_axis(axes),
        'column_axis': choose_axis(axes),
        'probes': run.curves.probe.values.tolist(),
        'mappings': run.curves.mapping.values.tolist(),
        'positions': list_positions(subject),
        'record_steps': run.curves.step.values.tolist(),
        'readings': [one.describe() for one in subject.shown],
        'first_reading': subject.tested.name,
        'losses': _describe_losses(subject),
        'panels': ANCHOR_PANELS if is_anchors else PANELS,
        'groups': groups,
        'members': members,
        'outcome': describe_outcome(subject),
        'settings': describe_settings(subject),
        'provenance': collect_provenance(run),
    }


def list_labels(run: Run) -> dict[str, list[Any]]:
    """The labels of every axis."""
    labels = {}
    for axis, values in run.experiment.axes.items():
        labels[axis] = [axis_label(value) for value in values]
    return labels


def choose_row_axis(axes: dict[str, tuple]) -> str | None:
    """The axis to show upwards: the first static one that varies, or any that does."""
    column = choose_axis(axes)
    others = [axis for axis in list_varying(axes) if axis != column]
    for axis in others:
        if axis not in TRACED_AXES:
            return axis
    return others[0] if others else None


def summarize(run: Run, members: list[dict[str, Any]]) -> str:
    """How many networks there are, what became of them, and the axes that vary."""
    parts = [_count_outcomes(members)]
    axes = run.experiment.axes
    for axis in list_shown_axes(run):
        if len(axes[axis]) > 1:
            names = [name_value(run, axis, value) for value in axes[axis]]
            parts.append(', '.join(names))
    moved = int((run.results.environments > 1).sum())
    if moved:
        parts.append(f'{moved} were trained in several environments, one after another')
    return '; '.join(parts)


def _count_outcomes(members: list[dict[str, Any]]) -> str:
    """'4 networks, 3 converged, 1 not converged': what there is."""
    parts = ['1 network' if len(members) == 1 else f'{len(members)} networks']
    for status, words in _OUTCOMES.items():
        count = sum(member['status'].startswith(status) for member in members)
        if count:
            parts.append(f'{count} {words}')
    return ', '.join(parts)


def _describe_losses(subject: Subject) -> list[dict[str, str]]:
    """The probes whose loss is a curve of the member view."""
    losses = []
    for number, probe in enumerate(subject.run.curves.probe.values.tolist()):
        short, _ = subject.words.probes.get(probe, (probe.replace('_', ' '), ''))
        style = f'probe-{number % COLOURS}'
        losses.append({'probe': probe, 'label': short, 'style': style})
    return losses


def _list_notes(subject: Subject) -> list[str]:
    """Sentences below the first table: what intervals, shares and axes are."""
    notes = explain_axes(subject.run)
    if subject.unseen is None:
        notes.insert(0, 'Below a mean is its 95 % interval over seeds, if three count.')
        if not subject.run.experiment.task.make().last_only:
            notes.append('An answer is right if all of it is.')
    return notes
