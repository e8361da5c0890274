"""P4's claims about windows of weight decay, beside what some runs show.

  python analysis/critical_windows_claims.py --runs 'runs/critical_windows*' \\
      --out analysis/gallery/critical_windows

  verdicts.csv   a row per claim and run: number, null, verdict and why
  verdicts.md    the same as a table to read
  members.csv    every member: its window, seed, train loss and accuracies

A claim is a row of `analysis/windows/claims.py`; `analysis/windows/readings.py` has the
rules.
"""

import pathlib

import pandas as pd

from analysis.bias.table import format_markdown
from analysis.designs.table import format_csv
from analysis.memory_reasoning_claims import open_runs, parse_command, write_texts
from analysis.windows.members import collect_members
from analysis.windows.table import INTRODUCTION, tabulate_claims
from anchorjax import cli
from anchorjax.storage.reader import Run


def tabulate_members(runs: dict[str, Run]) -> pd.DataFrame:
    """A row for every trained member of these runs."""
    tables = []
    for name, run in runs.items():
        members = collect_members(run)
        columns = members._asdict()
        for curve in ('step_S', 'unseen_MS', 'bounds'):
            del columns[curve]
        tables.append(pd.DataFrame({'run': name} | columns))
    return pd.concat(tables).round(4)


def save(runs: dict[str, Run], folder: pathlib.Path) -> list[pathlib.Path]:
    """Writes the three files; returns their paths."""
    table = tabulate_claims(runs)
    texts = {
        'verdicts.csv': format_csv(table),
        'verdicts.md': format_markdown(table, INTRODUCTION),
        'members.csv': format_csv(tabulate_members(runs)),
    }
    return write_texts(texts, folder)


def command() -> None:
    flags = parse_command(__doc__)
    for path in save(open_runs(flags.runs), flags.out):
        print(path)


if __name__ == '__main__':
    cli.run_command(command)
