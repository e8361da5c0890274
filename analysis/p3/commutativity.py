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
    answers = {}
    for other in map(tuple, anchors.list_pairs(task).tolist()):
        asked_BT = replace_pair(tokens_BT, role_BT, other)
        logits_BV = member.forward(asked_BT).logits[:, -1]
        answers[other] = logits_BV.argmax(-1)
    own_B = answers.pop(pair)
    reversed_B = answers.pop(pair[::-1])
    chances = []
    for other_B in answers.values():
        chances.append(np.mean(own_B == other_B))
    return {
        'commutativity': float(np.mean(own_B == reversed_B)),
        'chance': float(np.mean(chances)),
    }


def replace_pair(
    tokens_BT: np.ndarray, role_BT: np.ndarray, pair: tuple[int, int]
) -> np.ndarray:
    """The sequences with another pair of anchors in the same places."""
    replaced_BT = tokens_BT.copy()
    for name, anchor in zip(('anchor_1', 'anchor_2'), pair, strict=True):
        replaced_BT[role_BT == anchors.ROLES.index(name)] = anchor
    return replaced_BT
