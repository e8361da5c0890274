"""Runs as one tidy table: a row per trained network, a column per number.

Every table of claims, and most figures, read this frame. A paper adds columns of its
own in its `members.py`; what needs curves or snapshots is computed there once, so that
the committed `members.csv` of analysis/gallery holds all that a verdict rests on.
"""

import math
import pathlib
from collections.abc import Callable, Iterator
from typing import TypeVar

import pandas as pd
import xarray as xr

from analysis.members.columns import equivalent_gamma
from analysis.members.point import Point, list_points, name_point
from analysis.members.selection import report_progress
from analysis.tables.folders import find_run_folders
from anchorjax.errors import UserError
from anchorjax.grid import TRACED_AXES, axis_label
from anchorjax.network import Network
from anchorjax.storage.reader import Run, open_run

# The rows of one run: `Run.members` with the columns of a paper.
Tabulate = Callable[[Run], pd.DataFrame]
Cube = TypeVar('Cube', xr.DataArray, xr.Dataset)


def read_members(run: Run) -> pd.DataFrame:
    """A row per member: `Run.members`, `width`, `gamma_at_400` and `exception`.

    `exception` is the task's, '' where it has none.
    """
    members = add_equivalents(run, run.members)
    if 'exception' not in members:  # no axis of the sweep
        members['exception'] = getattr(run.experiment.task, 'exception', '')
    return members


def name_agreements(run: Run) -> dict[str, str]:
    """{column of the members: heading} of the shares of answers to show."""
    task = run.experiment.task.make()
    if task.headings:
        return dict(task.headings)
    assigned = task.trained_mapping
    return {f'{eval_set}_{assigned}': eval_set for eval_set in task.eval_set_names}


def find_usable(members: pd.DataFrame) -> pd.DataFrame:
    """The members that are trained and did not diverge."""
    return members[members.trained & (members.diverged < 0)]


def list_usable(run: Run, *tasks: str) -> pd.DataFrame:
    """The usable members of a run: rows of `Run.members`.

    The index is the place of a member in the sweep, last axis fastest.

    Args:
      tasks: allowed ones; none: any.

    Raises:
      UserError: another task, or there is no such member.
    """
    task = run.experiment.task.name
    if tasks and task not in tasks:
        allowed = ' or '.join(map(repr, tasks))
        raise UserError(
            f'{run.folder.workdir}: task {task!r}: this is about the task {allowed}'
        )
    members = find_usable(run.members)
    if not len(members):
        raise UserError(
            f'{run.folder.workdir}: no member is trained yet, or all have diverged'
        )
    return members.copy()


def mark_usable(run: Run) -> pd.DataFrame:
    """All members, with `usable`: those of `list_usable`, and UserError as there."""
    return run.members.assign(usable=run.members.index.isin(list_usable(run).index))


def fix_axes(run: Run, point: Point, shown: tuple[str, ...]) -> Point:
    """The value of every axis that a figure does not show.

    It is that of the point, or the first; which, stands in the figure's title.

    Args:
      shown: axes all of whose values are in the figure.

    Raises:
      UserError: the point has one of these, or an axis that the sweep does not have; or
        it lacks one by which networks, tasks or trainings themselves differ: what is
        seen at one depth says little of another.
    """
    run.labels(**point)  # raises the error of an unknown axis
    fixed = {}
    for axis, values in run.experiment.axes.items():
        if axis in shown:
            if axis in point:
                reason = 'the figure shows all its values, leave it out'
                raise UserError(f'--{axis}: {reason}')
        elif axis not in point and len(values) > 1 and axis not in TRACED_AXES:
            labels = ', '.join(str(axis_label(value)) for value in values)
            raise UserError(f'--{axis}: the figure shows one, give it: {labels}')
        else:
            fixed[axis] = point[axis] if axis in point else next(iter(values))
    return fixed


def find_points(run: Run, members: pd.DataFrame) -> list[Point]:
    """The point of the sweep of every row of `list_usable`."""
    points = list_points(run)
    return [points[place] for place in members.index]


def name_settings(
    run: Run, members: pd.DataFrame, pooled: tuple[str, ...] = ()
) -> list[str]:
    """`name_point` of every row of `list_usable`."""
    return [name_point(run, point, pooled) for point in find_points(run, members)]


def open_networks(
    run: Run, members: pd.DataFrame, name: str, step: int | str = 'last'
) -> Iterator[tuple[int, Network]]:
    """(place in the sweep, network at a snapshot) of rows of `list_usable`.

    Args:
      name: of the figure, under which stderr shows how many are done.
    """
    places = list(zip(members.index, find_points(run, members), strict=True))
    for place, point in report_progress(places, name):
        yield place, run.network(step, **point)


def select_members(run: Run, members: pd.DataFrame, cube: Cube) -> Cube:
    """Part of `run.curves` or `run.results`, [member, ...] for the axes of the sweep.

    Args:
      members: rows of `Run.members`.
    """
    axes = list(run.experiment.axes)
    stacked = cube.stack(member=axes, create_index=False).drop_vars(axes)
    return stacked.isel(member=members.index).transpose('member', ...)


def find_width(run: Run) -> float:
    """The one width of a sweep's networks; NaN: there are several, or none.

    NaN, too, where γ is no rate: a γ of P4 has no equivalent at another width.
    """
    if 'width' in run.experiment.axes or not is_rate(run):
        return math.nan
    return getattr(run.experiment.model, 'width', math.nan)


def is_rate(run: Run) -> bool:
    """Whether γ is P1's rate, std = d_in^-γ; P4's is a factor of the weights."""
    experiment = run.experiment
    inits = experiment.axes.get('init', (getattr(experiment.model, 'init', ''),))
    return 'scale' not in inits


def add_width(run: Run, members: pd.DataFrame) -> pd.DataFrame:
    """The members with their `width`: the axis of that name, or `find_width`."""
    if 'width' in members:
        return members
    return members.assign(width=find_width(run))


def add_equivalents(run: Run, members: pd.DataFrame) -> pd.DataFrame:
    """The members with their `width`, and `gamma_at_400` (`equivalent_gamma`).

    NaN where there is no such γ; see `find_width`.
    """
    members = add_width(run, members)
    at_400 = equivalent_gamma(members.gamma, members.width)
    return members.assign(gamma_at_400=at_400 if is_rate(run) else math.nan)


def collect(runs: dict[str, Run], tabulate: Tabulate) -> pd.DataFrame:
    """The rows of several runs, each with the name of its `run`.

    `untrained` is how many networks of the run's grid are missing.

    Raises:
      UserError: no member is trained.
    """
    tables = []
    for name, run in runs.items():
        table = tabulate(run)
        table.insert(0, 'run', name)
        table['untrained'] = int((~run.members.trained).sum())
        tables.append(table)
    members = pd.concat(tables, ignore_index=True)
    if not len(members):
        raise UserError(
            f'{", ".join(runs)}: no member is trained yet, or all have diverged'
        )
    return members


def open_runs(patterns: list[str]) -> dict[str, Run]:
    """The runs whose folders match one of the patterns, by the names of the folders.

    Raises:
      UserError: no folder of a run matches, or two have the same name.
    """
    runs: dict[str, Run] = {}
    for folder in find_run_folders(patterns):
        if folder.name in runs:
            raise UserError(f'--runs: two folders are called {folder.name!r}')
        runs[folder.name] = open_run(folder)
    return runs


def read_csv(path: pathlib.Path) -> pd.DataFrame:
    """A committed members.csv; empty texts stay texts, unless all of a column are.

    Raises:
      UserError: it is no table of members.
    """
    if not path.exists():
        raise UserError(f'{path}: no such file')
    try:
        table = pd.read_csv(
            path,
            keep_default_na=False,
            na_values=[''],
            dtype={'run': str, 'seed': int, 'converged': bool},
        )
    except (OSError, ValueError) as error:  # pandas' own are ValueErrors
        raise UserError(f'{path}: cannot be read as CSV: {error}') from None
    missing = {'run', 'seed', 'converged'} - set(table.columns)
    if missing:
        raise UserError(f'{path}: no column {", ".join(sorted(missing))}')
    texts = table.select_dtypes(exclude=['number', 'bool']).columns
    return table.fillna(dict.fromkeys(texts, ''))
