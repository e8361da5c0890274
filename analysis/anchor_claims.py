"""Claims of P1 and P3 about four families of experiments, beside what runs show.

  python analysis/anchor_claims.py --runs runs/inferential_complexity runs/decay \\
      runs/decay_rates runs/levels 'runs/gpt2_range*' --out runs/claims

  verdicts.csv   a row per claim, run and setting: number, null, verdict and why
  verdicts.md    the same as a table to read
  summary.md     the same without notes, and without claims that no run is about
  members.csv    every trained member of these runs

A claim is a row of `analysis/families/claims.py`; `analysis/families/readings/` has the
rules.
"""

from functools import partial

import pandas as pd

from analysis.bias.table import tabulate_claims
from analysis.designs.cells import format_row
from analysis.designs.table import format_csv
from analysis.families.claims import CLAIMS, INTRODUCTION, TASK
from analysis.report.claim_table import NO_RUN
from analysis.report.verdict_table import run_claims_command, tabulate_members
from analysis.report.verdicts import count_verdicts
from anchorjax.storage.reader import Run

# Columns of the summary, with their titles.
_SUMMARY = {
    'source': 'paper',
    'claim': 'claim',
    'run': 'run',
    'number': 'measured',
    'null': 'null',
    'verdict': 'verdict',
}
_NUMBERS = (
    'converged',
    'train_loss',
    'seen_heldout_assigned',
    'unseen_inferential',
    'unseen_symmetric',
)


def summarize(verdicts: pd.DataFrame) -> str:
    """The counts of the verdicts, and a row for every claim that a run is about."""
    read = verdicts[verdicts.run != NO_RUN]
    lines = [count_verdicts(read.verdict.tolist()), '']
    lines += [format_row(list(_SUMMARY.values())), '|' + '---|' * len(_SUMMARY)]
    for row in read.to_dict('records'):
        lines.append(format_row([row[column] for column in _SUMMARY]))
    return '\n'.join(lines) + '\n'


def list_tables(verdicts: pd.DataFrame, runs: dict[str, Run]) -> dict[str, str]:
    """The texts of summary.md and members.csv, by name."""
    members = tabulate_members(runs, _NUMBERS)
    return {'summary.md': summarize(verdicts), 'members.csv': format_csv(members)}


if __name__ == '__main__':
    tabulate = partial(tabulate_claims, claims=CLAIMS, wanted=TASK)
    run_claims_command(__doc__, tabulate, INTRODUCTION, list_tables)
