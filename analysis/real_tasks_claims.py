"""P1's claims about real tasks, beside what some runs show; is it gamma or decay?

  python analysis/real_tasks_claims.py --runs runs/addition runs/scan_laptop \\
      --out analysis/gallery/real_tasks

  verdicts.csv   a row per claim, run, setting and size: what P1 prints, number, null,
                 verdict and why
  verdicts.md    the same as a table to read

A claim is a row of `analysis/real/claims.py`; `analysis/real/readings/` has the rules.
Small and large initialization are the largest and the smallest gamma of a run,
strong and weak decay its largest and smallest decay.
"""

from analysis.real.table import format_markdown, tabulate_claims
from analysis.report.verdict_table import run_claims_command

if __name__ == '__main__':
    run_claims_command(__doc__, tabulate_claims, format_markdown)
