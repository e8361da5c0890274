"""What the table says of the edges of a network: hand-made ones have exactly P1's."""

import pandas as pd
import pytest

from analysis.circuits.edge_sets import MECHANISMS
from analysis.p1 import causal, network_claims
from anchorjax.storage.solution import classify_members
from tests.support.networks.wired import make_wired_member

KINDS = (network_claims.SYMMETRIC, network_claims.COMPOSING)


@pytest.mark.parametrize('kind', ['symmetric', 'inferential'])
def test_a_network_with_the_edges_of_the_paper_needs_these_and_no_others(kind):
    found = network_claims.cut_edges(make_wired_member(kind), kind)
    names = map(causal.name_edge, MECHANISMS[kind])
    assert set(found['needed'].split(', ')) == set(names)
    assert found['shown_edge_cut'] < 0.3  # chance
    assert found['null_shown_edge_cut'] == 1
    assert found['shown_edges_alone'] == 1
    assert found['null_shown_edges_alone'] < 0.6


def test_a_network_does_not_have_the_edges_of_the_other_solution():
    found = network_claims.cut_edges(make_wired_member('symmetric'), 'inferential')
    assert found['shown_edge_cut'] == 1
    assert found['shown_edges_alone'] < 0.3


@pytest.mark.parametrize(
    ('inferential', 'symmetric', 'kind'),
    [(0.95, 0.02, 'inferential'), (0.05, 0.95, 'symmetric'), (0.89, 0.1, '')],
)
def test_nine_tenths_of_the_answers_make_a_kind(inferential, symmetric, kind):
    answers = {'unseen_inferential': inferential, 'unseen_symmetric': symmetric}
    answers |= {'trained': True, 'seen_heldout_assigned': 1.0}
    (solution,) = classify_members(pd.DataFrame([answers]))
    named = {group.levels['solution'] for group in KINDS}
    assert (solution if solution in named else '') == kind
