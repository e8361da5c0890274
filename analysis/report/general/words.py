"""The words of a sweep's task, its probes and its axes.

A task without a row in questions.py is shown under its own names.
"""

import types

from analysis.members.measures import LOSS, TOKENS, Measure
from analysis.p1.accuracy import list_varying
from analysis.report.general.questions import (
    AXES,
    OTHER_SPLIT,
    SPLITS,
    WORDS,
    TaskWords,
)
from anchorjax.storage.reader import Run


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


def _collect_facts(run: Run) -> types.SimpleNamespace:
    """The fields of the task's config; '0.5 or 0.7' where one is an axis."""
    facts = dict(vars(run.experiment.task))
    for path, values in run.experiment.loop:
        group, _, field = path.rpartition('.')
        if group == 'task':
            facts[field] = ' or '.join(str(value) for value in values)
    return types.SimpleNamespace(**facts)


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
