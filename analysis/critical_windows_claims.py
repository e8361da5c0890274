"""P4's claims about windows of weight decay, beside what some runs show.

  python analysis/critical_windows_claims.py --runs 'runs/critical_windows*' \\
      --out analysis/gallery/critical_windows

  verdicts.csv   a row per claim and run: number, null, verdict and why
  verdicts.md    the same as a table to read
  members.csv    every member: its window, seed, train loss and accuracies

A claim is a row of `analysis/windows/claims.py`; `analysis/windows/readings.py` has the
rules.
"""

import pandas as pd

from analysis.old_claims.verdict_table import run_claims_command
from analysis.windows.members import collect_members
from analysis.windows.table import INTRODUCTION, tabulate_claims
from anchorjax.storage.reader import Run


def tabulate_members(runs: dict[str, Run]) -> pd.DataFrame:
    """A row for every trained member of these runs."""
    tables = []
    for name, run in runs.items():
        columns = collect_members(run)._asdict()
        for curve in ('step_S', 'unseen_MS', 'bounds'):
            del columns[curve]
        tables.append(pd.DataFrame({'run': name} | columns))
    return pd.concat(tables).round(4)


if __name__ == '__main__':
    run_claims_command(__doc__, tabulate_claims, INTRODUCTION, tabulate_members)
