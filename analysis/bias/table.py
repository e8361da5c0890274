"""A table of claims, P2's by default: what every run says about each of them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from analysis.bias.claims import CLAIMS, Claim
from analysis.bias.members import TASK, count_diverged
from analysis.members.selection import find_usable
from analysis.report.readings.reading import Reading, undecided
from analysis.report.verdict_table import format_verdict_table
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

NO_RUN = '–'  # of a claim that no run is about
COLUMNS = ('source', 'claim', 'figure', 'run', 'number', 'null', 'verdict', 'note')
TITLES = ('paper', 'claim', 'figure', 'run', 'this run', 'null', 'verdict', 'note')

INTRODUCTION = (
    'Small initialization is the largest γ of a run, large the smallest. Intervals are '
    "of 95 %: Student's t over seeds, which may leave a number's range (ratios: by "
    'logarithms). `analysis/bias/readings/` has the rules.'
)


class Results(NamedTuple):
    """The results of figures that are computed as claims ask for them."""

    runs: dict[str, Run]
    computed: dict[tuple[str, str], Any]  # by (run, figure); an error where it is one

    def compute(self, name: str, claim: Claim) -> Any:
        key = (name, claim.figure.__name__)
        if key not in self.computed:
            try:
                options = self._find_baseline(claim)
                self.computed[key] = claim.figure.compute(self.runs[name], **options)
            except UserError as error:
                self.computed[key] = error
        return self.computed[key]

    def _find_baseline(self, claim: Claim) -> dict[str, Run]:
        """The first other run that the claim compares with."""
        if claim.baseline is None:
            return {}
        for run in self.runs.values():
            if claim.baseline(run.experiment):
                return {'baseline': run}
        raise UserError('no trained run to compare with')


def tabulate_claims(
    runs: dict[str, Run], claims: Sequence[Claim] = CLAIMS, wanted: str = TASK
) -> pd.DataFrame:
    """A row for every claim, and every run and setting that it is about.

    Runs with nothing trained are left out. A claim without a run is undecided.

    Args:
      runs: by their names in the table.
      wanted: the task that the claims are about.

    Raises:
      UserError: a run of another task.
    """
    for name, run in runs.items():
        task = run.experiment.task.name
        if task != wanted:
            raise UserError(f'{name}: task {task!r}: must be {wanted!r}')
    trained = {name: run for name, run in runs.items() if find_usable(run).any()}
    results = Results(trained, {})
    rows = []
    for claim in claims:
        rows += _read_claim(claim, results)
    return pd.DataFrame(rows, columns=COLUMNS)


def format_markdown(table: pd.DataFrame, introduction: str = INTRODUCTION) -> str:
    """The table below the counts of its verdicts."""
    titles = dict(zip(COLUMNS, TITLES, strict=True))
    return format_verdict_table(table, titles, introduction)


def _read_claim(claim: Claim, results: Results) -> list[dict[str, str]]:
    rows = []
    for name, run in results.runs.items():
        if not claim.fits(run.experiment):
            continue
        result = results.compute(name, claim)
        if isinstance(result, UserError):
            rows.append(_make_row(claim, name, undecided(str(result))))
            continue
        settings = ['']
        if not claim.is_joint:
            settings = list(dict.fromkeys(result.members['setting'].tolist()))
        for setting in settings:
            reading = _add_diverged(claim.read(result, setting), run)
            title = f'{name}, {setting}' if setting else name
            rows.append(_make_row(claim, title, reading))
    if not rows:
        reading = undecided('no trained run is about this')
        rows.append(_make_row(claim, NO_RUN, reading))
    return rows


def _add_diverged(reading: Reading, run: Run) -> Reading:
    count = count_diverged(run)
    if not count:
        return reading
    return reading._replace(note=f'{reading.note}; {count} members diverged')


def _make_row(claim: Claim, run: str, reading: Reading) -> dict[str, str]:
    figure = claim.figure.__name__.rpartition('.')[2]
    values = (
        claim.source,
        claim.sentence,
        figure,
        run,
        reading.number,
        reading.null,
        reading.verdict.words,
        reading.note,
    )
    return dict(zip(COLUMNS, values, strict=True))
