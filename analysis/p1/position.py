"""Does a network answer the unseen pair in the same way at every position of the key?

Not in the papers, which average over positions. A member that scores half inferential
and half symmetric may be purely one at some positions of the key and purely the other
elsewhere.

  python -m analysis position --run runs/phase --gamma=1.7 --seed=0
"""

from typing import NamedTuple

import numpy as np

from analysis.drawing import style
from analysis.members.point import complete_point
from analysis.members.selection import has_unseen_pair
from analysis.members.solution import UNSEEN_MAPPINGS, is_half_and_half
from anchorjax.errors import UserError
from anchorjax.storage.reader import Run

TITLE = 'Answers by position'
PAPER = 'ours'
CAPTION = 'Which answers a network gives with the key at each position.'


class Result(NamedTuple):
    """Agreement of a member on the unseen pair, by the position of the key item."""

    positions: tuple[str, ...]  # 'at_0', ...: of the first of the three tokens
    agreement: np.ndarray  # [2, position] with UNSEEN_MAPPINGS
    is_half_and_half: bool


def compute(run: Run, **point) -> Result:
    """The member's scores by position, from the curves alone.

    Raises:
      UserError: there is no such member, it is not trained yet, or its task has no
        unseen pair.
    """
    labels = run.labels(**complete_point(run, point))
    results = run.results
    if not has_unseen_pair(results):
        raise UserError('position: the task has no unseen pair with these mappings')
    member = results.sel(labels | {'probe': 'unseen', 'mapping': list(UNSEEN_MAPPINGS)})
    if not member.trained:
        raise UserError('position: the member is not trained yet')
    agreement = member.agreement_by_group.transpose('mapping', 'group').values
    groups = tuple(map(str, member.group.values))
    return Result(groups, agreement, is_half_and_half(agreement))


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [1, 1]: agreement with both solutions, with the key at each position.

    With the key at its last position, the sequence ends in the second anchor.
    """
    axis = axes[0, 0]
    places = np.arange(len(result.positions))
    for i, mapping in enumerate(UNSEEN_MAPPINGS):
        axis.bar(
            places + 0.4 * i - 0.2,
            result.agreement[i],
            0.36,
            color=style.COLOURS[mapping],
            label=mapping,
        )
    names = [name.removeprefix('at_') for name in result.positions]
    axis.set_xticks(places, names)
    axis.set_ylim(0, 1)
    axis.set_xlabel('position of the key')
    axis.set_ylabel('agreement, unseen pair')
    if result.is_half_and_half:
        axis.set_title('half and half')
    axis.legend(loc='upper center', bbox_to_anchor=(0.5, 1.25), ncols=2)


layout = style.Layout(1, 1, 3.4, 2.4)
