"""Does a network answer the unseen pair in the same way at every position of the key?

Not in the papers, which average over positions. A member that scores half inferential
and half symmetric may be purely one at some positions of the key and purely the other
elsewhere.

  python analysis/position.py --run runs/phase --gamma=1.2 --depth=2 --seed=0
"""

from typing import NamedTuple

import numpy as np

from analysis.circuits import interventions, sequences
from analysis.drawing import command, style
from analysis.members.member import Member


class Result(NamedTuple):
    """Agreement of a member on the unseen pair, by the position of the key item."""

    positions: np.ndarray  # [position]
    agreement: np.ndarray  # [position, R]
    mapping_names: tuple[str, ...]
    counts: np.ndarray  # [position] sequences behind each row


def compute(member: Member) -> Result:
    """Splits the member's own probe of the unseen pair by the position of the key.

    Raises:
      UserError: the member's task is not the anchor task with an unseen pair.
    """
    sequences.require_unseen_pair(member)
    unseen = member.task.probe_names.index('unseen')
    tokens_PBT, labels_PRB = member.probes
    tokens_BT = tokens_PBT[unseen]
    activations = member.forward(tokens_BT)
    answers_B = interventions.read_answers(activations)
    agrees_RB = labels_PRB[unseen] == answers_B

    roles_BT = member.roles(tokens_BT)
    key = member.task.role_names.index('key')
    is_key_BT = roles_BT == key
    position_B = is_key_BT.argmax(-1)
    positions, counts = np.unique(position_B, return_counts=True)
    agreement = []
    for position in positions:
        chosen_B = position_B == position
        agrees_at_position_RB = agrees_RB[:, chosen_B]
        agreement.append(agrees_at_position_RB.mean(-1))
    return Result(positions, np.stack(agreement), member.task.mapping_names, counts)


def draw(result: Result, axes: np.ndarray) -> None:
    """Fills axes [1, 1]: agreement with both solutions, with the key at each position.

    With the key at its last position, the sequence ends in the second anchor.
    """
    axis = axes[0, 0]
    for i, mapping in enumerate(('inferential', 'symmetric')):
        r = result.mapping_names.index(mapping)
        axis.bar(
            result.positions + 0.4 * i - 0.2,
            result.agreement[:, r],
            0.36,
            color=style.COLOURS[mapping],
            label=mapping,
        )
    labels = []
    for position, count in zip(result.positions, result.counts, strict=True):
        labels.append(f'{position}\n({count})')
    axis.set_xticks(result.positions, labels)
    axis.set_ylim(0, 1)
    axis.set_xlabel('position of the key (sequences)')
    axis.set_ylabel('agreement, unseen pair')
    axis.legend(loc='upper center', bbox_to_anchor=(0.5, 1.18), ncols=2)


layout = style.Layout(1, 1, 3.4, 2.4)

if __name__ == '__main__':
    command.run_member_figure(__doc__, 'position', compute, draw, layout)
