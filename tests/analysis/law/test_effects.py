"""What one factor changes: by hand, planted, and where nothing does."""

import numpy as np
import pandas as pd
import pytest

from analysis.law import effects
from tests.support.planted_law import let_batch_decide, plant_members

COMPOSED, SYMMETRIC = 'composed answers', 'symmetric answers'


def plant(decide, seeds=3):
    """Two batches, rates and lengths, three gammas: four settings at either batch."""
    levels = {'batch_size': (512, 2048), 'learning_rate': (1e-3, 2e-3)}
    levels |= {'seq_len': (5, 9), 'gamma': (0.4, 0.8, 1.2)}
    return plant_members(decide, seeds, **levels)


def compare_batches(members):
    """By how much composed answers change from batch to batch, by setting."""
    pairs = effects.pair_cells(members, 'batch_size')
    return effects.average_settings(pairs, 'unseen_composed')


def find_effect(members, factor, outcome):
    """The one row of the table."""
    table = effects.tabulate(members)
    is_asked = (table.factor == factor) & (table.outcome == outcome)
    (row,) = table[is_asked].itertuples()
    return row


def test_ten_networks_are_matched_as_one_does_by_hand():
    """Two settings: 0.8 and 1.0 (mean 0.9) less 0.1, and 0.4 less 0.2; one unmatched.

    So the settings differ by 0.8 and 0.2: 0.5 in the mean.
    """
    answers = {
        (512, 1e-3, 0.8): (0.1, 0.1),
        (2048, 1e-3, 0.8): (0.8, 1.0),
        (512, 2e-3, 0.8): (0.2, 0.2),
        (2048, 2e-3, 0.8): (0.3, 0.5),
        (2048, 2e-3, 1.2): (0.9, 0.9),
    }
    parts = []
    for (batch, rate, gamma), values in answers.items():
        levels = {'batch_size': (batch,), 'learning_rate': (rate,), 'gamma': (gamma,)}
        planted = plant_members(lambda point: 'neither', seeds=2, **levels)
        parts.append(planted.assign(unseen_composed=values))
    members = pd.concat(parts, ignore_index=True)
    assert len(members) == 10
    assert sorted(compare_batches(members)) == pytest.approx([0.2, 0.8])
    row = find_effect(members, 'batch_size', COMPOSED)
    assert row.mean == pytest.approx(0.5)
    assert (row.settings, row.up, row.cells) == (2, 2, 2)
    assert (row.networks_lower, row.networks_upper) == (4, 4)
    assert np.isnan(row.low)  # two settings have no interval


def test_the_planted_factor_is_found_with_its_sign_and_size():
    """Of three gammas two turn, from 0.01 to 0.97: by 0.64, and back by 0.65."""
    members = plant(let_batch_decide)
    composed = find_effect(members, 'batch_size', COMPOSED)
    assert composed.mean == pytest.approx(0.64) and composed.low > 0
    assert composed.settings == composed.up == 4
    symmetric = find_effect(members, 'batch_size', SYMMETRIC)
    assert symmetric.mean == pytest.approx(-0.64) and symmetric.high < 0
    for factor in ('learning_rate', 'seq_len'):
        assert find_effect(members, factor, COMPOSED).mean == pytest.approx(0)
    # Settings count equally, however many networks they have.
    is_dropped = (members.seq_len == 9) & (members.seed > 0)
    assert compare_batches(members[~is_dropped]).mean() == pytest.approx(0.64)


def test_where_nothing_decides_intervals_cover_0():
    rng = np.random.default_rng(0)
    members = plant(lambda point: 'neither', seeds=6)
    members['unseen_composed'] = rng.uniform(size=len(members))
    table = effects.tabulate(members)
    rows = table[(table.outcome == COMPOSED) & (table.settings > 2)]
    assert set(rows.factor) == {'batch_size', 'learning_rate', 'seq_len'}
    assert (rows.low < 0).all() and (rows.high > 0).all()
