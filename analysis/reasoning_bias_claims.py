"""P2's claims about PrOntoQA mixed with stories, beside what some runs show.

  python analysis/reasoning_bias_claims.py --runs 'runs/reasoning_bias_*' \\
      --out analysis/gallery/reasoning_bias

  verdicts.csv   a row per claim, run and setting: number, null, verdict and why
  verdicts.md    the same as a table to read

A claim is a row of `analysis/bias/source_claims.py`; those about the control are about
the preset matched.
"""

from functools import partial

from analysis.bias.source_claims import CLAIMS
from analysis.bias.table import INTRODUCTION, tabulate_claims
from analysis.reasoning_bias import TASK
from analysis.report.verdict_table import run_claims_command

if __name__ == '__main__':
    tabulate = partial(tabulate_claims, claims=CLAIMS, wanted=TASK)
    run_claims_command(__doc__, tabulate, INTRODUCTION)
