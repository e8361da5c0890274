"""The table of P2's claims: what every run says about each of them."""

from typing import Any, NamedTuple

import pandas as pd

from analysis.bias.claims import CLAIMS, Claim
from analysis.bias.members import TASK, count_diverged
from analysis.members.selection import find_usable
from analysis.report.readings.reading import Reading, undecided
from analysis.report.verdict_table import format_verdict_table
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

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
                self.computed[key] = claim.figure.compute(self.runs[name])
            except UserError as error:
                self.computed[key] = error
        return self.computed[key]


def tabulate_claims(runs: dict[str, Run]) -> pd.DataFrame:
    """A row for every claim, and every run and setting that it is about.

    Runs with nothing trained are left out. A claim without a run is undecided.

    Args:
      runs: by their names in the table.

    Raises:
      UserError: a run of another task.
    """
    for name, run in runs.items():
        task = run.experiment.task.name
        if task != TASK:
            raise UserError(f'{name}: task {task!r}: must be {TASK!r}')
    trained = {name: run for name, run in runs.items() if find_usable(run).any()}
    results = Results(trained, {})
    rows = []
    for claim in CLAIMS:
        rows += _read_claim(claim, results)
    return pd.DataFrame(rows, columns=COLUMNS)


def format_markdown(table: pd.DataFrame) -> str:
    """The table below the counts of its verdicts."""
    titles = dict(zip(COLUMNS, TITLES, strict=True))
    return format_verdict_table(table, titles, INTRODUCTION)


def _read_claim(claim: Claim, results: Results) -> list[dict[str, str]]:
    rows = []
    for name, run in results.runs.items():
        if not claim.fits(run.experiment):
            continue
        result = results.compute(name, claim)
        if isinstance(result, UserError):
            rows.append(_make_row(claim, name, undecided(str(result))))
            continue
        settings = dict.fromkeys(result.members['setting'].tolist())
        for setting in [''] if claim.is_joint else settings:
            reading = _add_diverged(claim.read(result, setting), run)
            title = f'{name}, {setting}' if setting else name
            rows.append(_make_row(claim, title, reading))
    if not rows:
        reading = undecided('no trained run is about this')
        rows.append(_make_row(claim, '–', reading))
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
