"""What does a position know? X_ao of another sequence, put in at one position of one layer.

Two sequences differ in one thing: the key item, or one of the anchors. If the network then
answers as it would to the other one, the difference had gone through that position.
"""

from typing import NamedTuple

import numpy as np

from analysis.circuits import interventions, sequences
from analysis.members.member import Member
from anchorjax.tasks import anchors

FACTORS = ('key', 'anchor_1', 'anchor_2')
PLACES = {
    'key': ('key',),
    'anchor_1': ('anchor_1',),
    'anchor_2': ('anchor_2',),
    'both anchors': ('anchor_1', 'anchor_2'),
    'last': ('last',),
}


class Result(NamedTuple):
    """What differs U, layer N, place L."""

    factors: tuple[str, ...]
    places: tuple[str, ...]
    moved_UNL: np.ndarray  # share of answers that become those to the other sequence
    kept_UNL: np.ndarray  # share that stay; what is left became neither
    number_U: np.ndarray  # sequences with two different answers: the others say nothing


def compute(member: Member, number: int = 1024) -> Result:
    """Patches `number` random sequences at every layer and place, for each factor."""
    base = sequences.random(member, number)
    rows = [_patch(member, base, _other(member, base, factor)) for factor in FACTORS]
    moved, kept, counts = (np.stack(column) for column in zip(*rows, strict=True))
    return Result(FACTORS, tuple(PLACES), moved, kept, counts)


def _patch(member: Member, base: sequences.Sequences, source_BT):
    """(moved [N, L], kept [N, L], sequences that count) for one other sequence each."""
    names = member.task.role_names
    roles_LJ = np.array(
        [[role in place for role in names] for place in PLACES.values()]
    )
    intact, other = member.forward(base.tokens_BT), member.forward(source_BT)
    depth = len(intact.blocks)
    said_CB = interventions.patched(
        member,
        base.tokens_BT,
        np.stack([block.X_ao for block in other.blocks]),
        np.repeat(np.arange(depth), len(PLACES)),
        np.tile(roles_LJ, (depth, 1)),
    )
    said_NLB = said_CB.reshape(depth, len(PLACES), -1)
    before_B, after_B = (x.logits[:, -1].argmax(-1) for x in (intact, other))
    differ_B = before_B != after_B
    share = lambda same_NLB: same_NLB[..., differ_B].mean(-1)
    return share(said_NLB == after_B), share(said_NLB == before_B), differ_B.sum()


def _other(member: Member, base: sequences.Sequences, factor: str) -> np.ndarray:
    """The same sequences with the key, or one anchor, replaced by another one of its kind."""
    config, rng = member.experiment.task, np.random.default_rng(1)
    assert isinstance(config, anchors.AnchorsConfig)
    x_B, pair_B2 = base.x_B.copy(), base.pair_B2.copy()
    if factor == 'key':
        low, high = config.keys
        x_B = low + (x_B - low + rng.integers(1, high - low, len(x_B))) % (high - low)
    else:
        column, kinds = int(factor[-1]) - 1, np.array(config.anchors)
        index_B = np.searchsorted(kinds, pair_B2[:, column])
        step_B = rng.integers(1, len(kinds), len(x_B))
        pair_B2[:, column] = kinds[(index_B + step_B) % len(kinds)]
    return sequences.place(base.tokens_BT, base.position_B, x_B, pair_B2).tokens_BT
