"""The edges that a hand-made network uses are found, and no others."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from analysis import causal, mechanisms
from analysis.circuits import interventions, patching, sequences
from analysis.drawing import style
from analysis.members.member import Member, member_of
from anchorjax.models.base import Activations, BlockActivations
from tests.support import planted

LONGER = {'task__seq_len': 6, 'model__max_len': 6}
KEY, FIRST, SECOND, LAST = range(4)
SHIFTS = jnp.array(
    [0, 3, 1, -1, -2]
)  # of cases.tiny, by token; (3, 4) is trained on +2


class Wired:
    """Two layers of attention by role, and arithmetic on what they bring together.

    Inferential: each anchor takes the key's value (layer 1); the last position takes both
    (layer 2). Symmetric: the last position takes the sum of both shifts (1), then the key (2).
    """

    def __init__(self, solution: str):
        reads = {
            'inferential': (
                [(FIRST, KEY), (SECOND, KEY)],
                [(LAST, FIRST), (LAST, SECOND)],
            ),
            'symmetric': ([(LAST, FIRST), (LAST, SECOND)], [(LAST, KEY)]),
        }
        self.solution, self.reads = solution, reads[solution]
        self.task = planted.untrained().task

    def apply(self, variables, tokens_BT, last_only=False, edit=None):
        edit = edit or (lambda field, block, value: value)
        roles_BT = self.task.roles(tokens_BT)
        x = jnp.where(roles_BT == KEY, tokens_BT, 0)
        s = jnp.where(
            (roles_BT == FIRST) | (roles_BT == SECOND), SHIFTS[tokens_BT % 5], 0
        )
        X, blocks = jnp.stack([x, s], -1).astype(jnp.float32), []
        for n, reads in enumerate(self.reads):
            Attn = edit('Attn', n, attention(roles_BT, reads)[:, None])
            X = edit('X_ao', n, self.update(n, X, Attn[:, 0] @ X, roles_BT))
            blocks.append(BlockActivations(*[X] * 3, Attn, X, X, X, X))
        total = jnp.rint(X.sum(-1)).astype(int)
        return Activations(X, tuple(blocks), jax.nn.one_hot(total, 20))

    def update(self, n, own, read, roles_BT):
        """What a position holds, (value, shift), after reading."""
        if (
            self.solution == 'inferential' and n == 0
        ):  # value from the key, shift one's own
            anchor = ((roles_BT == FIRST) | (roles_BT == SECOND))[..., None]
            return jnp.where(anchor, jnp.stack([read[..., 0], own[..., 1]], -1), own)
        if self.solution == 'inferential':  # means of two: the value is one, shifts add
            last = (roles_BT == LAST)[..., None]
            return jnp.where(last, read * jnp.array([1.0, 2.0]), own)
        last = (roles_BT == LAST)[..., None]
        if n == 0:
            total = jnp.rint(2 * read[..., 1])
            learned = jnp.where(
                total == -3, 2.0, total
            )  # {3, 4} by heart, in either order
            return jnp.where(last, jnp.stack([own[..., 0], learned], -1), own)
        return jnp.where(last, jnp.stack([read[..., 0], own[..., 1]], -1), own)


def attention(roles_BT, reads):
    """A reader pays equal attention to its sources, and next to nothing to itself."""
    weight_JJ = np.zeros((5, 5), np.float32)
    for target, source in reads:
        weight_JJ[target, source] = 1
    weight = jnp.asarray(weight_JJ)[roles_BT[:, :, None], roles_BT[:, None, :]]
    weight = weight + 1e-6 * jnp.eye(roles_BT.shape[1])
    return weight / weight.sum(-1, keepdims=True)


def wired(solution: str) -> Member:
    return planted.member(Wired(solution), **LONGER)


@functools.lru_cache
def solve(solution: str) -> causal.Result:
    return causal.compute(wired(solution), number=128)


@pytest.fixture(params=['inferential', 'symmetric'])
def solved(request):
    return request.param, solve(request.param)


def test_the_edges_of_the_solution_and_no_others_are_necessary(solved):
    solution, result = solved
    used = [causal.name(edge) for edge in causal.MECHANISMS[solution]]
    for edge, unchanged_P in zip(result.edges, result.unchanged_EP, strict=True):
        if edge in used:
            assert (unchanged_P < 0.3).all(), edge
        else:
            np.testing.assert_array_equal(unchanged_P, 1, err_msg=edge)
    unseen, mapping = (
        result.probe_names.index('unseen'),
        result.mapping_names.index(solution),
    )
    assert result.intact_PR[unseen, mapping] == 1
    assert sorted(result.circuit) == sorted(used)


def test_its_mechanism_suffices_and_the_other_does_not(solved):
    solution, result = solved
    at = {name: k for k, name in enumerate(result.mechanism_names)}
    own, other = (
        at[solution],
        at['symmetric' if solution == 'inferential' else 'inferential'],
    )
    np.testing.assert_array_equal(result.only_unchanged_CP[own], 1)
    assert (result.only_unchanged_CP[[other, at['second anchor']]] < 0.3).all()
    assert (result.without_mechanism_unchanged_CP[own] < 0.3).all()
    np.testing.assert_array_equal(result.without_mechanism_unchanged_CP[other], 1)
    assert (result.nothing_PR < 0.3).all()


def test_patching_shows_where_the_key_is_known(solved):
    solution, result = solved
    key = result.moved_UNL[result.factors.index('key')]
    layer_1 = dict(zip(result.places, key[0], strict=True))
    layer_2 = dict(zip(result.places, key[1], strict=True))
    both, lone = layer_1['both anchors'], layer_1['anchor_1']
    assert (both, layer_1['key']) == ((1, 0) if solution == 'inferential' else (0, 1))
    assert lone < 0.2  # half of the other key's value is another answer
    assert layer_2['last'] == 1 and layer_2['key'] == 0
    assert set(result.places) == set(patching.PLACES)


def test_an_untrained_network_of_one_layer_shows_chance_and_has_no_mechanism():
    result = causal.compute(planted.untrained(model__depth=1, **LONGER), number=64)
    assert (result.intact_PR < 0.35).all() and (result.nothing_PR < 0.35).all()
    assert np.isnan(result.only_CPR).all()
    assert len(result.edges) == 14  # noise stands on every side of the others


def test_a_position_left_alone_reads_itself():
    member = planted.untrained(**LONGER)
    tokens_BT = np.array([[9, 4, 3, 11, 5, 6], [6, 1, 2, 8, 9, 9]])
    roles_BT = member.roles(tokens_BT)
    edit = interventions.cut(np.zeros((2, 5, 5), bool), roles_BT)
    out = member.apply(member.params, tokens_BT, edit=edit)
    for block in out.blocks:
        np.testing.assert_allclose(
            block.Attn[:, 0], np.broadcast_to(np.eye(6), (2, 6, 6))
        )


def test_without_renormalizing_the_other_weights_stay():
    member = planted.untrained(**LONGER)
    tokens_BT = np.array([[9, 4, 3, 11, 5, 6], [6, 1, 2, 8, 9, 9]])
    allowed = np.ones((2, 5, 5), bool)
    allowed[:, KEY] = False
    edit = interventions.cut(allowed, member.roles(tokens_BT), renormalize=False)
    cut = member.apply(member.params, tokens_BT, edit=edit).blocks[0].Attn[:, 0]
    intact = member.forward(tokens_BT).blocks[0].Attn[:, 0]
    np.testing.assert_allclose(
        cut[:, 1:, 1:], intact[:, 1:, 1:], rtol=1e-5
    )  # the key is first
    assert not np.asarray(cut[:, 1:, 0]).any() and np.allclose(cut[:, 0, 0], 1)


def test_a_patch_with_the_sequence_itself_changes_nothing():
    member = planted.untrained(**LONGER)
    base = sequences.random(member, 32).tokens_BT
    out = member.forward(base)
    X_ao_NBTD = np.stack([block.X_ao for block in out.blocks])
    everywhere = np.ones((2, 5), bool)
    said = interventions.patched(member, base, X_ao_NBTD, [0, 1], everywhere)
    np.testing.assert_array_equal(said, [out.logits[:, -1].argmax(-1)] * 2)


def test_drawn_twice_is_the_same_bytes(tmp_path):
    result = solve('symmetric')
    pages = [
        style.drawn(result, causal.draw, causal.layout, tmp_path / x) for x in 'ab'
    ]
    for one, two in zip(*pages, strict=True):
        assert one.read_bytes() == two.read_bytes()


def test_every_member_of_two_layers_is_asked_which_mechanism_suffices(
    finished, tmp_path
):
    result = mechanisms.compute(finished)
    assert len(result.points) == 4 and all(
        'depth=2' in point for point in result.points
    )
    member = member_of(finished, depth=2, gamma=0.8, seed=1)
    one = causal.compute(member, number=32)
    probes = [one.probe_names.index(p) for p in ('unseen', 'seen_heldout')]
    at = result.points.index('depth=2,gamma=0.8,seed=1')
    np.testing.assert_allclose(
        result.unchanged_MC[at], one.only_unchanged_CP[:, probes].min(-1), atol=0.13
    )
    style.drawn(result, mechanisms.draw, mechanisms.layout, tmp_path / 'mechanisms')
