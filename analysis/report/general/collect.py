"""A sweep of any task as the page's data."""

import shlex
import time
from collections.abc import Callable
from typing import Any

from analysis.members.measures import AGREEMENT, TOKENS
from analysis.p1.accuracy import choose_axis, list_varying
from analysis.report.collect import list_axes, summarize
from analysis.report.general.member_data import describe_members
from analysis.report.general.outcome import describe_outcome
from analysis.report.general.settings import describe_settings
from analysis.report.general.subject import Subject
from analysis.report.general.words import explain_axes
from analysis.report.provenance import collect_provenance
from anchorjax.grid import TRACED_AXES
from anchorjax.storage.reader import Run
from anchorjax.tasks.anchors import AnchorsConfig


def collect_general(
    subject: Subject, report_progress: Callable[[str], None]
) -> dict[str, Any]:
    """All of the payload of `page.render` but the figures."""
    run = subject.run
    left_out = explain_left_out(run)
    report_progress(f'playground: {left_out}')
    members = describe_members(run, subject.shown, subject.counted)
    return {
        'title': run.experiment.name,
        'created': time.strftime('%Y-%m-%d'),
        'summary': summarize(run, members, subject.counted.criterion),
        'axes': list_axes(run),
        'row_axis': choose_row_axis(run.experiment.axes),
        'column_axis': choose_axis(run.experiment.axes),
        'probes': run.curves.probe.values.tolist(),
        'mappings': run.curves.mapping.values.tolist(),
        'positions': [],
        'record_steps': run.curves.step.values.tolist(),
        'readings': [one.describe() for one in subject.shown],
        'first_reading': subject.tested.measure.name,
        'losses': _describe_losses(subject),
        'panels': ['answers', 'losses', 'groups'],
        'groups': run.curves.group.values.tolist(),
        'unseen': None,
        'general': _describe_page(subject, left_out),
        'members': members,
        'playground': {'missing': left_out, 'networks': [], 'tasks': []},
        'outcome': describe_outcome(subject),
        'claims': [],
        'provenance': collect_provenance(run),
    }


def explain_left_out(run: Run) -> str:
    """What the page of the anchor task has and this one has not, in one sentence."""
    task = run.experiment.task
    why = f'this sweep trains the task {task.name}'
    if isinstance(task, AnchorsConfig):
        why = 'in this sweep every pair is trained (task.unseen = ())'
    return (
        'The playground, in which networks answer in the page, the figures of '
        'attention and of answers, and the claims about anchors are left out: they '
        f'are about an unseen pair of anchors, and {why}.'
    )


def choose_row_axis(axes: dict[str, tuple]) -> str | None:
    """The axis to show upwards: the first static one that varies, or any that does."""
    column = choose_axis(axes)
    others = [axis for axis in list_varying(axes) if axis != column]
    for axis in others:
        if axis not in TRACED_AXES:
            return axis
    return others[0] if others else None


def _describe_losses(subject: Subject) -> list[dict[str, str]]:
    """The probes whose loss is a curve of the member view."""
    losses = []
    for number, probe in enumerate(subject.run.curves.probe.values.tolist()):
        short, _ = subject.words.probes.get(probe, (probe.replace('_', ' '), ''))
        losses.append({'probe': probe, 'label': short, 'style': f'probe-{number % 6}'})
    return losses


def _describe_page(subject: Subject, left_out: str) -> dict[str, Any]:
    """What the templates of this page need besides the outcome."""
    run, words = subject.run, subject.words
    sources = {one.measure.source for one in subject.shown}
    return {
        'question': words.question,
        'axes': explain_axes(run),
        'left_out': left_out,
        'baselines': '',  # once the figures are drawn
        'claims': words.claims.format(run=shlex.quote(str(run.folder.workdir))),
        'is_text': {AGREEMENT, TOKENS} <= sources,
        'settings': describe_settings(subject),
    }
