"""What language models answer to equations of the anchor task, beside our members.

Stacked bars: the shares of answers to the unseen pair that are composed, symmetric,
neither, or hold no number; the black mark is the share of right answers to seen pairs
with new key items. P1's slides ask so; `python launch/prompts.py score` draws it.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from analysis import frame
from analysis.drawing import style
from analysis.members.selection import require_task
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run
from anchorjax.tasks.anchors import AnchorsConfig, find_row, list_shifts

# The shares that a bar has, and their colours.
ANSWERS = {
    'composed': style.COLOURS['composed'],
    'symmetric': style.COLOURS['symmetric'],
    'neither': '#CCCCCC',
    'unparsable': '#FFFFFF',
}
layout = style.Layout(rows=1, columns=1, width=6, height=3)


def compute(tables: Mapping[str, pd.DataFrame], run: Run | None = None) -> pd.DataFrame:
    """A bar for each language model, then for our converged members by γ: means.

    A bar has the share of each of ANSWERS to the unseen pair, `heldout` of right
    answers to seen pairs with new key items, and the `number` of replies or members.

    Args:
      tables: of `prompts.score_replies`, by model.
      run: a sweep of the same task, averaged over all its axes but γ.

    Raises:
      UserError: there are no replies, or the run is of no task with an unseen pair.
    """
    if not tables:
        raise UserError('replies: there are none (*.jsonl)')
    bars = []
    for model, table in tables.items():
        unseen = table[table.eval_set == 'unseen']
        heldout = table[table.eval_set == 'seen_heldout'].assigned.mean()
        bar = {'model': model, 'heldout': heldout, 'number': len(unseen)}
        bars.append(bar | dict(unseen[list(ANSWERS)].mean()))
    return pd.DataFrame(bars + (_list_member_bars(run) if run else []))


def _list_member_bars(run: Run) -> list[dict[str, object]]:
    members = frame.list_usable(run, 'anchors')
    task = require_task(run.experiment.task, AnchorsConfig)
    if not task.unseen_pairs:
        raise UserError('--run: its task has no unseen pair, the prompts have one')
    composed, symmetric, _ = list_shifts(task)[find_row(task, task.unseen_pairs[0])]
    members = members.assign(
        heldout=members.seen_heldout_assigned,
        composed=members.unseen_composed,
        # As in the scores of replies: one answer of two names counts once.
        symmetric=members.unseen_symmetric * float(composed != symmetric),
        unparsable=0.0,
    )
    members['neither'] = 1 - members.composed - members.symmetric
    bars = []
    for gamma, group in members[members.converged].groupby('gamma'):
        bar = {'model': f'γ {gamma:g}', 'number': len(group)}
        bars.append(bar | dict(group[['heldout', *ANSWERS]].mean()))
    return bars


def draw_bars(bars: pd.DataFrame, axes: np.ndarray) -> None:
    """Fills axes [1, 1]."""
    axis = axes[0, 0]
    places = np.arange(len(bars))
    left = np.zeros(len(bars))
    for answer, colour in ANSWERS.items():
        look = {'color': colour, 'edgecolor': '#888888', 'linewidth': 0.5}
        axis.barh(places, bars[answer], left=left, label=answer, **look)
        left = left + bars[answer].to_numpy()
    axis.plot(bars.heldout, places, 'k|', label='seen pairs, new keys')
    axis.set_yticks(places, bars.model + ' (' + bars.number.astype(str) + ')')
    axis.invert_yaxis()
    axis.set(xlim=(0, 1), xlabel='share of answers to the unseen pair')
    axis.legend(loc='upper left', bbox_to_anchor=(1, 1))
