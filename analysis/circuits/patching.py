"""What does a position know? X_ao of another sequence, patched in at one place.

Two sequences differ in one factor: the key item, or one of the anchors. If the network
then answers as it would to the other sequence, the difference had passed through that
place.
"""

from typing import NamedTuple

import numpy as np

from analysis.circuits import interventions, sequences
from analysis.members.member import Member

FACTORS = ('key', 'anchor_1', 'anchor_2')
# A place is a set of roles whose positions are patched together.
PLACES = {
    'key': ('key',),
    'anchor_1': ('anchor_1',),
    'anchor_2': ('anchor_2',),
    'both anchors': ('anchor_1', 'anchor_2'),
    'last': ('last',),
}


class Result(NamedTuple):
    """Effects of patching by factor U, layer N and place L.

    A pair of sequences with the same answer says nothing, so shares are of the `number`
    pairs with two different answers. What is neither moved nor kept became a third
    answer.
    """

    factors: tuple[str, ...]
    places: tuple[str, ...]
    moved_UNL: np.ndarray  # share of answers that become those to the other sequence
    kept_UNL: np.ndarray  # share of answers that stay
    number_U: np.ndarray  # sequences with two different answers


def compute(member: Member, number: int = 1024) -> Result:
    """Patches `number` random sequences at every layer and place, for each factor."""
    base = sequences.sample(member, number)
    places = _list_places(member, base.tokens_BT)
    moved, kept, numbers = [], [], []
    for factor in FACTORS:
        other_BT = change_factor(member, base, factor)
        moved_NL, kept_NL, differing = _patch_everywhere(
            member, base.tokens_BT, other_BT, places
        )
        moved.append(moved_NL)
        kept.append(kept_NL)
        numbers.append(differing)
    return Result(
        factors=FACTORS,
        places=places,
        moved_UNL=np.stack(moved),
        kept_UNL=np.stack(kept),
        number_U=np.stack(numbers),
    )


def _patch_everywhere(
    member: Member,
    base_BT: np.ndarray,
    other_BT: np.ndarray,
    places: tuple[str, ...],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(moved [N, L], kept [N, L], sequences that count), one other sequence each."""
    base = member.forward(base_BT)
    other = member.forward(other_BT)
    depth = len(base.blocks)
    layers_N = np.arange(depth)
    roles_LJ = _mask_places(member.task.role_names, places)
    answers_CB = interventions.answer_with_patches(  # C = N * L
        member,
        base_BT,
        X_ao_NBTD=np.stack([block.X_ao for block in other.blocks]),
        layers_C=np.repeat(layers_N, len(places)),
        roles_CJ=np.tile(roles_LJ, (depth, 1)),
    )
    answers_NLB = answers_CB.reshape(depth, len(places), -1)

    base_B = interventions.read_answers(base)
    other_B = interventions.read_answers(other)
    differ_B = base_B != other_B
    moved_NLB = answers_NLB == other_B
    kept_NLB = answers_NLB == base_B
    moved_NL = moved_NLB[..., differ_B].mean(-1)
    kept_NL = kept_NLB[..., differ_B].mean(-1)
    return moved_NL, kept_NL, differ_B.sum()


def _list_places(member: Member, tokens_BT: np.ndarray) -> tuple[str, ...]:
    """The places that there are: without noise after the pair there is no 'last'."""
    present = {member.task.role_names[i] for i in np.unique(member.roles(tokens_BT))}
    return tuple(name for name, roles in PLACES.items() if present.issuperset(roles))


def _mask_places(role_names: tuple[str, ...], places: tuple[str, ...]) -> np.ndarray:
    """Bool [L, J]: the roles that belong to each place."""
    rows = []
    for place in places:
        rows.append([role in PLACES[place] for role in role_names])
    return np.array(rows)


def change_factor(member: Member, base: sequences.Sequences, factor: str) -> np.ndarray:
    """The same sequences [B, T] with another key item, or one other anchor."""
    config = sequences.require_anchor_task(member)
    x_B = base.x_B
    pair_B2 = base.pair_B2.copy()
    if factor == 'key':
        x_B = _draw_others(x_B, np.arange(*config.keys))
    else:
        column = FACTORS.index(factor) - 1
        anchors_A = np.array(list(config.shift_of))
        pair_B2[:, column] = _draw_others(pair_B2[:, column], anchors_A)
    return sequences.replace_items(member, base, x_B, pair_B2).tokens_BT


def _draw_others(items_B: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """A random other one of the kinds for every item."""
    kinds = np.sort(kinds)
    count = len(kinds)
    rng = np.random.default_rng(1)
    step_B = rng.integers(1, count, len(items_B))
    index_B = np.searchsorted(kinds, items_B)
    other_B = (index_B + step_B) % count
    return kinds[other_B]
