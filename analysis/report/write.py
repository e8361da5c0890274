"""The page of a run: collects what it shows, draws its figures, and writes it.

Only networks that may compose an unseen pair of anchors have solutions, a playground,
and a look inside; the page of any other task is the same without them.
"""

import pathlib
import time
from collections.abc import Callable
from typing import Any

from analysis.members.selection import choose_axis, list_varying
from analysis.report import page, pictures
from analysis.report.choose import choose_networks
from analysis.report.claims import check_claims
from analysis.report.members import describe_members, list_positions
from analysis.report.names import describe_axes, list_shown_axes, name_value
from analysis.report.outcome import describe_outcome, describe_settings
from analysis.report.playground.describe import NO_PLAYGROUND, describe_playground
from analysis.report.playground.request import AUTO, parse_request
from analysis.report.provenance import collect_provenance
from analysis.report.subject import COLOURS, Subject, read_subject
from analysis.report.words import explain_axes
from anchorjax import files
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


def write_report(
    run: Run,
    path: pathlib.Path,
    report_progress: Callable[[str], None],
    playground: str = AUTO,
) -> None:
    """Writes the page to `path`, its figures to the folder `figures` beside it.

    Args:
      playground: the networks that answer in the page, as `parse_request` takes them.

    Raises:
      UserError: no member is trained yet, or there is no member such as `playground`
        names; StoreError: the page or a figure cannot be written.
    """
    request = parse_request(playground)
    subject = read_subject(run)
    choices = choose_networks(subject)
    networks = NO_PLAYGROUND
    if subject.unseen is not None:
        networks = describe_playground(subject, choices, request, report_progress)
    payload = collect(subject, report_progress)
    folder = path.with_name('figures')
    drawn = pictures.draw_all(subject, choices, folder, report_progress)
    payload |= {'playground': networks, 'claims': check_claims(run, path)}
    payload |= {'figures': drawn.sections, 'missing': drawn.missing}
    files.write_text(path, page.render(payload))


def collect(subject: Subject, report_progress: Callable[[str], None]) -> dict[str, Any]:
    """All of the payload of `page.render` but the playground, figures and claims."""
    run = subject.run
    axes = run.experiment.axes
    members = describe_members(subject, report_progress)
    payload = {
        'title': run.experiment.name,
        'created': time.strftime('%Y-%m-%d'),
        'summary': summarize(run, members),
        'question': subject.words.question,
        'unseen': None,
        'axis_notes': explain_axes(run),
        'answers_are_texts': not run.experiment.task.make().last_only,
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
        'panels': PANELS,
        'groups': run.curves.group.values.tolist(),
        'members': members,
        'outcome': describe_outcome(subject),
        'settings': describe_settings(subject),
        'provenance': collect_provenance(run),
    }
    if subject.unseen is not None:
        payload |= {'unseen': subject.unseen._asdict(), 'answers_are_texts': False}
        payload |= {'panels': ANCHOR_PANELS, 'groups': []}
    return payload


def list_labels(run: Run) -> dict[str, list[Any]]:
    """The labels of every axis."""
    labels = {}
    for axis, values in run.experiment.axes.items():
        labels[axis] = list(map(axis_label, values))
    return labels


def choose_row_axis(axes: dict[str, tuple]) -> str | None:
    """The axis to show upwards: the first static one that varies, or any that does."""
    others = list_varying(axes)
    if choose_axis(axes) in others:
        others.remove(choose_axis(axes))
    for axis in others:
        if axis not in TRACED_AXES:
            return axis
    return next(iter(others), None)


def summarize(run: Run, members: list[dict[str, Any]]) -> str:
    """How many networks there are, what became of them, and the axes that vary."""
    parts = [_count_outcomes(members)]
    for axis, values in run.experiment.axes.items():
        if len(values) > 1:
            names = [name_value(run, axis, value) for value in values]
            parts.append(', '.join(names))
    moved = int((run.results.environments > 1).sum())
    if moved:
        parts.append(f'{moved} were trained in several environments, one after another')
    return '; '.join(parts)


def _count_outcomes(members: list[dict[str, Any]]) -> str:
    """'4 networks, 3 converged, 1 not converged': what there is."""
    counts = dict.fromkeys(_OUTCOMES.values(), 0)
    for member in members:
        for status, words in _OUTCOMES.items():
            counts[words] += member['status'].startswith(status)
    parts = [f'{len(members)} networks']
    if len(members) == 1:
        parts = ['1 network']
    for words, count in counts.items():
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
