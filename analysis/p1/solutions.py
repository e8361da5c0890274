"""Which solution the members of a sweep reach, as a table with a row per point.

Numbers are of all members that did not diverge; solutions are of converged ones, and
the others are counted. In the anchor task, each score stands beside what tables of the
training data would score (analysis/members/lookup.py).

  python -m analysis solutions --run runs/phase       # a Markdown table on stdout
"""

import numpy as np
import pandas as pd

from analysis import frame
from analysis.members.columns import PAPER_WIDTH, list_varying_axes
from analysis.members.lookup import score_members
from analysis.tables.text import (
    format_counts,
    format_level,
    format_list,
    format_range,
    format_table,
)
from anchorjax import cli
from anchorjax.errors import UserError
from anchorjax.storage.reader import open_run
from anchorjax.tasks.anchors import AnchorsConfig
from anchorjax.tasks.solution import (
    DIVERGED,
    NOT_CONVERGED,
    SOLUTIONS,
    name_ends,
)

TITLE = 'Solutions'
PAPER = 'any sweep of anchors'
CAPTION = 'Which solution the members reach, as a Markdown table.'

_TITLES = {
    'train_loss': 'train loss',
    'seen_heldout_assigned': 'held-out',
    'unseen_composed': 'composed on unseen',
    'unseen_within_1': 'within 1',
    'unseen_within_2': 'within 2',
    'unseen_symmetric': 'symmetric on unseen',
}
_ABOUT_NEAR = (
    'within 1, within 2: answers at most so far from the composed one, those of '
    'other pairs included.'
)
_TABLES = 'tables'  # what the columns beside a score are called
_ABOUT_TABLES = (
    f'{_TABLES}: what tables of the training data by {{}} would score; means over '
    'seeds.'
)


def compute(members: pd.DataFrame, tables: pd.DataFrame | None = None) -> pd.DataFrame:
    """Texts, a row per point of the grid with its trained members, seeds pooled.

    Means (ranges) over seeds, and how many seeds reach each solution. Attribute: the
    `levels` of the tables.

    Args:
      members: of `frame.read_members`.
      tables: of the same rows, as `lookup.score_members` returns them; None: the task
        has no tables.
    """
    members = members[members.trained]
    varying = list_varying_axes(members) or ['gamma']
    solution = name_solutions(members)
    order = [*SOLUTIONS, NOT_CONVERGED, DIVERGED]
    seeds = members.seed.nunique()
    rows = []
    for _, here in members.groupby(varying, sort=False):
        texts = describe_point(here, varying)
        for name, title in _TITLES.items():
            if name not in members:
                continue
            values = here[name].where(here.diverged < 0)
            ends = (values.mean(), values.min(), values.max())
            texts[title] = format_range(*ends, seeds)
            if tables is not None and name in tables:
                of_tables = tables.loc[here.index, [name]]
                texts[f'{title}: {_TABLES}'] = format_list([*of_tables.mean()])
        counts = solution[here.index].value_counts()
        counts = {name: counts.get(name, 0) for name in order}
        texts['solution (seeds)'] = format_counts(counts)
        rows.append(texts)
    table = pd.DataFrame(rows)
    table.attrs['levels'] = []
    if tables is not None:
        table.attrs['levels'] = list(tables.columns.unique(level=1))
    return table


def name_solutions(members: pd.DataFrame) -> pd.Series:
    """What every member has reached."""
    return members.solution if 'solution' in members else name_ends(members)


def describe_point(here: pd.DataFrame, varying: list[str]) -> dict[str, str]:
    """The values of the axes that vary, and beside γ that of P1's width."""
    first = here.iloc[0]
    texts = {}
    for axis in varying:
        texts[axis] = format_level(first[axis])
        if axis == 'gamma' and not np.isnan(first.gamma_at_400):
            at_400 = round(first.gamma_at_400, 2)
            texts[f'gamma at width {PAPER_WIDTH}'] = f'{at_400:g}'
    return texts


def command(words: list[str]) -> None:
    """Prints the table of a run."""
    parser = cli.Parser(prog='python -m analysis solutions', description=__doc__)
    parser.add_argument('--run', required=True, type=cli.parse_folder)
    flags = parser.parse_args(words)
    run = open_run(flags.run)
    members = frame.read_members(run)
    if not members.trained.any():
        raise UserError(f'{flags.run}: no member is trained yet')
    is_anchors = isinstance(run.experiment.task, AnchorsConfig)
    tables = score_members(run, members) if is_anchors else None
    print(write_table(compute(members, tables)))


def write_table(table: pd.DataFrame) -> str:
    """The result of `compute` as Markdown, and what its columns are."""
    parts = [format_table(list(map(str, table)), table.to_numpy().tolist())]
    if table.attrs['levels']:
        parts.append(_ABOUT_TABLES.format(', by '.join(table.attrs['levels'])))
    if 'within 1' in table:
        parts.append(_ABOUT_NEAR)
    return '\n\n'.join(parts)
