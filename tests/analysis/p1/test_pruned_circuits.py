"""The circuits of a sweep are those of its members, and those that were planted."""

import itertools

import pytest

from analysis import frame
from analysis.circuits.edge_sets import MECHANISMS
from analysis.p1 import causal, pruned_circuits
from tests.support.converged import mark_converged
from tests.support.networks.wired import make_wired_member


@pytest.mark.slow
def test_the_planted_edges_are_found(finished, monkeypatch):
    members = {kind: make_wired_member(kind) for kind in ('symmetric', 'composed')}
    kinds = itertools.cycle(members)
    planted = []

    def plant(run, step, **point):
        planted.append(next(kinds))
        return members[planted[-1]]

    monkeypatch.setattr(frame, 'member_of', plant)
    edges = pruned_circuits.compute(mark_converged(finished))
    points = edges.point.unique()
    assert len(planted) == len(points) > 1
    for kind, point in zip(planted, points, strict=True):
        circuit = edges[(edges.point == point) & edges.kept]
        assert set(circuit.edge) == {
            causal.name_edge(edge) for edge in MECHANISMS[kind]
        }
    assert (edges.unchanged == 1).all()
