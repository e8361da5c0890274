"""The picture of answers by depth: every network of the table, once."""

import pandas as pd
import pytest

from analysis.p1 import depth
from analysis.papers import GALLERY


def test_every_network_is_a_dot_in_the_panel_of_its_initialization():
    members = pd.read_csv(GALLERY / 'p1' / 'members.csv', low_memory=False)
    shown = depth.compute(members)
    assert not shown.duplicated(['title', 'place', 'run', 'gamma', 'seed']).any()
    fair = members.run.str.startswith(('fair_64_', 'w64_pair', 'w64_diagram'))
    fair |= members.run == 'phase_laptop'
    for gammas, start in (
        ((0.43, 0.58), 'γ 0.43, 0.58 (0.30, 0.40 at width 400); 10, 24 epochs'),
        ((0.72,), 'γ 0.72 (0.50 at width 400); 24, 30 epochs'),
        ((1.15,), 'γ 1.15 (0.80 at width 400); 24, 30 epochs'),
    ):
        expected = members[fair & (members.width == 64) & members.gamma.isin(gammas)]
        here = shown[shown.title == start]
        here = here[here.place.str.isdigit()]
        assert len(here) == len(expected) >= 12
        of_depth = expected.groupby(expected.depth.astype(int)).unseen_composed.mean()
        found = here.groupby(here.place.astype(int)).composed.mean()
        assert found.tolist() == pytest.approx(of_depth.tolist())
    fresh = shown[shown.title.str.endswith('fresh seeds')]
    fresh = pd.concat([fresh, shown[shown.place == '3,\nfresh']])
    assert (fresh.groupby(['place', 'gamma']).size() == 12).all()
    assert set(shown.route) == {'', 'key first', 'pair first'}
