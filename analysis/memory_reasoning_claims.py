"""P2's claims about its synthetic task, beside what some runs show.

  python analysis/memory_reasoning_claims.py --runs 'runs/memory_reasoning*' \\
      --out analysis/gallery/memory_reasoning

  verdicts.csv   a row per claim, run and setting: number, null, verdict and why
  verdicts.md    the same as a table to read

A claim is a row of `analysis/bias/claims.py`; `analysis/bias/readings/` has the rules.
Small and large initialization are the largest and the smallest gamma of a run.
"""

from functools import partial

from analysis.bias.claims import CLAIMS, INTRODUCTION
from analysis.bias.tokens import TASK
from analysis.old_claims.by_setting import tabulate_claims
from analysis.old_claims.verdict_table import run_claims_command

if __name__ == '__main__':
    tabulate = partial(tabulate_claims, claims=CLAIMS, wanted=TASK)
    run_claims_command(__doc__, tabulate, INTRODUCTION)
