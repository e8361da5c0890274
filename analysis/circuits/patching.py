"""What does a position know? X_ao of another sequence, patched in at one place.

Two sequences differ in one factor: the key item, or one of the anchors. If the network
then answers as it would to the other sequence, the difference had passed through that
place.
"""

import numpy as np
import xarray as xr

from analysis.circuits import sequences
from analysis.circuits.interventions import make_patch_edit, run_edited
from anchorjax.network import Network, read_answers

FACTORS = ('key', 'anchor_1', 'anchor_2')
# A place is a set of roles whose positions are patched together.
PLACES = {
    'key': ('key',),
    'anchor_1': ('anchor_1',),
    'anchor_2': ('anchor_2',),
    'both anchors': ('anchor_1', 'anchor_2'),
    'last': ('last',),
}


def patch_everywhere(member: Network, number: int = 1024) -> xr.Dataset:
    """Patches `number` random sequences at every layer and place, for each factor.

      moved [factor, layer, place] share of answers that become the other sequence's
      kept  [factor, layer, place] share of answers that stay

    A pair of sequences with the same answer says nothing, so shares are of the pairs
    with two different answers. What is neither moved nor kept became a third answer.
    """
    base = sequences.sample(member, number)
    places = _list_places(member, base.tokens_BT)
    found = []
    for factor in FACTORS:
        other_BT = change_factor(member, base, factor)
        found.append(_patch_factor(member, base.tokens_BT, other_BT, places))
    return xr.concat(found, 'factor').assign_coords(factor=list(FACTORS))


def _patch_factor(
    member: Network, base_BT: np.ndarray, other_BT: np.ndarray, places: list[str]
) -> xr.Dataset:
    """The shares [layer, place] of sequences that differ in one factor."""
    other = member.activations(other_BT)
    X_ao_NBTD = np.stack([block.X_ao for block in other.blocks])
    base_B = member.answer(base_BT)
    other_B = read_answers(other)
    differ_B = base_B != other_B
    roles_BT = member.roles(base_BT)
    shape = (len(other.blocks), len(places))
    moved_NL, kept_NL = np.zeros(shape), np.zeros(shape)
    for layer, place in np.ndindex(shape):
        is_patched_J = np.isin(member.task.role_names, PLACES[places[place]])
        patch = (layer, is_patched_J, roles_BT, X_ao_NBTD)
        logits_BV = run_edited(member, base_BT, make_patch_edit, *patch)
        answers_B = logits_BV.argmax(-1)
        moved_NL[layer, place] = (answers_B == other_B)[differ_B].mean()
        kept_NL[layer, place] = (answers_B == base_B)[differ_B].mean()
    axes = ('layer', 'place')
    layers = np.arange(1, len(moved_NL) + 1)
    return xr.Dataset(
        {'moved': (axes, moved_NL), 'kept': (axes, kept_NL)},
        {'layer': layers, 'place': places},
    )


def _list_places(member: Network, tokens_BT: np.ndarray) -> list[str]:
    """The places that there are: without noise after the pair there is no 'last'."""
    role_names = np.array(member.task.role_names)
    present = role_names[np.unique(member.roles(tokens_BT))]
    places = []
    for place, roles in PLACES.items():
        if np.isin(roles, present).all():
            places.append(place)
    return places


def change_factor(
    member: Network, base: sequences.Sequences, factor: str
) -> np.ndarray:
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
    step_B = np.random.default_rng(1).integers(1, count, len(items_B))
    index_B = np.searchsorted(kinds, items_B)
    return kinds[(index_B + step_B) % count]
