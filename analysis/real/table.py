"""The table of P1's claims about real tasks: what every run says about each of them."""

from typing import Any, NamedTuple

import pandas as pd

from analysis.members.selection import find_usable
from analysis.real.claims import CLAIMS, Claim, list_places
from analysis.real.members import TESTED
from analysis.real.readings.seeds import Place
from analysis.report.readings.reading import Reading, undecided
from analysis.report.verdict_table import format_verdict_table
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

TITLES = {
    'source': 'paper',
    'claim': 'claim',
    'run': 'run',
    'size': 'examples',
    'printed': 'P1 prints',
    'number': 'this run',
    'null': 'null',
    'verdict': 'verdict',
    'note': 'note',
}
INTRODUCTION = (
    'Large and small initialization are the smallest and the largest γ of a run, weak '
    'and strong decay its smallest and largest decay. Differences are taken seed by '
    "seed. Intervals are of 95 %: Student's t over seeds, which may leave a number's "
    'range (ratios: by logarithms). `analysis/real/readings/` has the rules.'
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
    """A row for every claim, and every run, setting and size that it is about.

    Runs with nothing trained are left out. A claim without a run is undecided.

    Args:
      runs: by their names in the table.

    Raises:
      UserError: a run of another task.
    """
    for name, run in runs.items():
        task = run.experiment.task.name
        if task not in TESTED:
            allowed = ', '.join(TESTED)
            raise UserError(f'{name}: task {task!r}: must be one of {allowed}')
    trained = {name: run for name, run in runs.items() if find_usable(run).any()}
    results = Results(trained, {})
    rows = []
    for claim in CLAIMS:
        rows += _read_claim(claim, results)
    return pd.DataFrame(rows, columns=list(TITLES))


def format_markdown(table: pd.DataFrame) -> str:
    """The table below the counts of its verdicts."""
    return format_verdict_table(table, TITLES, INTRODUCTION)


def _read_claim(claim: Claim, results: Results) -> list[dict[str, str]]:
    rows = []
    for name, run in results.runs.items():
        if claim.fits(run.experiment):
            rows += _read_run(claim, results, name)
    if not rows:
        reading = undecided('no trained run is about this')
        rows.append(_make_row(claim, '–', Place('', 0), '–', reading))
    return rows


def _read_run(claim: Claim, results: Results, name: str) -> list[dict[str, str]]:
    """The rows of a run; none if the claim needs another run that is not there."""
    experiment = results.runs[name].experiment
    title, arguments = name, [results.compute(name, claim)]
    if claim.partner is not None:
        partner = _find_partner(claim, results, name)
        if not partner:
            return []
        title = f'{name} and {partner}'
        arguments.append(results.compute(partner, claim))
    for result in arguments:
        if isinstance(result, UserError):
            reading = undecided(str(result))
            return [_make_row(claim, title, Place('', 0), '–', reading)]
    rows = []
    for place in list_places(arguments[0], claim):
        reading = _add_diverged(claim.read(*arguments, place), arguments)
        printed = claim.printed(experiment, place.size)
        rows.append(_make_row(claim, title, place, printed, reading))
    return rows


def _find_partner(claim: Claim, results: Results, name: str) -> str:
    """The name of the other run that a claim is about; '' without one."""
    experiment = results.runs[name].experiment
    for other, run in results.runs.items():
        if claim.partner is not None and claim.partner(experiment, run.experiment):
            return other
    return ''


def _add_diverged(reading: Reading, results: list[Any]) -> Reading:
    count = sum(result.diverged for result in results)
    if not count:
        return reading
    return reading._replace(note=f'{reading.note}; {count} members diverged')


def _make_row(
    claim: Claim, run: str, place: Place, printed: str, reading: Reading
) -> dict[str, str]:
    title = f'{run}, {place.setting}' if place.setting else run
    values = (
        claim.source,
        claim.sentence,
        title,
        f'{place.size:,}' if place.size else '–',
        printed,
        reading.number,
        reading.null or '–',
        reading.verdict.words,
        reading.note,
    )
    return dict(zip(TITLES, values, strict=True))
