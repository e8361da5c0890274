"""What the page shows of every network: a row for each thing that the task measures."""

from typing import Any, NamedTuple

from analysis.members.measures import LOSS, Measure, list_measures
from analysis.report.general.questions import TaskWords
from analysis.report.general.words import name_measure
from anchorjax.storage.reader import Run

COLOURS = 6  # of lines and cells: styles probe-0 to probe-5


class Shown(NamedTuple):
    """A measure under its name on the page."""

    measure: Measure
    label: str  # 'held out'
    says: str  # 'Share of right answers to held-out commands'
    style: str  # CSS class of its colour
    is_right: bool  # whether it counts right answers: those that are trained

    @property
    def is_share(self) -> bool:
        """Whether its values are from 0 to 1."""
        return self.measure.source != LOSS

    def describe(self) -> dict[str, Any]:
        """What the page's script needs to find, name and colour its values."""
        return {
            'name': self.measure.name,
            'label': self.label,
            'line': self.label,
            'says': self.says,
            'style': self.style,
            **self.measure._asdict(),
        }


def list_shown(run: Run, words: TaskWords) -> list[Shown]:
    """What a sweep measures, in the order of its probes.

    Rules that are not trained are left to the figures, but for the tested probe.
    """
    trained = run.experiment.task.make().trained_mapping
    shown = []
    for measure in list_measures(run):
        is_other_rule = measure.mapping not in ('', trained)
        if is_other_rule and measure.probe != words.tested:
            continue
        number = len(shown)
        label, says = name_measure(words, measure, trained)
        style = f'probe-{number % COLOURS}'
        is_right = measure.mapping == trained
        shown.append(Shown(measure, label, says, style, is_right))
    return shown


def find_tested(shown: list[Shown], words: TaskWords) -> Shown:
    """The measure that the task is about: right answers on its tested probe."""
    for one in shown:
        if one.measure.probe == words.tested and one.is_right:
            return one
    return shown[-1]
