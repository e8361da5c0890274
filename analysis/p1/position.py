"""Does a network answer the unseen pair in the same way at every position of the key?

Not in the papers, which average over positions. A member that scores half composed
and half symmetric may be purely one at some positions of the key and purely the other
elsewhere.

  python -m analysis position --run runs/phase --gamma=2.04 --depth=3 --seed=0
"""

from typing import Any

import numpy as np
import xarray as xr

from analysis.drawing import style
from analysis.members.point import complete_point
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run
from anchorjax.tasks.solution import UNSEEN_MAPPINGS, is_half_and_half

TITLE = 'Answers by position'
PAPER = 'ours'
CAPTION = 'Which answers a network gives with the key at each position.'


def compute(run: Run, **network: Any) -> xr.Dataset:
    """`agreement` [mapping, group] on the unseen pair, by the position of the key.

    The groups 'at_0', ... are positions of the first of the three tokens. Reads the
    curves alone.

    Raises:
      UserError: there is no such member, it is not trained yet, its task has no unseen
        pair, or scores it by pair.
    """
    member = run.results.sel(run.labels(**complete_point(run, network)), drop=True)
    is_mapping = np.isin(UNSEEN_MAPPINGS, member.mapping)
    if 'unseen' not in member.eval_set or not is_mapping.all():
        raise UserError('position: the task has no unseen pair with these mappings')
    if not all(group.startswith('at_') for group in member.group.values):
        raise UserError("position: task.groups = 'pair': not scored by position")
    if not member.trained:
        raise UserError('position: the member is not trained yet')
    unseen = member.agreement_by_group.sel(eval_set='unseen', drop=True)
    by_mapping = unseen.sel(mapping=list(UNSEEN_MAPPINGS))
    agreement = by_mapping.transpose('mapping', 'group')
    title = 'half and half' if is_half_and_half(agreement.values) else ''
    return xr.Dataset({'agreement': agreement}, attrs={'title': title})


def draw(result: xr.Dataset, axes: np.ndarray) -> None:
    """Fills axes [1, 1]: agreement with both solutions, with the key at each position.

    With the key at its last position, the sequence ends in the second anchor.
    """
    axis = axes[0, 0]
    places = np.arange(result.sizes['group'])
    for shift, mapping in zip((-0.2, 0.2), UNSEEN_MAPPINGS, strict=True):
        shares = result.agreement.sel(mapping=mapping)
        bar = {'color': style.COLOURS[mapping], 'label': mapping}
        axis.bar(places + shift, shares, 0.36, **bar)
    names = [name.removeprefix('at_') for name in result.group.values]
    axis.set_xticks(places, names)
    axis.set_ylim(0, 1)
    axis.set_xlabel('position of the key')
    axis.set_ylabel('agreement, unseen pair')
    axis.set_title(result.title)
    axis.legend(loc='upper center', bbox_to_anchor=(0.5, 1.25), ncols=2)


layout = style.Layout(1, 1, 3.4, 2.4)
