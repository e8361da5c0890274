"""The edges that a hand-made network uses are found and no others, so in the claims."""

import functools
import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from analysis.circuits import edge_sets, patching
from analysis.circuits.edge_sets import MECHANISMS
from analysis.p1 import causal, network_claims
from anchorjax.network import Network
from tests.support import cases
from tests.support.networks.wired import make_wired_member

OTHER = {'composed': 'symmetric', 'symmetric': 'composed'}
FEW = 0.3  # a share of answers that is chance


@functools.lru_cache
def measure_solution(solution: str) -> xr.Dataset:
    return causal.compute(make_wired_member(solution), number=128)


@pytest.fixture(params=['composed', 'symmetric'])
def solved(request) -> tuple[str, xr.Dataset]:
    return request.param, measure_solution(request.param)


def require_needed(result: xr.Dataset, edges: set[str]) -> None:
    """Fails unless these edges are necessary, no others are, and they are left."""
    is_needed = result.edge.isin(list(edges))
    assert (result.unchanged[is_needed] < FEW).all()
    assert (result.unchanged[~is_needed] == 1).all()
    assert set(result.edge.values[result.circuit]) == edges


@pytest.mark.slow
def test_the_edges_of_the_solution_and_no_others_are_necessary(solved):
    solution, result = solved
    require_needed(result, set(map(causal.name_edge, MECHANISMS[solution])))
    assert result.intact.sel(eval_set='unseen', mapping=solution) == 1


@pytest.mark.slow
def test_its_mechanism_suffices_and_the_other_does_not(solved):
    solution, result = solved
    other = OTHER[solution]
    tests = result.mechanism_unchanged
    alone = tests.sel(test='alone')
    assert (alone.sel(mechanism=solution) == 1).all()
    assert (alone.sel(mechanism=[other, 'second anchor']) < FEW).all()
    cut = tests.sel(test='cut')
    assert (cut.sel(mechanism=solution) < FEW).all()
    assert (cut.sel(mechanism=other) == 1).all()
    by_chance = tests.sel(test='random')
    assert (by_chance.sel(mechanism=solution) < 0.6).all() and (by_chance >= 0).all()
    assert (result.nothing < FEW).all()


def test_a_random_set_has_as_many_edges_in_each_layer_and_is_another_one():
    edges = [(layer, name, 'last') for layer in (0, 1) for name in 'abc']
    mechanism = [edges[0], edges[1], edges[3]]
    rng = np.random.default_rng(0)
    drawn = set()
    for _ in range(200):
        chosen = edge_sets.draw_set(edges, mechanism, rng)
        assert [edge[0] for edge in chosen] == [0, 0, 1]
        assert len(set(chosen)) == 3
        drawn.add(frozenset(chosen))
    assert len(drawn) == 3 * 3 - 1 and frozenset(mechanism) not in drawn
    everything = edge_sets.draw_set(edges, edges, rng)
    assert everything == edges  # there is no other set


@pytest.mark.slow
def test_patching_shows_where_the_key_is_known(solved):
    solution, result = solved
    moved = result.moved.sel(factor='key')
    assert moved.place.values.tolist() == list(patching.PLACES)
    layer_1 = moved.sel(layer=1)
    is_in_anchors = solution == 'composed'
    assert layer_1.sel(place='both anchors') == is_in_anchors
    assert layer_1.sel(place='key') == (not is_in_anchors)
    # Half of the other key's value gives a third answer.
    assert layer_1.sel(place='anchor_1') < 0.2
    assert moved.sel(layer=2, place=['last', 'key']).values.tolist() == [1, 0]


@pytest.mark.parametrize(
    ('fields', 'has_mechanism'),
    [
        ({}, True),
        ({'model__depth': 1}, False),
        ({'model__depth': 3}, False),
        ({'task__order': 'anchors_first'}, False),
    ],
)
def test_mechanisms_are_those_of_two_layers_with_the_key_first(fields, has_mechanism):
    experiment = cases.tiny(**fields)
    member = Network(experiment, cases.random_params(experiment), {}, step=0)
    assert edge_sets.has_mechanism(member) == has_mechanism


def test_where_the_pair_comes_last_its_second_anchor_is_the_last_token():
    names = ('key', 'anchor_1', 'anchor_2')
    edges = [(n, *pair) for n in (0, 1) for pair in itertools.combinations(names, 2)]
    found = edge_sets.list_mechanisms(SimpleNamespace(edges=edges))
    key_first = [(0, 'key', 'anchor_1'), (0, 'key', 'anchor_2')]
    assert found['composed'] == (*key_first, (1, 'anchor_1', 'anchor_2'))
    reads = ((0, 'anchor_1', 'anchor_2'), (1, 'key', 'anchor_2'))
    assert found['symmetric'] == reads


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
        ([(1, 'key', 'anchor_2'), (1, 'anchor_2', 'last')], 'neither'),  # at once
        ([(0, 'key', 'anchor_1'), (1, 'key', 'last')], 'neither'),  # no anchor arrives
        ([], 'neither'),
    ],
)
def test_the_route_is_the_order_in_which_key_and_anchors_meet(needed, route):
    assert network_claims.name_route(needed) == route
