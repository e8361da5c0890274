"""What tables of claims about runs share: their runs, results, columns and rows."""

from collections.abc import Callable, Collection, Sequence
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import pandas as pd

from analysis.members.selection import find_usable
from analysis.old_claims.reading import Reading, undecided
from anchorjax.errors import UserError
from anchorjax.experiment import Experiment
from anchorjax.storage.reader import Run

NO_RUN = '–'  # of a claim that no run is about
NO_READING = undecided('no trained run is about this')
# Column: its title where the table is read as text.
TITLES = {
    'source': 'paper',
    'claim': 'claim',
    'figure': 'figure',
    'run': 'run',
    'number': 'this run',
    'null': 'null',
    'verdict': 'verdict',
    'note': 'note',
}
Row = dict[str, str]


class Claim(Protocol):
    """What the claims of every table have; each table adds how its runs are read."""

    source: str
    sentence: str
    figure: ModuleType

    def fits(self, experiment: Experiment) -> bool:
        """Whether the claim is about a run of this experiment."""


class Results(NamedTuple):
    """Trained runs, and the results of figures, computed once as claims need them."""

    runs: dict[str, Run]  # by their names in the table
    computed: dict[tuple[str, str], Any]  # by (run, figure); an error where it is one

    def compute(self, name: str, figure: ModuleType, **options: Any) -> Any:
        """The result of a figure of a run, or the UserError that it raises.

        Args:
          options: the same whenever this figure of this run is computed.
        """
        key = (name, figure.__name__)
        if key not in self.computed:
            try:
                self.computed[key] = figure.compute(self.runs[name], **options)
            except UserError as error:
                self.computed[key] = error
        return self.computed[key]


def select_trained(
    runs: dict[str, Run], tasks: Collection[str], allowed: str
) -> Results:
    """The runs with a trained member, and no result yet.

    Args:
      tasks: what the claims are about.
      allowed: the same in the words of the error.

    Raises:
      UserError: a run of another task.
    """
    trained = {}
    for name, run in runs.items():
        task = run.experiment.task.name
        if task not in tasks:
            raise UserError(f'{name}: task {task!r}: must be {allowed}')
        if find_usable(run).any():
            trained[name] = run
    return Results(trained, {})


def make_row(claim: Claim, run: str, reading: Reading) -> Row:
    """A row with the columns of TITLES."""
    return {
        'source': claim.source,
        'claim': claim.sentence,
        'figure': claim.figure.__name__.rpartition('.')[2],
        'run': run,
        'number': reading.number,
        'null': reading.null,
        'verdict': reading.verdict.words,
        'note': reading.note,
    }


def tabulate(
    claims: Sequence[Claim],
    results: Results,
    read_run: Callable[[Any, Results, str], list[Row]],
    make_row: Callable[[Any, str, Reading], Row] = make_row,
    titles: dict[str, str] = TITLES,
) -> pd.DataFrame:
    """The rows of every claim; of one that no run is about, a row that says so.

    Args:
      read_run: from a claim, the results and the name of a run that it is about to its
        rows; none if the claim also needs another run that is not there.
      make_row: a row with the columns of `titles`.
    """
    rows = []
    for claim in claims:
        of_claim = []
        for name, run in results.runs.items():
            if claim.fits(run.experiment):
                of_claim += read_run(claim, results, name)
        rows += of_claim or [make_row(claim, NO_RUN, NO_READING)]
    return pd.DataFrame(rows, columns=list(titles))


def add_diverged(reading: Reading, count: int) -> Reading:
    """The reading; its note says how many members diverged, if any did."""
    if not count:
        return reading
    members = '1 member' if count == 1 else f'{count} members'
    return reading._replace(note=f'{reading.note}; {members} diverged')
