"""Which solution the members of a sweep reach, as a table with a row per point.

Numbers are of converged members; the others are counted. In the anchor task, each score
stands beside what tables of the training data would score (analysis/members/lookup.py).

  python -m analysis solutions --run runs/phase       # a Markdown table on stdout
"""

import math
from typing import NamedTuple

import pandas as pd

from analysis import frame
from analysis.members.lookup import LEVELS, score_members
from analysis.members.solution import classify_members, list_names, name_thirds
from analysis.tables.text import (
    format_counts,
    format_list,
    format_range,
    format_records,
)
from anchorjax import cli
from anchorjax.errors import UserError
from anchorjax.storage.reader import members_table, open_run
from anchorjax.tasks.anchors import AnchorsConfig

TITLE = 'Solutions'
PAPER = 'any sweep of anchors'
CAPTION = 'Which solution the members reach, as a Markdown table.'


_TITLES = {
    'train_loss': 'train loss',
    'seen_heldout_assigned': 'held-out',
    'unseen_inferential': 'inferential on unseen',
    'unseen_within_1': 'within 1',
    'unseen_within_2': 'within 2',
    'unseen_symmetric': 'symmetric on unseen',
}
_ABOUT_NEAR = (
    'within 1, within 2: answers at most so far from the inferential one, those of '
    'other pairs included.'
)
_TABLES = 'tables'  # what the columns beside a score are called
_ABOUT_TABLES = (
    f'{_TABLES}: what tables of the training data by {", by ".join(LEVELS)} would '
    'score; means over seeds.'
)
_DIVERGED = 'diverged'
_UNCONVERGED = 'not converged'


class Result(NamedTuple):
    """One row per point of the grid, seeds pooled."""

    points: pd.DataFrame  # the axes that vary
    # Over converged seeds, of the numbers in _TITLES that the task has; NaN: none is.
    means: pd.DataFrame
    # Over seeds, of what tables of the training data would score: (one of _TITLES, one
    # of lookup.LEVELS); no columns if the task has no such tables.
    tables: pd.DataFrame
    lowest: pd.DataFrame  # over seeds
    highest: pd.DataFrame
    solved: pd.DataFrame  # number of seeds at each of third.list_names, or without one
    seeds: int


def compute(
    members: pd.DataFrame,
    tables: pd.DataFrame | None = None,
    width: float = math.nan,
) -> Result:
    """Pools the trained rows of `reader.members_table` over seeds.

    Args:
      tables: of the same rows, as `lookup.score_members` returns them; None: the task
        has no tables.
      width: of the networks, for the γ of the same standard deviation at P1's width;
        NaN: without it.
    """
    members = members[members.trained]
    keys = _find_keys(members)
    names = [name for name in _TITLES if name in members]
    numbers = members[names].where(members.converged).rename(columns=_TITLES)
    groups = numbers.groupby(keys, sort=False)
    means = groups.mean()
    if tables is None:
        tables = pd.DataFrame(index=members.index)
    of_tables = tables.loc[members.index].groupby(keys, sort=False).mean()

    solution = classify_members(members)
    if 'unseen_answer' in members:
        solution = name_thirds(solution, members.unseen_answer)
    solution = solution.where(members.converged, _UNCONVERGED)
    solution = solution.where(members.diverged < 0, _DIVERGED)
    counts = pd.DataFrame(index=members.index)
    for name in (*list_names(solution), _UNCONVERGED, _DIVERGED):
        counts[name] = solution == name
    solved = counts.groupby(keys, sort=False).sum()
    points = means.index.to_frame(index=False)
    if 'gamma' in points and not math.isnan(width):
        place = points.columns.get_loc('gamma') + 1
        equivalent = frame.equivalent_gamma(points.gamma, width).round(2)
        points.insert(place, f'gamma at width {frame.PAPER_WIDTH}', equivalent)
    return Result(
        points=points,
        means=means.reset_index(drop=True),
        tables=of_tables.rename(columns=_TITLES).reset_index(drop=True),
        lowest=groups.min().reset_index(drop=True),
        highest=groups.max().reset_index(drop=True),
        solved=solved.reset_index(drop=True),
        seeds=members.seed.nunique(),
    )


def markdown(result: Result) -> str:
    """The table: means (ranges) over seeds, and how many reach each solution."""
    rows = []
    for i in range(len(result.points)):
        rows.append(_describe_point(result, i))
    return format_records(rows)


def _describe_point(result: Result, i: int) -> dict[str, str]:
    """The texts of one row of the table, by the titles of its columns."""
    texts = {}
    for axis, value in result.points.iloc[i].items():
        texts[axis] = _format_value(value)
    for title in result.means:
        numbers = (result.means, result.lowest, result.highest)
        of_point = [number[title][i] for number in numbers]
        texts[title] = format_range(*of_point, result.seeds)
        if title in result.tables:
            of_tables = result.tables[title].iloc[i]
            texts[f'{title}: {_TABLES}'] = format_list(of_tables)
    texts['solution (seeds)'] = format_counts(result.solved.iloc[i].to_dict())
    return texts


def _find_keys(members: pd.DataFrame) -> list[pd.Series]:
    """The columns of the axes that vary, the seed aside; gamma if none does."""
    number_of_axes = members.columns.get_loc('seed')
    keys = []
    for axis in members.columns[:number_of_axes]:
        if members[axis].nunique() > 1:
            keys.append(members[axis])
    return keys or [members.gamma]


def _format_value(value: object) -> str:
    if isinstance(value, float):
        return f'{value:g}'
    return str(value)


def command(words: list[str]) -> None:
    """Prints the table of a run."""
    parser = cli.Parser(description=__doc__.splitlines()[0])
    parser.add_argument('--run', required=True, type=cli.parse_folder)
    flags = parser.parse_args(words)
    run = open_run(flags.run)
    members = members_table(run)
    if not members.trained.any():
        raise UserError(f'{flags.run}: no member is trained yet')
    width = frame.find_width(run)
    if not isinstance(run.experiment.task, AnchorsConfig):
        print(markdown(compute(members, width=width)))
        return
    print(markdown(compute(members, score_members(run, members), width)))
    print(f'\n{_ABOUT_TABLES}')
    if 'unseen_within_1' in members:
        print(f'\n{_ABOUT_NEAR}')
