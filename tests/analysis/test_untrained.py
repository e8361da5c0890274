"""The untrained network of a member is the one that its training started from."""

import math

import jax
import numpy as np
import pytest

from analysis.members.member import (
    Member,
    draw_independent,
    make_untrained,
    member_of,
)
from analysis.p1 import attention_flow, cosine, tsne
from tests.support import cases
from tests.support.networks import planted

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
    other = draw_independent(member, seed=7)
    own = make_untrained(member)
    assert np.abs(other.params['W_embed'] - own.params['W_embed']).max() > 0.01
    np.testing.assert_array_equal(other.probes.tokens_PBT, member.probes.tokens_PBT)


@pytest.mark.parametrize('point', [{'gamma': math.nan, 'seed': 0}, {'seed': 0}])
def test_weights_of_unknown_origin_have_no_start(point):
    member = Member(cases.tiny(), {}, point, 0)
    assert make_untrained(member) is None


MAP = {'number': 200, 'map_number': 60, 'perplexity': 8, 'neighbours': 4}


@pytest.mark.parametrize(
    ('figure', 'options', 'number', 'place'),
    [
        (attention_flow, {'tokens': (9, 10, 4, 3)}, 'trained', {}),
        (cosine, {'keys': (5, 11), 'contexts': 4}, 'difference', {'estimate': 'mean'}),
        (tsne, MAP, 'share', {'space': 'full space'}),
    ],
)
def test_the_null_of_a_figure_is_the_network_before_training(
    figure, options, number, place
):
    trained = planted.make_untrained_member(gamma=0.3)
    result = figure.compute(trained, **options)
    start = figure.compute(make_untrained(trained), **options)
    np.testing.assert_allclose(result.untrained, start[number].sel(place))
    np.testing.assert_allclose(start.untrained, start[number].sel(place))
    assert (result[number].sel(place) != result.untrained).any()
    stranger = trained._replace(point={'gamma': math.nan, 'seed': 0})
    assert figure.compute(stranger, **options).untrained.isnull().all()
