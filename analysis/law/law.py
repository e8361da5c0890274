"""What one factor changes, over the networks of a designed experiment.

The experiment is configs/law.py. Its networks are collected into one table; everything
else is computed from that table alone.

  python -m analysis law --members analysis/gallery/law/members.csv --out runs/law
  python -m analysis law --runs 'runs/law_*' --out runs/law

  members.csv            the networks of all tables and runs, each once
  law_effects.csv, .png  what one factor changes

Several tables and runs are joined; of a network in two of them that of the runs counts.
Predictions that were judged are `python -m analysis claims law`.
"""

import pathlib

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from analysis import frame, stats
from analysis.drawing import style
from analysis.law import effects
from analysis.law import members as law_members
from analysis.law.members import FACTORS
from analysis.tables.folders import require_folder_for_tables
from analysis.tables.text import format_csv, list_records
from anchorjax import cli, files
from anchorjax.errors import UserError
from anchorjax.tasks.solution import UNSEEN_MAPPINGS

TITLE = 'The law: what one factor changes'
PAPER = 'ours'

_MIN_ROWS = 3  # of a figure that can be read


def layout(result: pd.DataFrame) -> style.Layout:
    """As high as its rows need."""
    rows = max(len(_list_rows(result)), _MIN_ROWS)
    return style.Layout(1, 1, 7.0, 1.0 + 0.25 * rows)


def draw(result: pd.DataFrame, axes: np.ndarray) -> None:
    """Fills axes [1, 1]: a row per contrast of at least three settings.

    Its points are means over settings with their intervals: filled of all networks,
    hollow of converged networks alone.
    """
    axis = axes[0, 0]
    rows = _list_rows(result)
    labels = [_name_row(contrasts.iloc[0]) for contrasts in rows]
    for y, contrasts in enumerate(rows):
        for shift, rule in zip((-0.2, 0.1), UNSEEN_MAPPINGS, strict=True):
            of_rule = contrasts[contrasts.outcome == f'{rule} answers']
            _draw_contrast(axis, of_rule, y + shift, style.COLOURS[rule])
    axis.axvline(0, color='black', lw=0.6)
    axis.set_yticks(range(len(labels)), labels, fontsize=6)
    axis.set_ylim(max(len(labels), 1) - 0.4, -0.6)
    axis.set_xlim(-1.05, 1.05)
    axis.set_xlabel('change of the share of answers to the unseen pair')
    handles = []
    for rule in UNSEEN_MAPPINGS:
        colour = style.COLOURS[rule]
        handles.append(Line2D([], [], color=colour, marker='o', label=rule))
    hollow = Line2D([], [], color='black', marker='o', mfc='white', ls='')
    hollow.set_label('converged networks alone')
    handles.append(hollow)
    axis.figure.legend(handles=handles, loc='outside lower center', ncols=3)


def _list_rows(result: pd.DataFrame) -> list[pd.DataFrame]:
    """The contrasts with an interval, γ first, by what they compare."""
    shown = result[result.settings >= stats.MIN_SEEDS]
    is_gamma = shown.factor == 'gamma'
    ordered = pd.concat([shown[is_gamma], shown[~is_gamma]])
    keys = ['block', 'factor', 'lower', 'upper', 'settings']
    return [contrasts for _, contrasts in ordered.groupby(keys, sort=False)]


def _name_row(row: pd.Series) -> str:
    where = ''
    if row.block != effects.ALL:
        where = f'{law_members.TITLES_OF_EXCEPTIONS[row.block]}, '
    levels = f'{FACTORS[row.factor].title}: {row.lower} → {row.upper}'
    return f'{levels}\n{where}{row.settings} settings'


def _draw_contrast(axis: Axes, rows: pd.DataFrame, y: float, colour: str) -> None:
    """The interval of all networks, and below it that of the converged ones."""
    for row in list_records(rows):
        axis.plot([row['low'], row['high']], [y, y], color=colour, lw=1)
        axis.plot(row['mean'], y, 'o', color=colour, ms=3)
        ends = [row['converged_low'], row['converged_high']]
        axis.plot(ends, [y + 0.12, y + 0.12], color=colour, lw=0.5)
        mean = row['converged_mean']
        axis.plot(mean, y + 0.12, 'o', color=colour, mfc='white', ms=3)


def save(members: pd.DataFrame, folder: pathlib.Path) -> list[pathlib.Path]:
    """Writes the table of members and the figure; returns their paths."""
    result = effects.tabulate(members)
    table = folder / 'members.csv'
    files.write_text(table, format_csv(members))
    if result.empty or not _list_rows(result):
        raise UserError(
            f'law: no factor alone differs in {stats.MIN_SEEDS} settings of these '
            f'networks: there is nothing to compare; {table} has them'
        )
    result.attrs |= describe(members)
    return [table, *style.write_figure(result, draw, layout, folder / 'law_effects')]


def describe(members: pd.DataFrame) -> dict[str, str]:
    """Attributes of the effects: of which networks they are."""
    return {'about': f'{len(members)} networks of {members.run.nunique()} runs'}


def read_members(paths: list[pathlib.Path], patterns: list[str]) -> pd.DataFrame:
    """The members of some runs and tables, each once; prints how the runs differ.

    Raises:
      UserError: there are none.
    """
    tables = []
    if patterns:
        cli.use_compilation_cache()
        runs = frame.open_runs(patterns)
        tables.append(frame.collect(runs, law_members.tabulate))
        for line in law_members.find_other_differences(runs.values()):
            print(line)
    tables += map(law_members.read_csv, paths)
    return law_members.join(tables)


def command(words: list[str]) -> None:
    parser = cli.Parser(prog='python -m analysis law', description=__doc__)
    parser.add_argument('--runs', nargs='+', metavar='FOLDER', default=[])
    parser.add_argument(
        '--members', nargs='+', type=cli.parse_file, metavar='CSV', default=[]
    )
    parser.add_argument('--out', type=cli.parse_folder, required=True)
    flags = parser.parse_args(words)
    if not flags.runs and not flags.members:
        raise UserError('--runs, --members: give one of them, or both')
    require_folder_for_tables(flags.out)
    members = read_members(flags.members, flags.runs)
    for path in save(members, flags.out):
        print(path)
