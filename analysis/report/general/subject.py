"""What a page is about: a sweep, the words for it, and which of it is shown."""

from typing import NamedTuple

from analysis.members.measures import Counted, count_members
from analysis.report.general.means import Means
from analysis.report.general.questions import TaskWords
from analysis.report.general.shown import Shown, find_tested, list_shown
from analysis.report.general.words import find_words
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run


class Subject(NamedTuple):
    """A sweep of any task, read once for all parts of its page."""

    run: Run
    words: TaskWords
    shown: list[Shown]  # what is measured
    tested: Shown  # the one of them that the task is about
    counted: Counted  # which members the numbers are of
    means: Means


def read_subject(run: Run) -> Subject:
    """The subject of the page of a sweep.

    Raises:
      UserError: no member is trained yet.
    """
    counted = count_members(run)
    if not counted.is_counted.any():
        where = run.folder.workdir
        raise UserError(f'{where}: no member is trained yet, or all have diverged')
    words = find_words(run)
    shown = list_shown(run, words)
    return Subject(
        run=run,
        words=words,
        shown=shown,
        tested=find_tested(shown, words),
        counted=counted,
        means=Means(run, shown, counted),
    )
