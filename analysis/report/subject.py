"""What a page is about: a sweep, the words for it, and its networks as a table."""

from typing import Any, NamedTuple

import pandas as pd

from analysis import frame
from analysis.members.measures import AGREEMENT, LOSS, Measure, list_measures
from analysis.members.point import Point, list_points
from analysis.report.words import (
    TaskWords,
    UnseenPair,
    describe_unseen_pair,
    find_words,
    name_measure,
)
from anchorjax.storage.reader import Run

COLOURS = 6  # of lines and cells: styles eval_set-0 to eval_set-5


class Metric(NamedTuple):
    """A measure under its names on the page."""

    measure: Measure
    label: str  # 'held out'
    long_label: str  # its name where others stand beside it
    description: str  # 'Share of right answers to held-out commands'
    style: str  # CSS class of its colour
    is_accuracy: bool = False  # whether it counts right answers: those that are trained

    @property
    def name(self) -> str:
        """Its column in the table of members."""
        return self.measure.column

    @property
    def is_share(self) -> bool:
        """Whether its values are from 0 to 1."""
        return self.measure.source != LOSS

    def describe(self) -> dict[str, Any]:
        """What the page's script needs to find, name and colour its values."""
        return self.measure._asdict() | {
            'label': self.label,
            'line': self.long_label,
            'says': self.description,
            'name': self.name,
            'style': self.style,
        }


class Subject(NamedTuple):
    """A sweep of any task, read once for all parts of its page."""

    run: Run
    words: TaskWords
    unseen: UnseenPair | None  # that the networks may compose; None: another task
    shown: list[Metric]  # what is measured
    tested: Metric  # the one of them that the task is about
    points: list[Point]  # of all members, in the order of the grid
    members: pd.DataFrame  # `frame.mark_usable`: a row per member, in the same order


def read_subject(run: Run) -> Subject:
    """The subject of the page of a sweep.

    Raises:
      UserError: no member is trained yet, or all have diverged.
    """
    members = frame.mark_usable(run)
    words = find_words(run)
    unseen = describe_unseen_pair(run)
    if unseen is None:
        shown = list_shown(run, words)
        tested = find_tested(shown, words)
    else:
        shown = list_answers(unseen)
        tested = shown[0]
    return Subject(run, words, unseen, shown, tested, list_points(run), members)


def list_answers(unseen: UnseenPair) -> list[Metric]:
    """The two answers to the unseen pair, and right ones to held-out questions."""
    shown = []
    answers = {'composed': unseen.composed, 'symmetric': unseen.symmetric}
    for mapping, answer in answers.items():
        measure = Measure(AGREEMENT, 'unseen', mapping)
        line = f'{mapping} on the unseen pair'
        says = f'Share of answers to the unseen pair that are {answer}'
        shown.append(Metric(measure, mapping, line, says, style=mapping))
    heldout = Metric(
        Measure(AGREEMENT, 'seen_heldout', 'assigned'),
        label='held-out',
        long_label='held-out numbers',
        description=(
            'Share of right answers about trained pairs, for numbers x that were held '
            'out'
        ),
        style='heldout',
        is_accuracy=True,
    )
    return [*shown, heldout]


def list_shown(run: Run, words: TaskWords) -> list[Metric]:
    """What a sweep of any other task measures, in the order of its eval sets.

    Rules that are not trained are left to the figures, but for the tested eval set.
    """
    trained = run.experiment.task.make().trained_mapping
    shown = []
    for measure in list_measures(run):
        is_other_rule = measure.mapping not in ('', trained)
        if is_other_rule and measure.eval_set != words.tested:
            continue
        label, says = name_measure(words, measure, trained)
        style = f'eval_set-{len(shown) % COLOURS}'
        is_right = measure.mapping == trained
        shown.append(Metric(measure, label, label, says, style, is_right))
    return shown


def find_tested(shown: list[Metric], words: TaskWords) -> Metric:
    """The measure that the task is about: right answers on its tested eval set."""
    for one in shown:
        if one.measure.eval_set == words.tested and one.is_accuracy:
            return one
    return shown[-1]
