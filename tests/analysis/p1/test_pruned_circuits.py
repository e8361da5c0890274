"""The circuits of a sweep are those of its members, and those that were planted."""

import numpy as np
import pytest

from analysis.circuits.hypotheses import MECHANISMS
from analysis.members.member import member_of
from analysis.p1 import causal, pruned_circuits
from anchorjax.errors import UserError
from tests.support.converged import mark_converged
from tests.support.networks.wired import make_wired_member


def test_the_planted_edges_are_found(finished, monkeypatch):
    kinds = iter(['symmetric', 'inferential'] * 4)
    planted = []

    def plant(run, **point):
        planted.append(next(kinds))
        return make_wired_member(planted[-1])

    monkeypatch.setattr(pruned_circuits, 'member_of', plant)
    result = pruned_circuits.compute(mark_converged(finished))
    assert len(planted) == len(result.points) > 1
    for kind, has_E, kept_E in zip(planted, result.has_ME, result.kept_ME, strict=True):
        assert has_E.all()
        kept = set(np.array(result.edges)[kept_E])
        assert kept == {causal.name_edge(edge) for edge in MECHANISMS[kind]}
    np.testing.assert_array_equal(result.unchanged_M, 1)


@pytest.mark.slow
def test_a_member_has_the_circuit_of_its_own_figure(finished):
    result = pruned_circuits.compute(mark_converged(finished))
    for row, point in enumerate(result.points):
        if 'depth=1' in point:  # it has no second layer, and so fewer edges
            assert result.has_ME[row].sum() * 2 == result.has_ME.shape[1]
    row = result.points.index('depth=2,gamma=0.8,seed=1')
    member = member_of(finished, depth=2, gamma=0.8, seed=1)
    one = causal.compute(member, number=32)
    kept = np.array(result.edges)[result.kept_ME[row]]
    assert tuple(kept) == one.circuit
    assert result.unchanged_M[row] >= causal.FAITHFUL


def test_without_a_converged_member_there_is_no_circuit(finished):
    nobody = mark_converged(finished, finished.results.seed < 0)
    with pytest.raises(UserError, match='no member has converged'):
        pruned_circuits.compute(nobody)
