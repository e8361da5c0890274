"""A sweep of any task as the page's data."""

import shlex
import time
from collections.abc import Callable
from typing import Any

from analysis.accuracy import choose_axis, list_varying
from analysis.members.measures import AGREEMENT, TOKENS, Counted, count_members
from analysis.report.collect import list_axes, summarize
from analysis.report.general.member_data import describe_members
from analysis.report.general.outcome import describe_outcome
from analysis.report.general.questions import TaskWords
from analysis.report.general.settings import describe_settings
from analysis.report.general.shown import Shown, find_tested, list_shown
from analysis.report.general.words import explain_axes, find_words
from analysis.report.provenance import collect_provenance
from anchorjax.config.grid import TRACED_AXES
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run
from anchorjax.tasks.anchors_config import AnchorsConfig


def collect_general(run: Run, report_progress: Callable[[str], None]) -> dict[str, Any]:
    """All of the payload of `page.render` but the figures.

    Raises:
      UserError: no member is trained yet.
    """
    words = find_words(run)
    counted = count_members(run)
    if not counted.is_counted.any():
        raise UserError(f'{run.folder.workdir}: no member is trained yet')
    shown = list_shown(run, words)
    tested = find_tested(shown, words)
    left_out = explain_left_out(run)
    report_progress(f'playground: {left_out}')
    members = describe_members(run, shown, counted)
    return {
        'title': run.experiment.name,
        'created': time.strftime('%Y-%m-%d'),
        'summary': summarize(run, members, counted.criterion),
        'axes': list_axes(run),
        'row_axis': choose_row_axis(run.experiment.axes),
        'column_axis': choose_axis(run.experiment.axes),
        'probes': run.curves.probe.values.tolist(),
        'mappings': run.curves.mapping.values.tolist(),
        'positions': [],
        'record_steps': run.curves.step.values.tolist(),
        'readings': [one.describe() for one in shown],
        'first_reading': tested.measure.name,
        'losses': _describe_losses(run, words),
        'panels': ['answers', 'losses', 'groups'],
        'groups': run.curves.group.values.tolist(),
        'unseen': None,
        'general': _describe_page(run, words, shown, counted, left_out),
        'members': members,
        'playground': {'missing': left_out, 'networks': [], 'tasks': []},
        'outcome': describe_outcome(run, shown, tested, counted),
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


def _describe_losses(run: Run, words: TaskWords) -> list[dict[str, str]]:
    """The probes whose loss is a curve of the member view."""
    losses = []
    for number, probe in enumerate(run.curves.probe.values.tolist()):
        short, _ = words.probes.get(probe, (probe.replace('_', ' '), ''))
        losses.append({'probe': probe, 'label': short, 'style': f'probe-{number % 6}'})
    return losses


def _describe_page(
    run: Run,
    words: TaskWords,
    shown: list[Shown],
    counted: Counted,
    left_out: str,
) -> dict[str, Any]:
    """What the templates of this page need besides the outcome."""
    sources = {one.measure.source for one in shown}
    return {
        'question': words.question,
        'axes': explain_axes(run),
        'left_out': left_out,
        'baselines': '',  # once the figures are drawn
        'claims': words.claims.format(run=shlex.quote(str(run.folder.workdir))),
        'is_text': {AGREEMENT, TOKENS} <= sources,
        'settings': describe_settings(run, shown, counted),
    }
