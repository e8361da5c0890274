"""Does a member answer a pair and its reverse alike? (P3 Fig 3, PAPERS 3.3)

P3 does not define commutativity. Here it is the share of sequences that get one answer
when their two anchors change places, with key and noise as they are: for an unseen
pair, whether the answer is right or not. Chance is how often another pair of anchors,
put in their place, gets that answer.
"""

import numpy as np

from analysis.members.member import Member
from anchorjax.errors import UserError
from anchorjax.tasks import anchors

SEQUENCES = 256


def measure_commutativity(member: Member) -> dict[str, float]:
    """How often a reversed pair and others get the answer of the first unseen pair.

    commutativity  share of the sequences of its probe with the answer of the reverse
    chance         the same of another pair of anchors, mean of all

    Raises:
      UserError: the task has no unseen pair of two different anchors.
    """
    task = member.experiment.task
    unseen = task.unseen_pairs
    if not unseen or unseen[0][0] == unseen[0][1]:
        raise UserError('commutativity: needs an unseen pair of two different anchors')
    pair = unseen[0]
    probe = member.task.probe_names.index('unseen')
    tokens_BT = member.probes.tokens_PBT[probe, :SEQUENCES]
    role_BT = member.roles(tokens_BT)
    is_first_BT = role_BT == anchors.ROLES.index('anchor_1')
    is_second_BT = role_BT == anchors.ROLES.index('anchor_2')
    answers = {}
    for first, second in anchors.list_pairs(task).tolist():
        asked_BT = np.where(is_first_BT, first, tokens_BT)
        asked_BT = np.where(is_second_BT, second, asked_BT)
        logits_BV = member.forward(asked_BT).logits[:, -1]
        answers[first, second] = logits_BV.argmax(-1)
    own_B = answers.pop(pair)
    reversed_B = answers.pop(pair[::-1])
    chances = []
    for other_B in answers.values():
        chances.append(np.mean(own_B == other_B))
    return {
        'commutativity': float(np.mean(own_B == reversed_B)),
        'chance': float(np.mean(chances)),
    }
