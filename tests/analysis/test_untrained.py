"""The untrained network of a member is the one that its training started from."""

import math

import jax
import numpy as np
import pytest

from analysis.members.member import Member, make_untrained, member_of
from analysis.members.selection import find_converged, iterate_converged
from tests.support import cases
from tests.support.converged import mark_converged

POINT = {'depth': 2, 'gamma': 0.8, 'seed': 1}


def test_it_is_the_start_of_the_training(finished):
    member = member_of(finished, **POINT)
    untrained = make_untrained(member)
    start = finished.params(0, **POINT)
    for ours, saved in zip(
        jax.tree.leaves(untrained.params), jax.tree.leaves(start), strict=True
    ):
        np.testing.assert_allclose(ours, saved, rtol=1e-5, atol=1e-7)
    assert untrained.step == 0 and untrained.point == member.point


def test_another_seed_is_another_network_for_the_same_task(finished):
    member = member_of(finished, **POINT)
    other = make_untrained(member, seed=7)
    own = make_untrained(member)
    assert np.abs(other.params['W_embed'] - own.params['W_embed']).max() > 0.01
    np.testing.assert_array_equal(other.probes.tokens_PBT, member.probes.tokens_PBT)


@pytest.mark.parametrize('point', [{'gamma': math.nan, 'seed': 0}, {'seed': 0}])
def test_weights_of_unknown_origin_have_no_start(point):
    member = Member(cases.tiny(), {}, point, 0)
    assert make_untrained(member) is None


def test_only_converged_members_are_counted(finished):
    assert not find_converged(finished).any()
    assert list(iterate_converged(finished)) == []
    at_depth_2 = finished.results.depth == 2
    marked = mark_converged(finished, at_depth_2)
    marked.results.diverged.loc[POINT] = 7
    points = [point for _, point in iterate_converged(marked)]
    assert len(points) == 3
    assert [(p['depth'], p['gamma'], p['seed']) for p in points] == [
        (2, 0.3, 0),
        (2, 0.3, 1),
        (2, 0.8, 0),
    ]
