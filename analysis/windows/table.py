"""The table of P4's claims: what every run says about each of them."""

from typing import Any

import pandas as pd

from analysis.bias.table import COLUMNS, TITLES
from analysis.members.selection import find_usable
from analysis.report.readings.reading import Reading, undecided
from analysis.report.verdict_table import format_verdict_table
from analysis.windows.claims import CLAIMS, Claim, fits
from analysis.windows.members import HELDOUT
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

INTRODUCTION = (
    'Numbers are accuracies on unseen pairs at the end, with intervals of 95 % '
    "(Student's t over seeds; shares: Wilson). Differences are within seeds. "
    '`analysis/windows/readings.py` has the rules; "much" is a difference of 0.25, '
    '"as much as" one below 0.1.'
)


def tabulate_claims(runs: dict[str, Run]) -> pd.DataFrame:
    """A row for every claim and every run of its preset; without one, undecided.

    Args:
      runs: by their names in the table. Those with nothing trained are left out.

    Raises:
      UserError: a run of another task.
    """
    trained = {}
    for name, run in runs.items():
        task = run.experiment.task.name
        if task not in HELDOUT:
            allowed = ' or '.join(map(repr, HELDOUT))
            raise UserError(f'{name}: task {task!r}: must be {allowed}')
        if find_usable(run).any():
            trained[name] = run
    computed: dict[tuple[str, str], Any] = {}
    rows = []
    for claim in CLAIMS:
        readings = []
        for name, run in trained.items():
            if fits(claim, run.experiment):
                result = _compute_once(computed, claim, name, run)
                readings.append((name, _read(claim, result)))
        if not readings:
            readings.append(('–', undecided('no trained run is about this')))
        rows += [_make_row(claim, name, reading) for name, reading in readings]
    return pd.DataFrame(rows, columns=COLUMNS)


def format_markdown(table: pd.DataFrame) -> str:
    """The table below the counts of its verdicts."""
    titles = dict(zip(COLUMNS, TITLES, strict=True))
    return format_verdict_table(table, titles, INTRODUCTION)


def _compute_once(
    computed: dict[tuple[str, str], Any], claim: Claim, name: str, run: Run
) -> Any:
    """The result of a claim's figure, or the error that it raised."""
    key = (name, claim.figure.__name__)
    if key not in computed:
        try:
            computed[key] = claim.figure.compute(run)
        except UserError as error:
            computed[key] = error
    return computed[key]


def _read(claim: Claim, result: Any) -> Reading:
    if isinstance(result, UserError):
        return undecided(str(result))
    return claim.read(result)


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
