"""Claims that are read setting by setting, and the table of what runs say of them."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import pandas as pd

from analysis.members.selection import count_diverged
from analysis.old_claims.claim_table import (
    Results,
    Row,
    add_diverged,
    make_row,
    select_trained,
    tabulate,
)
from analysis.old_claims.reading import Reading, undecided
from anchorjax.errors import UserError
from anchorjax.experiment import Experiment
from anchorjax.storage.reader import Run


class Claim(NamedTuple):
    """A sentence in our words, the runs that it is about, and how to read them.

    `read` gets the result of the figure and a setting; of a claim about all settings
    together ('') that of the whole run.
    """

    source: str
    sentence: str
    figure: ModuleType
    fits: Callable[[Experiment], bool]
    read: Callable[[Any, str], Reading]
    is_joint: bool = False  # compares settings: one row for the run
    # Which other run the figure needs beside it, to compare with; the figure gives the
    # members of that run its setting BASELINE.
    baseline: Callable[[Experiment], bool] | None = None


def tabulate_claims(
    runs: dict[str, Run], claims: Sequence[Claim], wanted: str
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
        settings = [name for name in settings if name != claim.figure.BASELINE]
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
