"""The words of a sweep's task, of what it measures, and of its unseen pair.

web/tasks.toml has a table of words for every task. A task that is not there is shown
under its own names.
"""

import functools
import pathlib
import tomllib
import types
from typing import NamedTuple

from analysis import frame
from analysis.members.measures import LOSS, TOKENS, Measure
from analysis.members.selection import list_varying
from anchorjax.storage.reader import Run
from anchorjax.tasks import anchors

WEB = pathlib.Path(__file__).parent / 'web'
# What an axis means, where its name does not say it.
AXES = {
    'gamma': 'γ is the initialization rate: a larger γ means smaller initial weights.',
    'num_examples': '“Examples” is the size of the training set (0: all there is).',
    'decay_window': 'A decay window is the steps in which weight decay acts, from the '
    'first number up to the second: () is all of training, (0, 0) none of it.',
}
FACTOR = 'γ is a factor of the initial weights: a larger γ means larger ones.'


class TaskWords(NamedTuple):
    """A table of web/tasks.toml."""

    question: str
    tested: str  # the eval set that the question is about
    eval_sets: dict[str, tuple[str, str]]  # {eval set: (short name, 'answers to ...')}
    mappings: dict[str, tuple[str, str]]  # not trained ones
    splits: dict[str, str]  # what they hold out


class UnseenPair(NamedTuple):
    """The pair of anchors that networks are tested on, and the two answers to it."""

    pair: str  # '(4, 3)'
    composed: str  # 'x − 10'
    symmetric: str  # 'x − 6'
    because: str  # why that answer is symmetric


@functools.cache
def read_words() -> dict[str, TaskWords]:
    """The words of every task; texts may name fields of its config, '{task.split}'."""
    tables = tomllib.loads((WEB / 'tasks.toml').read_text(encoding='utf-8'))
    words = {}
    for task, table in tables.items():
        table['question'] = ' '.join(table['question'].split())
        words[task] = TaskWords(**({'mappings': {}, 'splits': {}} | table))
    return words


def find_words(run: Run) -> TaskWords:
    """The words of a sweep's task; of one without any, its own names.

    A sweep without the eval set that its task is about, and a task without words, are
    about their last eval set.
    """
    config = run.experiment.task
    eval_sets = run.results.eval_set.values.tolist()
    words = read_words().get(config.name)
    if words is None:
        names = ', '.join(eval_sets).replace('_', ' ')
        question = f'Networks learn the task {config.name}. They are asked: {names}.'
        return TaskWords(question, eval_sets[-1], {}, {}, {})
    facts = _collect_facts(run)
    split = words.splits.get(getattr(facts, 'split', ''), words.splits.get('other'))
    names = {}
    for eval_set, (short, long) in words.eval_sets.items():
        names[eval_set] = (short, long.format(task=facts))
    question = words.question.format(task=facts, split=split)
    tested = eval_sets[-1]
    if words.tested in eval_sets:
        tested = words.tested
    return words._replace(question=question, tested=tested, eval_sets=names)


def explain_axes(run: Run) -> list[str]:
    """A sentence for every axis that varies and needs one."""
    words = dict(AXES)
    if not frame.is_rate(run):
        words['gamma'] = FACTOR
    varying = list_varying(run.experiment.axes)
    return [words[axis] for axis in varying if axis in words]


def name_measure(words: TaskWords, measure: Measure, trained: str) -> tuple[str, str]:
    """(short name, what the number is) of a measure: ('test', 'Share of right ...')."""
    plain = measure.eval_set.replace('_', ' ')
    short, long = words.eval_sets.get(measure.eval_set, (plain, plain))
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
    every = [experiment.for_cohort(cohort).task for cohort in experiment.cohorts()]
    tasks = [task for task in every if isinstance(task, anchors.AnchorsConfig)]
    if not tasks or not tasks[0].unseen_pairs:
        return None
    pair = tasks[0].unseen_pairs[0]
    reverse = pair[::-1]
    answers = {mapping: {} for mapping in anchors.MAPPINGS}  # ordered sets
    is_reverse_trained = set()
    for task in tasks:
        if pair not in task.unseen_pairs:
            continue
        is_reverse_trained.add(reverse not in task.unseen_pairs)
        shifts = anchors.list_shifts(task)[anchors.find_row(task, pair)].tolist()
        for mapping, shift in zip(anchors.MAPPINGS, shifts, strict=True):
            sign = '−' if shift < 0 else '+'
            answers[mapping][f'x {sign} {abs(shift)}'] = task
    reason = f'the reversed pair {reverse} was trained with this answer'
    if is_reverse_trained == {False}:
        reason = f'that would answer the reversed pair {reverse}, unseen as well'
    elif False in is_reverse_trained:
        reason += ' in some of the networks'
    return UnseenPair(
        pair=f'{pair}',
        composed=' or '.join(answers['composed']),
        symmetric=' or '.join(answers['symmetric']),
        because=reason,
    )


def _collect_facts(run: Run) -> types.SimpleNamespace:
    """The fields of the task's config; '0.5 or 0.7' where one is an axis."""
    facts = dict(vars(run.experiment.task))
    for path, values in run.experiment.static_axes:
        group, _, field = path.rpartition('.')
        if group == 'task':
            facts[field] = ' or '.join(map(str, values))
    return types.SimpleNamespace(**facts)
