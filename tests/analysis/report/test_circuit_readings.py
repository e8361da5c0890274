"""Claims about attention: planted members that agree, contradict, or say nothing."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from analysis.circuits.flows import FLOWS
from analysis.circuits.hypotheses import MECHANISMS
from analysis.old_claims.verdicts import DOES_NOT_HOLD, HOLDS, OPPOSITE, UNDECIDED
from analysis.p1 import causal
from analysis.report.readings import circuits, mechanisms

NAN = math.nan
SPREAD = (0.0, 0.01, -0.01, 0.02)  # of the members around a planted number
LAYERS = {'layer_1': FLOWS[0], 'layer_2': FLOWS[1]}


def make_flows(
    first: float, second: float, untrained: float = 0.4, members: int = 4
) -> list[SimpleNamespace]:
    """Members whose claimed flows are these; 0.45 and 0.5 under uniform attention."""
    results = []
    for shift in SPREAD[:members]:
        flows_23 = np.array([[first, 0.1, 0.1], [0.1, second, 0.1]]) + shift
        results.append(
            SimpleNamespace(
                flows_N3=flows_23,
                uniform_N3=np.tile([0.45, 0.5, 0.25], (2, 1)),
                untrained_N3=np.full((2, 3), untrained),
                number=100,
            )
        )
    return results


@pytest.mark.parametrize(
    ('results', 'expected'),
    [
        (make_flows(0.95, 0.9), HOLDS),
        (make_flows(0.45, 0.5), DOES_NOT_HOLD),  # as uniform attention
        (make_flows(0.05, 0.05), OPPOSITE),
        (make_flows(0.95, 0.05), DOES_NOT_HOLD),  # one layer only
        (make_flows(0.95, 0.9, untrained=0.95), DOES_NOT_HOLD),  # it was there before
        (make_flows(0.95, 0.61), UNDECIDED),  # the interval covers the border 0.6
        (make_flows(0.95, 0.9, untrained=NAN), UNDECIDED),
        (make_flows(0.95, NAN), UNDECIDED),
        (make_flows(0.95, 0.9, members=2), UNDECIDED),
    ],
)
def test_flows_must_exceed_both_nulls(results, expected):
    assert circuits.read_flows(results, **LAYERS).verdict is expected


def test_a_flow_is_shown_beside_its_nulls():
    reading = circuits.read_flows(make_flows(0.95, 0.9), **LAYERS)
    first, second = reading.number.split(', then ')
    assert first.startswith('key → anchors 0.95 [0.9')
    assert second.startswith('anchors → last 0.91')
    assert reading.null == (
        'uniform 0.45, untrained 0.40; then uniform 0.50, untrained 0.40'
    )
    few = circuits.read_flows(make_flows(0.95, 0.9, members=2), **LAYERS)
    assert few.note.startswith('2 members, at least 3 needed')
    assert few.number == 'key → anchors 0.95, then anchors → last 0.91'
    deep = [SimpleNamespace(flows_N3=np.zeros((3, 3)))] * 3
    assert circuits.read_flows(deep, **LAYERS).note == 'no member with two layers'


def make_causal(
    own: float,
    others: float = 1.0,
    only: float = 1.0,
    random: float = 0.2,
    members: int = 5,
) -> list[causal.Result]:
    """Members at the symmetric solution, by the shares of answers unchanged.

    Args:
      own, others: with an edge of the mechanism cut, or another one.
      only, random: with the mechanism's edges alone, or random ones.
    """
    names = [causal.name_edge(edge) for edge in MECHANISMS['symmetric']]
    edges = (*names, '1: noise → last', '2: noise → key')
    results = []
    for m in range(members):
        shift = SPREAD[m % 4] / 10
        unchanged_E = np.array([own] * len(names) + [others] * 2) + shift
        results.append(
            SimpleNamespace(
                edges=edges,
                probe_names=('seen_train', 'seen_heldout', 'unseen'),
                unchanged_EP=np.repeat(unchanged_E[:, None], 3, axis=1),
                mechanism_names=tuple(MECHANISMS),
                mechanism_has_CE=np.tile(np.isin(edges, names), (4, 1)),
                only_unchanged_CP=np.full((4, 3), only + shift),
                random_unchanged_CP=np.full((4, 3), random),
                circuit=('1: key → last',),
            )
        )
    return results


@pytest.mark.parametrize(
    ('results', 'expected'),
    [
        (make_causal(0.1), HOLDS),
        (make_causal(0.95), DOES_NOT_HOLD),  # not necessary, though more than others
        (make_causal(1.0, others=1.0), DOES_NOT_HOLD),
        (make_causal(0.9, others=0.1), OPPOSITE),
        (make_causal(0.1, others=0.1), DOES_NOT_HOLD),  # any edge would do the same
        # Two of five: the interval of the share covers one half.
        (make_causal(0.1)[:2] + make_causal(0.8)[:3], UNDECIDED),
        (make_causal(NAN), UNDECIDED),
        (make_causal(0.1, members=2), UNDECIDED),
    ],
)
def test_necessary_edges_change_more_answers_than_others(results, expected):
    reading = circuits.read_necessary_edges(results, 'symmetric')
    assert reading.verdict is expected, reading


@pytest.mark.parametrize(
    ('results', 'expected'),
    [
        (make_causal(0.1), HOLDS),
        (make_causal(0.1, only=0.5), DOES_NOT_HOLD),
        (make_causal(0.1, only=0.05, random=0.2), OPPOSITE),
        (make_causal(0.1, only=0.95, random=0.95), DOES_NOT_HOLD),  # any set does
        (make_causal(0.1)[:2] + make_causal(0.1, only=0.5)[:3], UNDECIDED),
        (make_causal(0.1, random=NAN), UNDECIDED),
        (make_causal(0.1, members=2), UNDECIDED),
        (make_causal(0.1, only=NAN), UNDECIDED),  # no mechanism to test
    ],
)
def test_sufficient_edges_keep_more_answers_than_random_ones(results, expected):
    reading = circuits.read_sufficient_edges(results, 'symmetric')
    assert reading.verdict is expected, reading


def test_the_count_of_members_has_an_interval():
    reading = circuits.read_sufficient_edges(make_causal(0.1), 'symmetric')
    assert reading.number.startswith('sufficient in 5 of 5 [0.57, 1.00]')
    assert 'random edges: unseen 0.20' in reading.null
    nothing = circuits.read_necessary_edges(make_causal(0.1, only=NAN), 'symmetric')
    assert nothing.note == 'no member with two layers'


def make_mechanisms(
    faithful: dict[str, dict[str, list[int]]], seeds: int = 12
) -> SimpleNamespace:
    """Members at each solution, one per seed.

    Args:
      faithful: by solution and mechanism, the seeds in which it suffices.
    """
    names = tuple(MECHANISMS)
    solutions, seeds_M, unchanged = [], [], []
    for solution, sets in faithful.items():
        for seed in range(seeds):
            row = []
            for name in names:
                row.append(0.99 if seed in sets.get(name, ()) else 0.3)
            solutions.append(solution)
            seeds_M.append(seed)
            unchanged.append(row)
    return SimpleNamespace(
        mechanism_names=names,
        solutions=tuple(solutions),
        seeds_M=np.array(seeds_M),
        unchanged_MC=np.array(unchanged).reshape(-1, len(names)),
    )


EVERY = list(range(12))
EVEN = EVERY[::2]
ODD = EVERY[1::2]
INFERENTIAL = {'inferential': {'inferential': EVERY}}
SYMMETRIC = {'symmetric': {'symmetric': EVERY}}
SWAPPED = {
    'inferential': {'symmetric': EVERY},
    'symmetric': {'inferential': EVERY},
}


@pytest.mark.parametrize(
    ('result', 'expected'),
    [
        (make_mechanisms(INFERENTIAL | SYMMETRIC), HOLDS),
        (make_mechanisms(SWAPPED), OPPOSITE),
        (make_mechanisms({'inferential': {}, 'symmetric': {}}), DOES_NOT_HOLD),
        (make_mechanisms(INFERENTIAL | {'symmetric': {}}), DOES_NOT_HOLD),
        (make_mechanisms(INFERENTIAL), UNDECIDED),  # no symmetric member
        (make_mechanisms(INFERENTIAL | SYMMETRIC, seeds=2), UNDECIDED),
    ],
)
def test_every_network_uses_the_edges_of_its_solution(result, expected):
    assert mechanisms.read_mechanisms(result).verdict is expected


@pytest.mark.parametrize(
    ('result', 'expected'),
    [
        (make_mechanisms(INFERENTIAL), HOLDS),
        # No set suffices in the seeds that choose: there is nothing to confirm.
        (make_mechanisms({'symmetric': {}}), UNDECIDED),
        (make_mechanisms({'symmetric': {'symmetric': EVEN}}), UNDECIDED),
        # Found in the first half (odd seeds) alone.
        (make_mechanisms({'inferential': {'inferential': ODD}}), DOES_NOT_HOLD),
        (
            make_mechanisms({'symmetric': {'symmetric': ODD, 'second anchor': EVEN}}),
            OPPOSITE,
        ),
        (make_mechanisms({'inferential': {'inferential': [*ODD, 0, 2, 4]}}), UNDECIDED),
        (make_mechanisms(INFERENTIAL, seeds=4), UNDECIDED),  # two fresh seeds
        (make_mechanisms({'other': {}}), UNDECIDED),
    ],
)
def test_what_is_found_in_half_of_the_seeds_is_confirmed_in_the_rest(result, expected):
    reading = mechanisms.read_confirmed_mechanisms(result)
    assert reading.verdict is expected, reading


def test_the_seeds_that_choose_do_not_count():
    found = {'inferential': {'second anchor': EVERY, 'inferential': EVEN}}
    reading = mechanisms.read_confirmed_mechanisms(make_mechanisms(found))
    assert reading.number == (
        'inferential: "second anchor" in 6 of 6 [0.61, 1.00] fresh ones'
    )
    assert reading.null == 'inferential, best of the others: 6 of 6'
    few = mechanisms.read_confirmed_mechanisms(make_mechanisms(INFERENTIAL, seeds=4))
    assert few.note.startswith('2 fresh inferential seeds, at least 3 needed')


def test_networks_of_one_seed_are_no_independent_ones():
    """Three of four seeds, in one setting each or in four."""
    found = {'inferential': {'inferential': [0, 1, 2]}}
    found |= {'symmetric': {'symmetric': [0, 1, 2]}}
    one = make_mechanisms(found, seeds=4)
    names = ('solutions', 'seeds_M', 'unchanged_MC')
    four = SimpleNamespace(**vars(one))
    for name in names:
        values = np.asarray(getattr(one, name))
        setattr(four, name, np.concatenate([values] * 4))
    for result, number in ((one, '3 of 4 ['), (four, '12 of 16, 4 seeds [')):
        reading = mechanisms.read_mechanisms(result)
        assert reading.verdict is UNDECIDED
        assert reading.number.startswith(f'inferential {number}0.30, 0.95]')


def test_a_nan_is_undecided():
    result = make_mechanisms(INFERENTIAL | SYMMETRIC)
    result.unchanged_MC[3, 0] = NAN
    for read in (mechanisms.read_mechanisms, mechanisms.read_confirmed_mechanisms):
        reading = read(result)
        assert reading.verdict is UNDECIDED
        assert reading.note.startswith('a number is NaN')
