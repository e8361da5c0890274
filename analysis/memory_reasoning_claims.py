"""P2's claims about its synthetic task, beside what some runs show.

  python analysis/memory_reasoning_claims.py --runs 'runs/memory_reasoning*' \\
      --out analysis/gallery/memory_reasoning

  verdicts.csv   a row per claim, run and setting: number, null, verdict and why
  verdicts.md    the same as a table to read

A claim is a row of `analysis/bias/claims.py`; `analysis/bias/readings/` has the rules.
Small and large initialization are the largest and the smallest gamma of a run.
"""

import pathlib

import pandas as pd

from analysis.bias.table import format_markdown, tabulate_claims
from analysis.designs.collect import find_run_folders
from analysis.designs.table import format_csv
from anchorjax import cli
from anchorjax.errors import UserError
from anchorjax.storage import atomic
from anchorjax.storage.reader import Run, open_run


def open_runs(patterns: list[str]) -> dict[str, Run]:
    """The runs in folders that match one of the patterns, by the folder's name.

    Raises:
      UserError: no folder matches, or two have the same name.
    """
    runs: dict[str, Run] = {}
    for folder in find_run_folders(patterns):
        if folder.name in runs:
            raise UserError(f'--runs: two folders are called {folder.name!r}')
        runs[folder.name] = open_run(folder)
    return runs


def save(table: pd.DataFrame, folder: pathlib.Path) -> list[pathlib.Path]:
    """Writes verdicts.csv and verdicts.md; returns their paths."""
    texts = {'verdicts.csv': format_csv(table), 'verdicts.md': format_markdown(table)}
    return write_texts(texts, folder)


def write_texts(texts: dict[str, str], folder: pathlib.Path) -> list[pathlib.Path]:
    """Writes texts by the names of their files; returns their paths."""
    paths = []
    for name, text in texts.items():
        atomic.write_text(folder / name, text)
        paths.append(folder / name)
    return paths


def command() -> None:
    parser = cli.Parser(description=__doc__.splitlines()[0])
    parser.add_argument(
        '--runs',
        nargs='+',
        required=True,
        metavar='FOLDER',
        help='folders of runs, or patterns',
    )
    parser.add_argument(
        '--out', type=pathlib.Path, required=True, help='folder for the tables'
    )
    flags = parser.parse_args()
    cli.use_compilation_cache()
    for path in save(tabulate_claims(open_runs(flags.runs)), flags.out):
        print(path)


if __name__ == '__main__':
    cli.run_command(command)
