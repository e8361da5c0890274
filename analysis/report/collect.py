"""A run as the page's data: what was trained, and what every member does."""

import time
from collections.abc import Callable
from typing import Any

from analysis.members.selection import find_row_axis
from analysis.members.solution import UNSEEN_MAPPINGS
from analysis.report.member_data import describe_members, list_positions
from analysis.report.provenance import collect_provenance
from anchorjax.grid import axis_label
from anchorjax.storage.reader import Run
from anchorjax.tasks import anchors

HELDOUT = {
    'name': 'heldout',
    'label': 'held-out',
    'line': 'held-out',
    'says': 'Share of right answers about trained pairs, for numbers x that were held '
    'out',
    'style': 'heldout',
    'source': 'agreement',
    'probe': 'seen_heldout',
    'mapping': 'assigned',
}
LOSSES = [
    {'probe': 'seen_heldout', 'label': 'held-out', 'style': 'loss-seen_heldout'},
    {'probe': 'unseen', 'label': 'unseen pair', 'style': 'loss-unseen'},
]
# What the status of a member begins with: the words for it. A status that says
# 'trained' and no more is of a member that has converged.
_OUTCOMES = {
    'trained': 'converged',
    'not converged': 'not converged',
    'diverged': 'diverged',
    'not trained': 'not trained',
}
PANELS = ['answers', 'positions', 'losses', 'attention', 'embedding']


def collect(run: Run, report_progress: Callable[[str], None]) -> dict[str, Any]:
    """All of the payload of `page.render` but the figures and the claims."""
    members = describe_members(run, report_progress)
    criterion = f'train loss at most {run.experiment.train.converged_loss:g}'
    experiment = run.experiment
    tasks = [experiment.for_cohort(cohort).task for cohort in experiment.cohorts()]
    unseen = describe_unseen_pair(tasks)
    readings = list_readings(unseen, run.curves.probe.values.tolist())
    return {
        'title': run.experiment.name,
        'created': time.strftime('%Y-%m-%d'),
        'summary': summarize(run, members, criterion),
        'unseen': unseen,
        'axes': list_axes(run),
        'row_axis': find_row_axis(run.experiment.axes),
        'column_axis': 'gamma',
        'probes': run.curves.probe.values.tolist(),
        'mappings': run.curves.mapping.values.tolist(),
        'positions': list_positions(run),
        'record_steps': run.curves.step.values.tolist(),
        'readings': readings,
        'first_reading': readings[0]['name'],
        'losses': LOSSES,
        'panels': PANELS,
        'groups': [],
        'general': None,
        'members': members,
        'provenance': collect_provenance(run),
    }


def list_readings(unseen: dict[str, str], probes: list[str]) -> list[dict[str, str]]:
    """What the colours of the diagram and the curves of answers show."""
    readings = []
    for mapping in UNSEEN_MAPPINGS:
        reading = {
            'name': mapping,
            'label': mapping,
            'line': f'{mapping} on the unseen pair',
            'says': f'Share of answers to the unseen pair that are {unseen[mapping]}',
            'style': mapping,
            'source': 'agreement',
            'probe': 'unseen',
            'mapping': mapping,
        }
        readings.append(reading)
    readings.append(HELDOUT)
    return [reading for reading in readings if reading['probe'] in probes]


def describe_unseen_pair(tasks: list[anchors.AnchorsConfig]) -> dict[str, str]:
    """The first unseen pair, the answers to it, and why one of them is symmetric.

    Args:
      tasks: of all cohorts; what they have in common is said once.
    """
    first, second = tasks[0].unseen_pairs[0]
    reverse = f'({second}, {first})'
    answers = {mapping: [] for mapping in anchors.MAPPINGS}
    is_reverse_trained = set()
    for task in tasks:
        if (first, second) not in task.unseen_pairs:
            continue
        is_reverse_trained.add((second, first) not in task.unseen_pairs)
        row = anchors.find_row(task, (first, second))
        shifts = anchors.list_shifts(task)[row].tolist()
        for mapping, shift in zip(anchors.MAPPINGS, shifts, strict=True):
            answer = f'x {"−" if shift < 0 else "+"} {abs(shift)}'
            if answer not in answers[mapping]:
                answers[mapping].append(answer)
    reason = f'it treats the reversed pair {reverse} in the same way'
    if is_reverse_trained == {True}:
        reason = f'the reversed pair {reverse} was trained with this answer'
    elif True in is_reverse_trained:
        reason += ', which some of the networks were trained on'
    return {
        'pair': f'({first}, {second})',
        'inferential': ' or '.join(answers['inferential']),
        'symmetric': ' or '.join(answers['symmetric']),
        'because': reason,
    }


def list_axes(run: Run) -> dict[str, list[Any]]:
    """The labels of every axis."""
    axes = {}
    for axis, values in run.experiment.axes.items():
        axes[axis] = [axis_label(value) for value in values]
    return axes


def summarize(run: Run, members: list[dict[str, Any]], criterion: str) -> str:
    """How many networks there are, what became of them, and the axes that vary."""
    parts = [_count_outcomes(members)]
    axes = _describe_axes(run)
    if axes:
        parts.append(axes)
    parts.append(f'converged: {criterion}')
    moved = int((run.results.environments > 1).sum())
    if moved:
        parts.append(f'{moved} were trained in several environments, one after another')
    return '; '.join(parts)


def _count_outcomes(members: list[dict[str, Any]]) -> str:
    """'4 networks, 3 converged, 1 not converged, 0 diverged, 0 not trained'."""
    parts = ['1 network' if len(members) == 1 else f'{len(members)} networks']
    for status, words in _OUTCOMES.items():
        count = sum(member['status'].startswith(status) for member in members)
        parts.append(f'{count} {words}')
    return ', '.join(parts)


def _describe_axes(run: Run) -> str:
    """'gamma 0.3, 0.8 × seed 0, 1': the axes with several values."""
    axes = []
    for axis, values in run.experiment.axes.items():
        if len(values) > 1:
            axes.append(f'{axis.replace("_", " ")} {", ".join(map(str, values))}')
    return ' × '.join(axes)
