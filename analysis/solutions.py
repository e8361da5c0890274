"""Which solution the members of a sweep end at, as a table: one row per point, over its seeds.

python analysis/solutions.py --run runs/map_seq_len        (a Markdown table on stdout)
"""

import pathlib
from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis.phase import SEEN_ENOUGH, SOLVED
from anchorjax import cli
from anchorjax.storage.reader import members_table, open_run

_COLUMNS = {
    'train_loss': 'train loss',
    'seen_heldout_assigned': 'held-out',
    'unseen_inferential': 'inferential on unseen',
    'unseen_symmetric': 'symmetric on unseen',
}


class Result(NamedTuple):
    """One row per point of the grid, seeds pooled."""

    points: pd.DataFrame  # the axes that vary
    means: pd.DataFrame  # means over seeds of _COLUMNS
    lowest: pd.DataFrame  # over seeds
    highest: pd.DataFrame
    solved: (
        pd.DataFrame
    )  # number of seeds: inferential, symmetric, neither (seen or not), diverged
    seeds: int


def compute(members: pd.DataFrame) -> Result:
    """Pools the trained rows of `store.table` over seeds."""
    members = members[members.trained].rename(columns=_COLUMNS)
    axes = list(members.columns[: members.columns.get_loc('seed')])
    varying = [a for a in axes if members[a].nunique() > 1] or ['gamma']
    members = members.assign(**_solutions(members))
    groups = members.groupby(varying, sort=False)
    numbers, counts = list(_COLUMNS.values()), list(_solutions(members))
    means = groups[numbers].mean()
    return Result(
        points=means.index.to_frame(index=False),
        means=means.reset_index(drop=True),
        lowest=groups[numbers].min().reset_index(drop=True),
        highest=groups[numbers].max().reset_index(drop=True),
        solved=groups[counts].sum().reset_index(drop=True),
        seeds=members.seed.nunique(),
    )


def markdown(result: Result) -> str:
    """The table: mean (lowest to highest) over seeds, and how many seeds ended at each solution."""
    header = [*result.points, *result.means, 'solution (seeds)']
    lines = ['| ' + ' | '.join(header) + ' |', '|' + '---|' * len(header)]
    for i in range(len(result.points)):
        cells = [
            f'{v:g}' if isinstance(v, float) else str(v) for v in result.points.iloc[i]
        ]
        for column in result.means:
            mean, low, high = (
                t[column][i] for t in (result.means, result.lowest, result.highest)
            )
            cells.append(
                f'{mean:.2f} ({low:.2f}–{high:.2f})'
                if result.seeds > 1
                else f'{mean:.2f}'
            )
        counts = result.solved.iloc[i]
        cells.append(', '.join(f'{name} {n}' for name, n in counts.items() if n))
        lines.append('| ' + ' | '.join(cells) + ' |')
    return '\n'.join(lines)


def _solutions(members: pd.DataFrame) -> dict[str, np.ndarray]:
    """Every member is exactly one of these."""
    diverged = members.diverged >= 0
    inferential = ~diverged & (members['inferential on unseen'] >= SOLVED)
    symmetric = ~diverged & ~inferential & (members['symmetric on unseen'] >= SOLVED)
    rest = ~(diverged | inferential | symmetric)
    seen = members['held-out'] >= SEEN_ENOUGH
    return {
        'inferential': inferential,
        'symmetric': symmetric,
        'mixed': rest & seen,
        'not general': rest & ~seen,
        'diverged': diverged,
    }


def command() -> None:
    parser = cli.Parser(description=__doc__.splitlines()[0])
    parser.add_argument('--run', required=True, type=pathlib.Path)
    flags = parser.parse_args()
    print(markdown(compute(members_table(open_run(flags.run)))))


if __name__ == '__main__':
    cli.run_command(command)
