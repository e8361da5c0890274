"""The edges that a hand-made network uses are found, and no others."""

import functools
import itertools

import numpy as np
import pytest

from analysis.circuits import edge_sets, hypotheses, patching, random_sets
from analysis.members.member import Member, member_of
from analysis.p1 import attention_flow, causal, mechanisms
from anchorjax import config
from anchorjax.errors import UserError
from tests.support import cases
from tests.support.converged import mark_converged
from tests.support.networks import planted
from tests.support.networks.wired import LONGER, Wired, make_wired_member

OTHER = {'inferential': 'symmetric', 'symmetric': 'inferential'}


@functools.lru_cache
def measure_solution(solution: str) -> causal.Result:
    return causal.compute(make_wired_member(solution), number=128)


@pytest.fixture(params=['inferential', 'symmetric'])
def solved(request) -> tuple[str, causal.Result]:
    return request.param, measure_solution(request.param)


def test_the_edges_of_the_solution_and_no_others_are_necessary(solved):
    solution, result = solved
    used = [causal.name_edge(edge) for edge in hypotheses.MECHANISMS[solution]]
    for edge, unchanged_P in zip(result.edges, result.unchanged_EP, strict=True):
        if edge in used:
            assert (unchanged_P < 0.3).all(), edge
        else:
            np.testing.assert_array_equal(unchanged_P, 1, err_msg=edge)
    unseen = result.probe_names.index('unseen')
    mapping = result.mapping_names.index(solution)
    assert result.intact_PR[unseen, mapping] == 1
    assert sorted(result.circuit) == sorted(used)


def test_its_mechanism_suffices_and_the_other_does_not(solved):
    solution, result = solved
    own = result.mechanism_names.index(solution)
    other = result.mechanism_names.index(OTHER[solution])
    second_anchor = result.mechanism_names.index('second anchor')
    only_CP = result.only_unchanged_CP
    np.testing.assert_array_equal(only_CP[own], 1)
    assert (only_CP[[other, second_anchor]] < 0.3).all()
    without_CP = result.without_mechanism_unchanged_CP
    assert (without_CP[own] < 0.3).all()
    np.testing.assert_array_equal(without_CP[other], 1)
    assert (result.nothing_PR < 0.3).all()


def test_random_edges_do_not_suffice(solved):
    solution, result = solved
    own = result.mechanism_names.index(solution)
    assert (result.random_unchanged_CP[own] < 0.6).all()
    assert (result.random_unchanged_CP >= 0).all()


def test_a_random_set_has_as_many_edges_in_each_layer_and_is_another_one():
    edges = [(layer, name, 'last') for layer in (0, 1) for name in 'abc']
    mechanism = [edges[0], edges[1], edges[3]]
    rng = np.random.default_rng(0)
    drawn = set()
    for _ in range(200):
        chosen = random_sets.draw_set(edges, mechanism, rng)
        assert [edge[0] for edge in chosen] == [0, 0, 1]
        assert len(set(chosen)) == 3
        drawn.add(frozenset(chosen))
    assert len(drawn) == 3 * 3 - 1 and frozenset(mechanism) not in drawn
    everything = random_sets.draw_set(edges, edges, rng)
    assert everything == edges  # there is no other set


def test_random_sets_approach_the_mean_of_all_sets():
    """Four tokens have six edges a layer: 15 * 6 sets, one of them the mechanism."""
    member = planted.make_member(Wired('symmetric'))
    ablation = edge_sets.prepare_ablation(member, most=64)
    mechanism = hypotheses.MECHANISMS['symmetric']
    first = [edge for edge in ablation.edges if edge[0] == 0]
    second = [edge for edge in ablation.edges if edge[0] == 1]
    masks = []
    for pair in itertools.combinations(first, 2):
        for edge in second:
            if {*pair, edge} != set(mechanism):
                masks.append(edge_sets.mask_edges(ablation, [*pair, edge]))
    assert len(masks) == 89
    every = edge_sets.measure_effects(ablation, masks).unchanged_CP.mean(0)
    drawn_CDP = random_sets.measure_random_sets(ablation, draws=300)
    row = list(hypotheses.MECHANISMS).index('symmetric')
    np.testing.assert_allclose(drawn_CDP[row].mean(0), every, atol=0.04)


def test_patching_shows_where_the_key_is_known(solved):
    solution, result = solved
    key = result.factors.index('key')
    moved_NL = result.moved_UNL[key]
    layer_1 = dict(zip(result.places, moved_NL[0], strict=True))
    layer_2 = dict(zip(result.places, moved_NL[1], strict=True))
    if solution == 'inferential':
        assert layer_1['both anchors'] == 1
        assert layer_1['key'] == 0
    else:
        assert layer_1['both anchors'] == 0
        assert layer_1['key'] == 1
    # Half of the other key's value gives a third answer.
    assert layer_1['anchor_1'] < 0.2
    assert layer_2['last'] == 1
    assert layer_2['key'] == 0
    assert set(result.places) == set(patching.PLACES)


def test_an_untrained_network_of_one_layer_shows_chance_and_has_no_mechanism():
    member = planted.make_untrained_member(model__depth=1, **LONGER)
    result = causal.compute(member, number=64)
    assert (result.intact_PR < 0.35).all()
    assert (result.nothing_PR < 0.35).all()
    assert np.isnan(result.only_CPR).all()
    assert len(result.edges) == 14  # noise stands on every side of the others


@pytest.mark.slow
def test_with_the_anchors_first_there_is_no_mechanism_to_test():
    member = planted.make_untrained_member(task__order='anchors_first', **LONGER)
    result = causal.compute(member, number=64)
    assert np.isnan(result.only_CPR).all()
    assert '1: anchor_1 → key' in result.edges
    assert '1: key → anchor_1' not in result.edges


@pytest.mark.parametrize('figure', [attention_flow, causal])
def test_a_model_without_attention_is_one_clear_line(figure):
    experiment = config.resolve(config.default(model='emb_mlp'))
    member = Member(experiment, cases.random_params(experiment), {'seed': 0}, step=0)
    with pytest.raises(UserError, match="model 'emb_mlp': it has no attention"):
        figure.compute(member)


@pytest.mark.parametrize('seq_len', [3, 5])
def test_where_the_pair_comes_last_its_second_anchor_is_the_last_token(seq_len):
    changes = {'task__seq_len': seq_len, 'task__last_token': 'pair'}
    wired = Wired('pair last')
    member = planted.make_member(wired, **changes, model__max_len=seq_len)
    result = causal.compute(member, number=64)
    edges = np.array(result.edges)
    has = zip(result.mechanism_names, result.mechanism_has_CE, strict=True)
    named = {name: tuple(edges[has_E]) for name, has_E in has}
    reads = ('1: key → anchor_2', '1: anchor_1 → anchor_2')
    assert set(named['second anchor']) == set(reads) == set(result.circuit)
    assert named['inferential'] == (
        '1: key → anchor_1',
        '1: key → anchor_2',
        '2: anchor_1 → anchor_2',
    )
    assert named['symmetric'] == ('1: anchor_1 → anchor_2', '2: key → anchor_2')
    for edge, unchanged_P in zip(result.edges, result.unchanged_EP, strict=True):
        if edge in reads:
            assert (unchanged_P < 0.3).all(), edge
        else:
            np.testing.assert_array_equal(unchanged_P, 1, err_msg=edge)
    only = dict(zip(result.mechanism_names, result.only_unchanged_CP, strict=True))
    np.testing.assert_array_equal(only['second anchor'], 1)
    np.testing.assert_array_equal(only['inferential + pair'], 1)
    assert (only['inferential'] < 0.3).all() and (only['symmetric'] < 0.3).all()
    assert result.places == ('key', 'anchor_1', 'anchor_2', 'both anchors')
    key = result.factors.index('key')
    moved = dict(zip(result.places, result.moved_UNL[key, 0], strict=True))
    assert moved['anchor_2'] == 1 and moved['key'] == 0


def test_one_probe_that_never_ends_in_noise_is_one_clear_line(monkeypatch):
    member = planted.make_untrained_member()
    tokens_PBT, labels_PRB = member.probes
    ends_with_pair = tokens_PBT.copy()
    ends_with_pair[-1] = [50, 60, 4, 3]
    probes = ends_with_pair, labels_PRB
    monkeypatch.setattr(type(member), 'probes', property(lambda _: probes))
    with pytest.raises(UserError, match='no sequence that ends in noise'):
        causal.compute(member)


@pytest.mark.slow
def test_every_member_of_two_layers_is_asked_which_mechanism_suffices(finished):
    result = mechanisms.compute(mark_converged(finished))
    assert len(result.points) == 4
    assert result.left_out == 0
    for point in result.points:
        assert 'depth=2' in point
    member = member_of(finished, depth=2, gamma=0.8, seed=1)
    one = causal.compute(member, number=32)
    unseen = one.probe_names.index('unseen')
    heldout = one.probe_names.index('seen_heldout')
    expected_C = one.only_unchanged_CP[:, [unseen, heldout]].min(-1)
    row = result.points.index('depth=2,gamma=0.8,seed=1')
    np.testing.assert_allclose(result.unchanged_MC[row], expected_C, atol=0.13)


def test_members_that_have_not_converged_have_no_mechanism(finished):
    first_seed = finished.results.seed == 0
    result = mechanisms.compute(mark_converged(finished, first_seed))
    assert all('seed=0' in point for point in result.points)
    assert len(result.points) == 2
    assert result.left_out == 4  # of both depths
    with pytest.raises(UserError, match='no converged member has two layers'):
        mechanisms.compute(finished)
