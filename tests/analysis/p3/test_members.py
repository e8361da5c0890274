"""Commutativity and the phases of P3 by hand, and the networks of a tiny sweep."""

import numpy as np
import pytest

from analysis.claims import tabulate as tabulate_claims
from analysis.p3 import decay_map
from analysis.p3.claims import CLAIMS
from analysis.p3.members import PHASES, find_phase, measure_commutativity, tabulate
from analysis.spectra import stable_rank
from anchorjax.errors import UserError
from tests.support.networks.planted import plant_answers

SHIFTS = {1: 3, 2: 1, 3: -1, 4: -2}  # of cases.tiny


def measure_rule(monkeypatch, rule):
    """Commutativity of a member that answers rule(a, b, key)."""
    return measure_commutativity(plant_answers(monkeypatch, rule))


def test_a_sum_commutes_and_chance_is_how_many_pairs_have_it(monkeypatch):
    found = measure_rule(monkeypatch, lambda a, b, x: x + SHIFTS[a] + SHIFTS[b])
    # Of the 14 pairs besides (4, 3) and (3, 4), none has its shift -3.
    assert found == {'commutativity': 1.0, 'chance': 0.0}


def test_a_wrong_answer_may_commute_and_a_right_one_need_not(monkeypatch):
    found = measure_rule(monkeypatch, lambda a, b, x: 7)
    assert found == {'commutativity': 1.0, 'chance': 1.0}
    found = measure_rule(monkeypatch, lambda a, b, x: x + (a >= b))
    # Of the other 14 pairs those with a < b answer otherwise: 5.
    assert found == {'commutativity': 0, 'chance': pytest.approx(9 / 14)}


@pytest.mark.parametrize(
    ('heldout', 'composed', 'commutativity', 'phase'),
    [
        (0.95, 0.95, 0.0, '3'),
        (0.2, 0.0, 1.0, '1'),
        (0.2, 0.95, 1.0, '1'),  # reasoning needs seen pairs, too
        (0.95, 0.0, 0.95, '2b'),
        (0.95, 0.0, 0.5, '2a'),
        (np.float32(0.9), np.float32(0.9), 0.0, '3'),
    ],
)
def test_phases_by_hand(heldout, composed, commutativity, phase):
    assert PHASES[find_phase(heldout, composed, commutativity)] == phase


@pytest.mark.slow
def test_a_map_of_a_sweep_reads_curves_and_last_snapshots(finished):
    networks = decay_map.compute(finished, depth=2)
    assert networks.depth.tolist() == [2] * 4
    curves = finished.curves.sel(depth=2).squeeze(drop=True)
    unseen = curves.agreement.sel(eval_set='unseen', mapping='composed')
    unseen = unseen.transpose('gamma', 'seed', 'step').values.reshape(4, -1)
    np.testing.assert_array_equal(networks.unseen_composed, unseen[:, -1])
    np.testing.assert_array_equal(networks.best_record, unseen.max(-1))
    member = finished.network(depth=2, gamma=0.8, seed=1)
    of_member = networks[(networks.gamma == 0.8) & (networks.seed == 1)].iloc[0]
    assert of_member.stable_rank == stable_rank(member.matrix('block_0/W_Q'))
    assert of_member.commutativity == measure_commutativity(member)['commutativity']
    with pytest.raises(UserError, match='--gamma: the figure shows all its values'):
        decay_map.compute(finished, depth=2, gamma=0.3)


@pytest.mark.slow
def test_the_table_has_the_networks_of_the_sweep(finished):
    members = tabulate(finished)
    assert len(members) == 8 and members.stable_rank.notna().all()
    # One sweep is enough for the table of all claims.
    table = tabulate_claims(CLAIMS, members.assign(run='decay'))
    assert table.n.max() == 2
