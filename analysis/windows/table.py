"""The table of P4's claims: what every run says about each of them."""

import pandas as pd

from analysis.old_claims.claim_table import (
    Results,
    Row,
    make_row,
    select_trained,
    tabulate,
)
from analysis.old_claims.reading import undecided
from analysis.windows.claims import CLAIMS, Claim
from analysis.windows.members import HELDOUT
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

INTRODUCTION = (
    'Numbers are accuracies on what was never trained at the end (unseen pairs, unseen '
    'sums, tokens of SCAN), with intervals of 95 % '
    "(Student's t over seeds; shares: Wilson). Differences are within seeds. The null "
    'is the accuracy of a network that does not compose '
    '(`analysis/windows/nulls.py`). '
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
    allowed = ', '.join(map(repr, HELDOUT))
    results = select_trained(runs, HELDOUT, f'one of {allowed}')
    return tabulate(CLAIMS, results, _read_run)


def _read_run(claim: Claim, results: Results, name: str) -> list[Row]:
    result = results.compute(name, claim.figure)
    if isinstance(result, UserError):
        reading = undecided(str(result))
    else:
        reading = claim.read(result)
    return [make_row(claim, name, reading)]
