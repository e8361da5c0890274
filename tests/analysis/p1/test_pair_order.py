"""Order is 0 where a network sums its anchors, and what the weights say where not."""

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from analysis import frame
from analysis.circuits.order import Comparison, draw_comparison, measure_order
from analysis.members.member import Member, member_of
from analysis.p1 import pair_order
from anchorjax.models import Activations
from tests.support.converged import mark_converged
from tests.support.networks import planted
from tests.support.networks.wired import make_wired_member

FIRST, SECOND = 1, 2  # roles


def make_member(weights_22: list[tuple[float, float]]) -> Member:
    """Two layers whose X_ao is weight 1 times a1 plus weight 2 times a2, as one-hot."""
    task = planted.make_untrained_member().task

    def activate(tokens_BT: jax.Array) -> Activations:
        roles_BT = task.roles(tokens_BT)
        vectors_BTV = jax.nn.one_hot(tokens_BT, 20)
        blocks = []
        for weights in weights_22:
            total_BV = jnp.zeros((len(tokens_BT), 20))
            for weight, role in zip(weights, (FIRST, SECOND), strict=True):
                is_role_BT1 = (roles_BT == role)[..., None]
                total_BV += weight * (vectors_BTV * is_role_BT1).sum(1)
            X_ao = jnp.broadcast_to(total_BV[:, None], vectors_BTV.shape)
            blocks.append(planted.make_block(tokens_BT, X_ao=X_ao))
        return Activations(vectors_BTV, tuple(blocks), vectors_BTV)

    return planted.make_function_member(activate)


@pytest.mark.parametrize(
    ('weights', 'order'),
    [
        ((1, 1), 0),  # a sum
        ((1, 0), 2),  # one anchor alone
        ((3, 1), 2 * 4 / 10),
        ((1, -1), 4),  # exchanged, it changes its sign
        ((0, 0), np.nan),  # no anchor makes a difference
    ],
)
def test_the_order_of_a_weighted_sum_is_known_by_hand(weights, order):
    member = make_member([(1, 1), weights])
    order_N = measure_order(member, draw_comparison(member, 64))
    np.testing.assert_allclose(order_N, [0, order], rtol=1e-6)


def test_what_is_compared():
    member = planted.make_untrained_member()
    comparison = draw_comparison(member, 200)
    chex.assert_tree_shape_prefix(comparison, (200,))
    first_B, second_B = comparison.base.pair_B2.T
    assert (first_B != second_B).all()
    np.testing.assert_array_equal(comparison.exchanged.pair_B2[:, 0], second_B)
    np.testing.assert_array_equal(comparison.exchanged.pair_B2[:, 1], first_B)
    changed_B2 = comparison.replaced.pair_B2 != comparison.base.pair_B2
    assert (changed_B2.sum(-1) == 1).all()
    np.testing.assert_array_equal(changed_B2.sum(0), [100, 100])
    new_B = comparison.replaced.pair_B2[changed_B2]
    assert not (new_B == first_B).any()
    assert not (new_B == second_B).any()
    assert set(new_B) == {1, 2, 3, 4}
    _assert_only_the_pair_differs(member, comparison)


def _assert_only_the_pair_differs(member, comparison: Comparison) -> None:
    roles_BT = member.roles(comparison.base.tokens_BT)
    is_anchor_BT = (roles_BT == FIRST) | (roles_BT == SECOND)
    for other in comparison[1:]:
        differs_BT = other.tokens_BT != comparison.base.tokens_BT
        assert not differs_BT[~is_anchor_BT].any()


def test_planted_solutions_are_told_apart_by_their_answers(finished, monkeypatch):
    members = [make_wired_member('symmetric'), make_wired_member('composed')]

    def plant(run, *step, **point):
        return members[point['seed']]._replace(point=point)

    monkeypatch.setattr(frame, 'member_of', plant)
    monkeypatch.setattr(pair_order, 'measure_order', lambda *_: np.zeros(2))
    orders = pair_order.compute(mark_converged(finished))
    is_composed = orders.point.str.contains('seed=1')
    np.testing.assert_array_equal(orders.composed, is_composed)
    np.testing.assert_array_equal(orders.symmetric, ~is_composed)


@pytest.mark.slow
def test_each_member_is_followed_through_its_snapshots(finished):
    results = finished.results
    is_shown = (results.gamma == 0.8) & (results.seed == 1)  # of either depth
    orders = pair_order.compute(mark_converged(finished, is_shown), number=64)
    of_member = orders[orders.point == 'depth=2,gamma=0.8,seed=1']
    assert of_member.step.unique().tolist() == [0, 1, 4, 15, 40]
    for step, here in of_member.groupby('step'):
        member = member_of(finished, step, depth=2, gamma=0.8, seed=1)
        order_N = measure_order(member, draw_comparison(member, 64))
        assert here.layer.tolist() == [1, 2]
        np.testing.assert_allclose(here.order, order_N, rtol=1e-5)
    shallow = orders[orders.point == 'depth=1,gamma=0.8,seed=1']
    assert set(shallow.layer) == {1}


@pytest.mark.slow
def test_members_that_have_not_converged_are_left_out_and_counted(finished):
    some = mark_converged(finished, finished.results.seed == 1)
    orders = pair_order.compute(some, number=64)
    assert (orders.left_out > 0).all() and orders.converged.all()
    assert orders.point.str.contains('seed=1').all()
    of_all = pair_order.compute(some, every=True, number=64)
    assert (of_all.left_out == 0).all()
    is_second = of_all.point.str.contains('seed=1')
    np.testing.assert_array_equal(of_all.converged, is_second)
    assert not is_second.all()
