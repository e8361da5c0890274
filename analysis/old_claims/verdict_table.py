"""Tables of claims from several runs: as Markdown, and as a command line."""

import argparse
import pathlib
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import pandas as pd

from analysis.old_claims.claim_table import TITLES
from analysis.old_claims.verdicts import count_verdicts
from analysis.tables.folders import find_run_folders, require_folder_for_tables
from analysis.tables.text import format_csv, format_table
from anchorjax import cli, files
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run, members_table, open_run


def format_verdict_table(
    table: pd.DataFrame, introduction: str, titles: Mapping[str, str] = TITLES
) -> str:
    """The table below the counts of its verdicts and some words.

    Args:
      titles: {column: its title}; one of the columns is `verdict`.
    """
    rows = []
    for row in table.to_dict('records'):
        row['verdict'] = f'**{row["verdict"]}**'
        rows.append([row[column] for column in titles])
    lines = [count_verdicts(table.verdict.tolist()), '', introduction, '']
    lines.append(format_table(list(titles.values()), rows))
    return '\n'.join(lines) + '\n'


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


def save(
    table: pd.DataFrame,
    markdown: str,
    folder: pathlib.Path,
    others: Mapping[str, str] = MappingProxyType({}),
) -> list[pathlib.Path]:
    """Writes verdicts.csv, verdicts.md and other texts by name; returns their paths."""
    texts = {'verdicts.csv': format_csv(table), 'verdicts.md': markdown, **others}
    paths = []
    for name, text in texts.items():
        files.write_text(folder / name, text)
        paths.append(folder / name)
    return paths


def tabulate_members(runs: dict[str, Run], numbers: Sequence[str]) -> pd.DataFrame:
    """Every trained member: its run, its axes and these numbers, where it has them."""
    tables = []
    for name, run in runs.items():
        table = members_table(run)
        columns = [*run.experiment.axes, *numbers]
        known = [column for column in columns if column in table]
        table = table.loc[table.trained, known]
        table.insert(0, 'run', name)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def run_claims_command(
    doc: str,
    tabulate: Callable[[dict[str, Run]], pd.DataFrame],
    introduction: str,
    list_members: Callable[[dict[str, Run]], pd.DataFrame] | None = None,
    titles: Mapping[str, str] = TITLES,
) -> None:
    """Runs the command line of a table of claims: --runs, --out.

    Args:
      introduction, titles: of the Markdown, see `format_verdict_table`.
      list_members: from the runs to the rows of members.csv, if it is written, too.
    """

    def command() -> None:
        flags = _parse_flags(doc)
        require_folder_for_tables(flags.out)
        cli.use_compilation_cache()
        runs = open_runs(flags.runs)
        table = tabulate(runs)
        others = {}
        if list_members is not None:
            others['members.csv'] = format_csv(list_members(runs))
        markdown = format_verdict_table(table, introduction, titles)
        for path in save(table, markdown, flags.out, others):
            print(path)

    cli.run_command(command)


def _parse_flags(doc: str) -> argparse.Namespace:
    parser = cli.Parser(description=doc)
    parser.add_argument(
        '--runs',
        nargs='+',
        required=True,
        metavar='FOLDER',
        help='folders of runs, or patterns',
    )
    parser.add_argument(
        '--out', type=cli.parse_folder, required=True, help='folder for the tables'
    )
    return parser.parse_args()
