"""Does one network answer the unseen pair in the same way wherever the key stands?

Not in the papers, which average over positions: a member that scores half inferential and half
symmetric may be wholly one at one position of the key and wholly the other elsewhere.

  python analysis/position.py --run runs/phase --gamma=1.2 --depth=2 --seed=0
"""

from typing import NamedTuple

import numpy as np

from analysis.drawing import command, style
from analysis.members.member import Member


class Result(NamedTuple):
    """Agreement of a member on the unseen pair, by the position of the key item."""

    positions: np.ndarray  # [position]
    agreement: np.ndarray  # [position, R]
    mapping_names: tuple[str, ...]
    counts: np.ndarray  # [position] sequences behind each row


def compute(member: Member) -> Result:
    """The member's own probe of the unseen pair, position by position."""
    unseen = member.task.probe_names.index('unseen')
    tokens_BT, labels_RB = (probe[unseen] for probe in member.probes)
    agrees_RB = labels_RB == member.forward(tokens_BT).logits[:, -1].argmax(-1)
    is_key_BT = member.roles(tokens_BT) == member.task.role_names.index('key')
    position_B = is_key_BT.argmax(-1)
    positions, counts = np.unique(position_B, return_counts=True)
    agreement = np.stack([agrees_RB[:, position_B == p].mean(-1) for p in positions])
    return Result(positions, agreement, member.task.mapping_names, counts)


def draw(result: Result, axes) -> None:
    """Fills axes [1, 1]: both solutions at every position; the last has the anchor at the end."""
    axis = axes[0, 0]
    for i, mapping in enumerate(('inferential', 'symmetric')):
        values = result.agreement[:, result.mapping_names.index(mapping)]
        place = result.positions + 0.4 * i - 0.2
        axis.bar(place, values, 0.36, color=style.COLOURS[mapping], label=mapping)
    names = [
        f'{p}\n({n})' for p, n in zip(result.positions, result.counts, strict=True)
    ]
    axis.set_xticks(result.positions, names)
    axis.set(
        ylim=(0, 1),
        xlabel='position of the key (sequences)',
        ylabel='agreement, unseen pair',
    )
    axis.legend(loc='upper center', bbox_to_anchor=(0.5, 1.18), ncols=2)


layout = style.Layout(1, 1, 3.4, 2.4)

if __name__ == '__main__':
    command.member(__doc__, 'position', compute, draw, layout)
