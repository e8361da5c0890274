"""Does a network judge by its own proof? PrOntoQA by free generation (P1 Fig 7).

Training scores True or False after the right proof, which needs only its last sentence.
Here every network continues new questions by its most likely tokens, and is judged by
what it writes; the shares are those of `writing.measure`.

  python -m analysis free_generation --run runs/prontoqa
"""

from typing import Annotated

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis import frame
from analysis.drawing import style
from analysis.members.selection import require_task
from analysis.text_tasks.members import read_members
from analysis.text_tasks.writing import let_write, measure
from anchorjax.errors import UserError
from anchorjax.limits import at_least, at_most
from anchorjax.storage.reader import Run
from anchorjax.tasks.prontoqa.task import ProntoqaConfig

TITLE = 'Free generation'
PAPER = 'P1 Fig 7'
CAPTION = (
    'Shares of new questions by the number of training examples: the judgement after '
    'the right proof and after the own one, and what is right of the proofs.'
)

COLOURS = {
    'label after right proof': '#0072B2',
    'label after own proof': '#D55E00',
    'own proof right': '#009E73',
    'proof and label right': '#CC79A7',
    'label fits own proof': '#E69F00',
    'label after wrong proof': '#56B4E9',
    'ended': '#999999',
}


def compute(
    run: Run,
    number: Annotated[int, at_least(1), at_most(100_000), 'of questions'] = 200,
) -> pd.DataFrame:
    """The networks of `members.read_members`, and what they write when training ends.

    Those that are trained without proofs are left out.

    Args:
      number: of questions, of those of the eval set; all of them if it has fewer.

    Returns:
      The table of the networks, with the shares of these questions.

    Raises:
      UserError: no trained network, or another task, or one without proofs.
      StoreError: a snapshot is missing or damaged.
    """
    require_task(run.experiment.task, ProntoqaConfig)
    members = read_members(run, 'prontoqa')
    has_proof = []
    for point in frame.find_points(run, members):
        task = require_task(run.experiment_of(**point).task, ProntoqaConfig)
        has_proof.append(task.chain_of_thought)
    members = members[has_proof]
    if not len(members):
        raise UserError('task.chain_of_thought = False: there is no proof to write')
    shares = []
    for _, member in frame.open_networks(run, members, 'free_generation'):
        shares.append(measure(let_write(member, number)))
    return members.join(pd.DataFrame(shares, members.index))


def draw(result: pd.DataFrame, axes: np.ndarray) -> None:
    """Fills axes [setting, cell]: shares by size, mean of seeds and all of them."""
    cells = [cell for cell, _ in result.groupby(['gamma', 'weight_decay'])]
    by_setting = result.groupby('setting', sort=False)
    for row, (setting, of_setting) in enumerate(by_setting):
        by_cell = of_setting.groupby(['gamma', 'weight_decay'])
        for axis, cell in zip(axes[row], cells, strict=True):
            if cell in by_cell.groups:
                draw_cell(axis, by_cell.get_group(cell))
            title = f'γ {cell[0]:g}, decay {cell[1]:g} {setting}'
            axis.set_title(title.strip(), fontsize=7)
            axis.set(ylim=(-0.03, 1.03), xlabel='training examples')
        axes[row, 0].set_ylabel('share of new questions')
    axes[0, 0].legend(fontsize=5)


def draw_cell(axis: Axes, members: pd.DataFrame) -> None:
    """Every measure by size."""
    by_size = members.groupby('size')
    labels = [f'{size:,}' for size in by_size.groups]
    places = by_size.ngroup()
    for name, colour in COLOURS.items():
        axis.plot(places, members[name], '.', ms=3, color=colour)
        means = by_size[name].mean()
        axis.plot(range(len(means)), means, '-', lw=1, color=colour, label=name)
    axis.set_xticks(range(len(labels)), labels, fontsize=6)


def layout(result: pd.DataFrame) -> style.Layout:
    rows = result.setting.nunique()
    columns = result.groupby(['gamma', 'weight_decay']).ngroups
    return style.Layout(rows, columns, 0.6 + 2.2 * columns, 0.4 + 2.4 * rows)
