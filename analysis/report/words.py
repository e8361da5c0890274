"""The words of a sweep's task, of what it measures, and of its unseen pair.

A task without a row in questions.py is shown under its own names.
"""

import types
from typing import NamedTuple

from analysis.members.measures import LOSS, TOKENS, Measure
from analysis.members.selection import list_varying
from analysis.report.questions import AXES, OTHER_SPLIT, SPLITS, WORDS, TaskWords
from anchorjax.storage.reader import Run
from anchorjax.tasks import anchors


class UnseenPair(NamedTuple):
    """The pair of anchors that networks are tested on, and the two answers to it."""

    pair: str  # '(4, 3)'
    inferential: str  # 'x − 10'
    symmetric: str  # 'x − 6'
    because: str  # why that answer is symmetric


def find_words(run: Run) -> TaskWords:
    """The words of a sweep's task; of one without a row, its own names.

    A sweep without the probe that its task is about, and a task without a row, are
    about their last probe.
    """
    config = run.experiment.task
    probes = run.results.probe.values.tolist()
    words = WORDS.get(config.name)
    if words is None:
        names = ', '.join(probe.replace('_', ' ') for probe in probes)
        question = f'Networks learn the task {config.name}. They are asked: {names}.'
        return TaskWords(question, tested=probes[-1], probes={})
    facts = _collect_facts(run)
    split = SPLITS.get(getattr(facts, 'split', ''), OTHER_SPLIT)
    question = words.question.format(task=facts, split=split)
    tested = words.tested if words.tested in probes else probes[-1]
    names = {}
    for probe, (short, long) in words.probes.items():
        names[probe] = (short, long.format(task=facts))
    return words._replace(question=question, tested=tested, probes=names)


def explain_axes(run: Run) -> list[str]:
    """A sentence for every axis that varies and needs one."""
    return [AXES[axis] for axis in list_varying(run.experiment.axes) if axis in AXES]


def name_measure(words: TaskWords, measure: Measure, trained: str) -> tuple[str, str]:
    """(short name, what the number is) of a measure: ('test', 'Share of right ...')."""
    plain = measure.probe.replace('_', ' ')
    short, long = words.probes.get(measure.probe, (plain, plain))
    if measure.source == LOSS:
        return f'{short}: loss', f'Loss on {long}, in nats a token'
    if measure.source == TOKENS:
        return f'{short}: tokens', f'Share of right tokens in answers to {long}'
    if measure.mapping == trained:
        return short, f'Share of right answers to {long}'
    plain = measure.mapping.replace('_', ' ')
    ending, rule = words.mappings.get(measure.mapping, (plain, f'follow {plain}'))
    return f'{short}, {ending}', f'Share of answers that {rule}: {long}'


def describe_unseen_pair(run: Run) -> UnseenPair | None:
    """The first unseen pair of a sweep of anchors; None if there is none.

    What the answers of all cohorts have in common is said once.
    """
    experiment = run.experiment
    tasks = [experiment.for_cohort(cohort).task for cohort in experiment.cohorts()]
    if not isinstance(tasks[0], anchors.AnchorsConfig) or not tasks[0].unseen_pairs:
        return None
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
    return UnseenPair(
        pair=f'({first}, {second})',
        inferential=' or '.join(answers['inferential']),
        symmetric=' or '.join(answers['symmetric']),
        because=reason,
    )


def _collect_facts(run: Run) -> types.SimpleNamespace:
    """The fields of the task's config; '0.5 or 0.7' where one is an axis."""
    facts = dict(vars(run.experiment.task))
    for path, values in run.experiment.loop:
        group, _, field = path.rpartition('.')
        if group == 'task':
            facts[field] = ' or '.join(str(value) for value in values)
    return types.SimpleNamespace(**facts)
