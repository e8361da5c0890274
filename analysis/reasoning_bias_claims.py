"""P2's claims about PrOntoQA mixed with stories, beside what some runs show.

  python analysis/reasoning_bias_claims.py --runs 'runs/reasoning_bias_*' \\
      --out analysis/gallery/reasoning_bias

  verdicts.csv   a row per claim, run and setting: number, null, verdict and why
  verdicts.md    the same as a table to read
  members.csv    every trained member: losses, Delta L, moments (steps) and cosines of
                 the two sources

A claim is a row of `analysis/bias/source_claims.py`; those about the control are about
the preset matched.
"""

from functools import partial

import pandas as pd

from analysis import reasoning_bias
from analysis.bias.claims import INTRODUCTION
from analysis.bias.source_claims import CLAIMS
from analysis.old_claims.by_setting import tabulate_claims
from analysis.old_claims.verdict_table import run_claims_command
from anchorjax.storage.reader import Run
from anchorjax.tasks.mixture import SOURCES, read_mixture

_DIGITS = 4


def tabulate_members(runs: dict[str, Run]) -> pd.DataFrame:
    """A row for every trained member of these runs."""
    tables = []
    for name, run in runs.items():
        result = reasoning_bias.compute(run)
        mixture = read_mixture(run.experiment.task)
        early = result.step_C.tolist().index(result.early)
        columns = {'run': name, 'control': run.experiment.task.control}
        for axis in ('gamma', 'seed', 'train_loss'):
            columns[axis] = result.members[axis]
        for p, source in enumerate(SOURCES):
            columns[f'label_entropy_{source}'] = result.entropy_P[p]
            sequences = mixture.sequences[source]
            columns[f'bigram_entropy_{source}'] = sequences.measure_bigram_entropy()
            columns[f'loss_{source}'] = result.loss_MSP[:, -1, p]
            columns[f'heldout_{source}'] = result.heldout_MSP[:, -1, p]
            columns[f'moment_{source}'] = result.moment_MP[:, p]
            columns[f'early_cosine_{source}'] = result.cosine_MCP[:, early, p]
            columns[f'late_cosine_{source}'] = result.cosine_MCP[:, -1, p]
        columns['delta_of_counting'] = result.delta_of_counting
        columns['mean_delta'] = result.delta_MS.mean(1)
        columns['last_delta'] = result.delta_MS[:, -1]
        columns['largest_delta'] = result.delta_MS.max(1)
        tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True).round(_DIGITS)


if __name__ == '__main__':
    tabulate = partial(tabulate_claims, claims=CLAIMS, wanted=reasoning_bias.TASK)
    run_claims_command(__doc__, tabulate, INTRODUCTION, tabulate_members)
