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

import argparse
import pathlib

import pandas as pd

from analysis.bias.table import NO_RUN, format_markdown, tabulate_claims
from analysis.designs.cells import format_row
from analysis.designs.table import format_csv
from analysis.families.claims import CLAIMS, INTRODUCTION, TASK
from analysis.memory_reasoning_claims import open_runs, write_texts
from analysis.report.verdicts import count_verdicts
from anchorjax import cli
from anchorjax.storage.reader import Run, members_table

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


def tabulate_members(runs: dict[str, Run]) -> pd.DataFrame:
    """Every trained member: its run, its axes and what it ends at."""
    tables = []
    for name, run in runs.items():
        table = members_table(run)
        columns = [*run.experiment.axes, *_NUMBERS]
        known = [column for column in columns if column in table]
        table = table.loc[table.trained, known]
        table.insert(0, 'run', name)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def summarize(verdicts: pd.DataFrame) -> str:
    """The counts of the verdicts, and a row for every claim that a run is about."""
    read = verdicts[verdicts.run != NO_RUN]
    lines = [count_verdicts(read.verdict.tolist()), '']
    lines += [format_row(list(_SUMMARY.values())), '|' + '---|' * len(_SUMMARY)]
    for row in read.to_dict('records'):
        lines.append(format_row([row[column] for column in _SUMMARY]))
    return '\n'.join(lines) + '\n'


def save(runs: dict[str, Run], folder: pathlib.Path) -> list[pathlib.Path]:
    """Writes the four tables; returns their paths."""
    verdicts = tabulate_claims(runs, CLAIMS, TASK)
    texts = {
        'verdicts.csv': format_csv(verdicts),
        'verdicts.md': format_markdown(verdicts, INTRODUCTION),
        'summary.md': summarize(verdicts),
        'members.csv': format_csv(tabulate_members(runs)),
    }
    return write_texts(texts, folder)


def parse_flags() -> argparse.Namespace:
    """The folders of the runs, and the folder of the tables."""
    parser = cli.Parser(description=__doc__.splitlines()[0])
    words = 'folders of runs, or patterns'
    parser.add_argument(
        '--runs', nargs='+', required=True, metavar='FOLDER', help=words
    )
    parser.add_argument(
        '--out', type=pathlib.Path, required=True, help='folder for the tables'
    )
    return parser.parse_args()


def command() -> None:
    flags = parse_flags()
    cli.use_compilation_cache()
    for path in save(open_runs(flags.runs), flags.out):
        print(path)


if __name__ == '__main__':
    cli.run_command(command)
