"""A table of claims, P2's by default: what every run says about each of them."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from analysis.bias.claims import CLAIMS, Claim
from analysis.bias.members import TASK
from analysis.gamma_range import BASELINE
from analysis.members.selection import count_diverged
from analysis.report.claim_table import (
    Results,
    Row,
    add_diverged,
    make_row,
    select_trained,
    tabulate,
)
from analysis.report.readings.reading import undecided
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

INTRODUCTION = (
    'Small initialization is the largest γ of a run, large the smallest. Intervals are '
    "of 95 %: Student's t over seeds, which may leave a number's range (ratios: by "
    'logarithms). `analysis/bias/readings/` has the rules.'
)


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
    results = select_trained(runs, (wanted,), repr(wanted))
    return tabulate(claims, results, _read_run)


def _read_run(claim: Claim, results: Results, name: str) -> list[Row]:
    result = _compute(claim, results, name)
    if isinstance(result, UserError):
        return [make_row(claim, name, undecided(str(result)))]
    settings = ['']
    if not claim.is_joint:
        settings = list(dict.fromkeys(result.members['setting'].tolist()))
    if claim.baseline is not None:  # it is compared with; the claim is not about it
        settings = [setting for setting in settings if setting != BASELINE]
    diverged = count_diverged(results.runs[name])
    rows = []
    for setting in settings:
        reading = add_diverged(claim.read(result, setting), diverged)
        title = f'{name}, {setting}' if setting else name
        rows.append(make_row(claim, title, reading))
    return rows


def _compute(claim: Claim, results: Results, name: str) -> Any:
    """The result of the claim's figure, beside the run that it compares with."""
    if claim.baseline is None:
        return results.compute(name, claim.figure)
    for run in results.runs.values():
        if claim.baseline(run.experiment):
            return results.compute(name, claim.figure, baseline=run)
    return UserError('no trained run to compare with')
