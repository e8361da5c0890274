"""P1's claims about real tasks, beside what some runs show; is it gamma or decay?

  python analysis/real_tasks_claims.py --runs runs/addition runs/scan \\
      --out analysis/gallery/real_tasks

  verdicts.csv   a row per claim, run, setting and size: what P1 prints, number, null,
                 verdict and why
  verdicts.md    the same as a table to read
  members.csv    every trained member: its loss and its exact matches

A claim is a row of `analysis/real/claims.py`; `analysis/real/readings/` has the rules.
Small and large initialization are the largest and the smallest gamma of a run,
strong and weak decay its largest and smallest decay.
"""

from functools import partial

from analysis.old_claims.verdict_table import run_claims_command, tabulate_members
from analysis.real.table import INTRODUCTION, TITLES, tabulate_claims

_NUMBERS = (
    'converged',
    'train_loss',
    'seen_train_assigned',
    'seen_heldout_assigned',
    'seen_heldout_proof_assigned',
    'test_assigned',
    'gen_assigned',
)


if __name__ == '__main__':
    list_members = partial(tabulate_members, numbers=_NUMBERS)
    run_claims_command(__doc__, tabulate_claims, INTRODUCTION, list_members, TITLES)
