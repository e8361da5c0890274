"""Claims of P1 and P3 about four families of experiments, beside what runs show.

  python analysis/anchor_claims.py --runs runs/inferential_complexity runs/decay \\
      runs/decay_rates runs/levels 'runs/gpt2_range*' --out runs/claims

  verdicts.csv   a row per claim, run and setting: number, null, verdict and why
  verdicts.md    the same as a table to read
  members.csv    every trained member of these runs

A claim is a row of `analysis/families/claims.py`; `analysis/families/readings/` has the
rules.
"""

from functools import partial

from analysis.families.claims import CLAIMS, INTRODUCTION, TASK
from analysis.old_claims.by_setting import tabulate_claims
from analysis.old_claims.verdict_table import run_claims_command, tabulate_members

_NUMBERS = (
    'converged',
    'train_loss',
    'seen_heldout_assigned',
    'unseen_inferential',
    'unseen_symmetric',
)


if __name__ == '__main__':
    tabulate = partial(tabulate_claims, claims=CLAIMS, wanted=TASK)
    list_members = partial(tabulate_members, numbers=_NUMBERS)
    run_claims_command(__doc__, tabulate, INTRODUCTION, list_members)
