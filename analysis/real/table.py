"""The table of P1's claims about real tasks: what every run says about each of them."""

import pandas as pd

from analysis.old_claims.claim_table import (
    Results,
    Row,
    add_diverged,
    make_row,
    select_trained,
    tabulate,
)
from analysis.old_claims.reading import Reading, undecided
from analysis.real.claims import CLAIMS, Claim, list_places
from analysis.real.members import TESTED
from analysis.real.readings.seeds import Place
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

NOWHERE = Place('', 0)  # of a row about no setting and no size
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


def tabulate_claims(runs: dict[str, Run]) -> pd.DataFrame:
    """A row for every claim, and every run, setting and size that it is about.

    Runs with nothing trained are left out. A claim without a run is undecided.

    Args:
      runs: by their names in the table.

    Raises:
      UserError: a run of another task.
    """
    allowed = ', '.join(TESTED)
    results = select_trained(runs, TESTED, f'one of {allowed}')
    return tabulate(CLAIMS, results, _read_run, _make_row, TITLES)


def _read_run(claim: Claim, results: Results, name: str) -> list[Row]:
    """The rows of a run; none if the claim needs another run that is not there."""
    experiment = results.runs[name].experiment
    title, arguments = name, [results.compute(name, claim.figure)]
    if claim.partner is not None:
        partner = _find_partner(claim, results, name)
        if not partner:
            return []
        title = f'{name} and {partner}'
        arguments.append(results.compute(partner, claim.figure))
    for result in arguments:
        if isinstance(result, UserError):
            return [_make_row(claim, title, undecided(str(result)))]
    diverged = sum(result.diverged for result in arguments)
    rows = []
    for place in list_places(arguments, claim):
        reading = add_diverged(claim.read(*arguments, place), diverged)
        printed = claim.printed(experiment, place.size)
        rows.append(_make_row(claim, title, reading, place, printed))
    return rows


def _find_partner(claim: Claim, results: Results, name: str) -> str:
    """The name of the other run that a claim is about; '' without one."""
    experiment = results.runs[name].experiment
    for other, run in results.runs.items():
        if claim.partner is not None and claim.partner(experiment, run.experiment):
            return other
    return ''


def _make_row(
    claim: Claim,
    run: str,
    reading: Reading,
    place: Place = NOWHERE,
    printed: str = '–',
) -> Row:
    """A row with the columns of TITLES."""
    title = f'{run}, {place.setting}' if place.setting else run
    row = make_row(claim, title, reading)
    row['size'] = f'{place.size:,}' if place.size else '–'
    row['printed'] = printed
    row['null'] = reading.null or '–'
    return row
