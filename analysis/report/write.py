"""The page of a run: collects what it shows, draws its figures, and writes it.

Only networks that may compose an unseen pair of anchors have solutions, a playground,
and a look inside; the page of any other task is the same without them.
"""

import pathlib
import time
from collections.abc import Callable
from typing import Any

import pandas as pd

from analysis import frame
from analysis.members.selection import choose_axis, list_varying
from analysis.names import describe_axes, list_shown_axes, name_axis, name_value
from analysis.report import page, pictures
from analysis.report.choose import choose_networks
from analysis.report.claims import check_claims
from analysis.report.members import describe_members, list_positions
from analysis.report.outcome import MEANINGS, describe_outcome, describe_settings
from analysis.report.playground import NO_PLAYGROUND, describe_playground
from analysis.report.provenance import collect_provenance
from analysis.report.subject import COLOURS, Subject, read_subject
from analysis.report.words import explain_axes
from anchorjax import files
from anchorjax.grid import TRACED_AXES
from anchorjax.storage.reader import Run

PANELS = ('answers', 'losses', 'groups')
ANCHOR_PANELS = ('answers', 'positions', 'losses', 'attention', 'embedding')


def write_report(
    run: Run,
    path: pathlib.Path,
    report_progress: Callable[[str], None],
) -> None:
    """Writes the page to `path`, its figures to the folder `figures` beside it.

    Raises:
      UserError: no member is trained yet.
      StoreError: the page or a figure cannot be written.
    """
    subject = read_subject(run)
    choices = choose_networks(subject)
    networks = NO_PLAYGROUND
    if subject.unseen is not None:
        networks = describe_playground(subject, choices, report_progress)
    payload = collect(subject, report_progress)
    payload['data']['playground'] = networks
    folder = path.with_name('figures')
    figures, missing = pictures.draw_all(subject, choices, folder, report_progress)
    payload |= {'figures': figures, 'missing': missing}
    payload['claims'] = check_claims(run)
    files.write_text(path, page.render(payload))


def collect(subject: Subject, report_progress: Callable[[str], None]) -> dict[str, Any]:
    """All of the payload of `page.render` but the playground, figures and claims."""
    run = subject.run
    unseen = None
    is_text = not run.experiment.task.make().last_only
    if subject.unseen is not None:
        unseen = subject.unseen._asdict()
        is_text = False
    return {
        'title': name_page(subject),
        'created': time.strftime('%Y-%m-%d'),
        'summary': summarize(subject),
        'question': subject.words.question,
        'unseen': unseen,
        'axis_notes': explain_axes(run),
        'answers_are_texts': is_text,
        'outcome': describe_outcome(subject),
        'settings': describe_settings(subject),
        'provenance': collect_provenance(run),
        'data': {'unseen': unseen, **collect_data(subject, report_progress)},
    }


def name_page(subject: Subject) -> str:
    """'phase: 18 networks by depth, γ and seed': what was trained."""
    experiment = subject.run.experiment
    names = list(map(name_axis, list_varying(experiment.axes)))
    number = len(subject.points)
    title = f'{experiment.name}: {number} network{"" if number == 1 else "s"}'
    if names:
        listed = ' and '.join(filter(None, [', '.join(names[:-1]), names[-1]]))
        title += f' by {listed}'
    return title


def collect_data(
    subject: Subject, report_progress: Callable[[str], None]
) -> dict[str, Any]:
    """What the page's own script draws: the diagram and the member view."""
    run = subject.run
    axes = run.experiment.axes
    groups, panels = run.curves.group.values.tolist(), PANELS
    if subject.unseen is not None:
        groups, panels = [], ANCHOR_PANELS
    return {
        'axes': describe_axes(run),
        'is_rate': frame.is_rate(run),
        'shown_axes': list_shown_axes(run),
        'row_axis': choose_row_axis(axes),
        'column_axis': choose_axis(axes),
        'eval_sets': run.curves.eval_set.values.tolist(),
        'mappings': run.curves.mapping.values.tolist(),
        'positions': list_positions(subject),
        'record_steps': run.curves.step.values.tolist(),
        'readings': [one.describe() for one in subject.shown],
        'first_reading': subject.tested.name,
        'losses': _describe_losses(subject),
        'meanings': MEANINGS,
        'panels': panels,
        'groups': groups,
        'members': describe_members(subject, report_progress),
    }


def choose_row_axis(axes: dict[str, tuple]) -> str | None:
    """The axis to show upwards: the first static one that varies, or any that does."""
    others = list_varying(axes)
    if choose_axis(axes) in others:
        others.remove(choose_axis(axes))
    for axis in others:
        if axis not in TRACED_AXES:
            return axis
    return next(iter(others), None)


def summarize(subject: Subject) -> str:
    """How many networks there are, what became of them, and the axes that vary."""
    run = subject.run
    parts = [_count_outcomes(subject.members)]
    for axis, values in run.experiment.axes.items():
        if len(values) > 1:
            names = [name_value(run, axis, value) for value in values]
            parts.append(', '.join(names))
    moved = int((run.results.environments > 1).sum())
    if moved:
        parts.append(f'{moved} were trained in several environments, one after another')
    return '; '.join(parts)


def _count_outcomes(members: pd.DataFrame) -> str:
    """'4 networks, 3 converged, 1 not converged': what there is."""
    counts = {
        'converged': members.converged.sum(),
        'not converged': (members.usable & ~members.converged).sum(),
        'diverged': (members.trained & ~members.usable).sum(),
        'not trained': (~members.trained).sum(),
    }
    parts = [f'{len(members)} networks']
    if len(members) == 1:
        parts = ['1 network']
    for words, count in counts.items():
        if count:
            parts.append(f'{count} {words}')
    return ', '.join(parts)


def _describe_losses(subject: Subject) -> list[dict[str, str]]:
    """The curves of loss in the member view: that of every eval set.

    The loss on training examples is one of them, of a task that asks for some again;
    of any other task a curve of its own, of no eval set.
    """
    eval_sets = subject.run.curves.eval_set.values.tolist()
    trained = subject.run.experiment.task.make().trained_eval_sets
    losses = []
    if not set(trained) & set(eval_sets):
        losses.append({'eval_set': '', 'label': 'trained', 'style': 'train'})
    for number, eval_set in enumerate(eval_sets):
        short, _ = subject.words.eval_sets.get(
            eval_set, (eval_set.replace('_', ' '), '')
        )
        style = f'eval_set-{number % COLOURS}'
        losses.append({'eval_set': eval_set, 'label': short, 'style': style})
    return losses
