"""How much of the order of the pair reaches the position that answers?

Only the exception needs the order: a sum of two anchors is the same both ways round. A
network that answers (4, 3) as (3, 4) may ignore the order, or may not have it where it
answers. The second is what is measured here.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from analysis.circuits import sequences
from analysis.circuits.sequences import Sequences
from analysis.members.member import Member
from anchorjax.errors import require
from anchorjax.tasks import anchors


class Comparison(NamedTuple):
    """B sequences with two different anchors, each beside two others."""

    base: Sequences
    exchanged: Sequences  # the two anchors in the other order
    replaced: Sequences  # one of the two is a third anchor


def draw_comparison(member: Member, number: int = 1024) -> Comparison:
    """Random sequences, with noise last if the task has such.

    In every second one the first anchor is replaced, in the others the second one.

    Raises:
      UserError: not the anchor task, or fewer than three anchors.
    """
    config = sequences.require_anchor_task(member)
    anchors_A = np.array(sorted(config.shift_of))
    require(len(anchors_A) >= 3, 'task.anchors', len(anchors_A), 'at least 3 of them')
    pairs_A2 = anchors.list_pairs(config)
    different_A2 = pairs_A2[pairs_A2[:, 0] != pairs_A2[:, 1]]
    base = sequences.sample(member, number, pairs=different_A2)

    exchanged_B2 = base.pair_B2[:, ::-1]
    replaced_B2 = _replace_one(base.pair_B2, anchors_A)
    return Comparison(
        base=base,
        exchanged=sequences.replace_items(member, base, base.x_B, exchanged_B2),
        replaced=sequences.replace_items(member, base, base.x_B, replaced_B2),
    )


def measure_order(member: Member, comparison: Comparison) -> np.ndarray:
    """Order [layer] at the last position, after the attention of each layer (X_ao).

    The mean squared distance between a sequence and the same one with its two anchors
    exchanged, by that between it and the same one with another anchor. 0: no order. If
    X_ao holds w1 times a vector of the first anchor plus w2 times the same vector of
    the second, it is 2 (w1 - w2)^2 / (w1^2 + w2^2): 2 if one anchor alone is read.
    """
    base, exchanged, replaced = (
        member.activations(compared.tokens_BT).blocks for compared in comparison
    )
    order = []
    for here, turned, other in zip(base, exchanged, replaced, strict=True):
        between_orders = _mean_square(here.X_ao[:, -1] - turned.X_ao[:, -1])
        between_anchors = _mean_square(here.X_ao[:, -1] - other.X_ao[:, -1])
        order.append(between_orders / between_anchors if between_anchors else np.nan)
    return np.array(order)


def _replace_one(pair_B2: np.ndarray, anchors_A: np.ndarray) -> np.ndarray:
    """Every second pair gets another first anchor, the others another second one."""
    rng = np.random.default_rng(1)
    is_free_BA = (anchors_A != pair_B2[:, :1]) & (anchors_A != pair_B2[:, 1:])
    draw_BA = np.where(is_free_BA, rng.random(is_free_BA.shape), -1.0)
    rows_B = np.arange(len(pair_B2))
    replaced_B2 = pair_B2.copy()
    replaced_B2[rows_B, rows_B % 2] = anchors_A[draw_BA.argmax(-1)]
    return replaced_B2


def _mean_square(difference_BD: ArrayLike) -> float:
    """Mean squared length of the rows."""
    return float((np.asarray(difference_BD, float) ** 2).sum(-1).mean())
