"""What the table says of the edges of a network: hand-made ones have exactly P1's."""

import pytest

from analysis.circuits.edge_sets import MECHANISMS
from analysis.p1 import causal, network_claims
from tests.support.networks.wired import make_wired_member


@pytest.mark.parametrize('kind', ['symmetric', 'composed'])
def test_a_network_with_the_edges_of_the_paper_needs_these_and_no_others(kind):
    found = network_claims.cut_edges(make_wired_member(kind), kind)
    names = map(causal.name_edge, MECHANISMS[kind])
    assert set(found['needed'].split(', ')) == set(names)
    routes = {'symmetric': 'pair first', 'composed': 'key first'}  # P1 Fig 3 (a), (c)
    assert found['route'] == routes[kind]
    assert found['shown_edge_cut'] < 0.3  # chance
    assert found['null_shown_edge_cut'] == 1
    assert found['shown_edges_alone'] == 1
    assert found['null_shown_edges_alone'] < 0.6


def test_a_network_does_not_have_the_edges_of_the_other_solution():
    found = network_claims.cut_edges(make_wired_member('symmetric'), 'composed')
    assert found['shown_edge_cut'] == 1
    assert found['shown_edges_alone'] < 0.3


KEY_FIRST = [(1, 'key', 'anchor_2'), (3, 'anchor_2', 'last')]
PAIR_FIRST = [(0, 'anchor_1', 'last'), (2, 'key', 'last')]


@pytest.mark.parametrize(
    ('needed', 'route'),
    [
        (KEY_FIRST, 'key first'),
        (PAIR_FIRST, 'pair first'),
        (KEY_FIRST + PAIR_FIRST, 'both'),
        ([(3, 'key', 'anchor_2'), (1, 'anchor_2', 'last')], 'neither'),  # too late
        ([(0, 'key', 'anchor_1'), (1, 'key', 'last')], 'neither'),  # no anchor arrives
        ([], 'neither'),
    ],
)
def test_the_route_is_the_order_in_which_key_and_anchors_meet(needed, route):
    assert network_claims.name_route(needed) == route
