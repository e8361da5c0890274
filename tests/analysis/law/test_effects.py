"""What one factor changes: by hand, planted, and where nothing does."""

import numpy as np
import pandas as pd
import pytest

from analysis.law import effects
from tests.support.planted_law import let_batch_decide, let_seed_decide, plant_members

BATCHES = (512, 2048)
GAMMAS = (0.4, 0.8, 1.2)
RATES = (1e-3, 2e-3)
LENGTHS = (5, 9)
COMPOSED, SYMMETRIC = 'composed answers', 'symmetric answers'


def plant(decide, seeds=3, loss=None, **changes):
    """Two batches, rates and lengths, three gammas: four settings at either batch."""
    levels = {
        'batch_size': BATCHES,
        'learning_rate': RATES,
        'seq_len': LENGTHS,
        'gamma': GAMMAS,
    }
    return plant_members(decide, seeds, loss, **(levels | changes))


def read(members, factor, outcome=COMPOSED):
    """The first row of a factor and outcome: its ends, if there are several levels."""
    table = effects.tabulate(members)
    return table[(table.factor == factor) & (table.outcome == outcome)].iloc[0]


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
        planted = plant_members(lambda point: 'other', seeds=2, **levels)
        parts.append(planted.assign(unseen_composed=values))
    members = pd.concat(parts, ignore_index=True)
    pairs = effects.pair_cells(members, 'batch_size')
    assert len(members) == 10 and len(pairs) == 2
    differences = effects.average_settings(pairs, 'unseen_composed')
    assert sorted(differences) == pytest.approx([0.2, 0.8])
    row = read(members, 'batch_size')
    assert row['mean'] == pytest.approx(0.5)
    assert (row.settings, row.up, row.cells) == (2, 2, 2)
    assert (row.networks_lower, row.networks_upper) == (4, 4)
    assert np.isnan(row.low)  # two settings have no interval


def test_the_planted_factor_is_found_with_its_sign_and_size():
    """Of three gammas two turn, from 0.01 to 0.97: by 0.64, and back by 0.65."""
    members = plant(let_batch_decide)
    table = effects.tabulate(members).set_index(['factor', 'outcome']).sort_index()
    composed = table.loc[('batch_size', COMPOSED)]
    assert composed['mean'] == pytest.approx(0.64) and composed.low > 0
    assert composed.settings == composed.up == 4
    symmetric = table.loc[('batch_size', SYMMETRIC)]
    assert symmetric['mean'] == pytest.approx(-0.64) and symmetric.high < 0
    for factor in ('learning_rate', 'seq_len'):
        assert table.loc[(factor, COMPOSED)]['mean'] == pytest.approx(0)
    # Settings count equally, however many networks they have.
    is_dropped = (members.seq_len == 9) & (members.seed > 0)
    assert read(members[~is_dropped], 'batch_size')['mean'] == pytest.approx(0.64)


def test_where_nothing_decides_intervals_cover_0():
    rng = np.random.default_rng(0)
    members = plant(let_seed_decide, seeds=6)
    members['unseen_composed'] = rng.uniform(size=len(members))
    table = effects.tabulate(members)
    rows = table[(table.outcome == COMPOSED) & (table.settings > 2)]
    assert set(rows.factor) == {'batch_size', 'learning_rate', 'seq_len'}
    assert (rows.low < 0).all() and (rows.high > 0).all()


def test_cells_that_differ_in_two_factors_do_not_match():
    members = plant(let_batch_decide)
    is_diagonal = (members.batch_size == 512) == (members.learning_rate == 1e-3)
    table = effects.tabulate(members[is_diagonal])
    assert not (table.factor == 'batch_size').any()


def test_matched_networks_are_trained_for_equally_many_steps():
    short = plant(lambda point: 'memorizing')
    longer = plant(lambda point: 'composed', batch_size=(2048,), num_steps=(8000,))
    members = pd.concat([short, longer], ignore_index=True)
    assert read(members, 'batch_size')['mean'] == 0
    assert read(members, 'num_steps')['mean'] == pytest.approx(0.77)


def test_converged_networks_stand_beside_all():
    """The large batch composes in one seed of four that has not converged."""

    def decide(point):
        is_late = point['batch_size'] == 2048 and point['seed'] == 3
        return 'composed' if is_late else 'symmetric'

    def loss(point):
        return 0.5 if decide(point) == 'composed' else 0.004

    members = plant(decide, seeds=4, loss=loss)
    row = read(members, 'batch_size')
    assert row['mean'] == pytest.approx(0.96 / 4)
    assert row.converged_mean == 0 and row.converged_settings == 4
    converged = read(members, 'batch_size', 'converged networks')
    assert converged['mean'] == pytest.approx(-0.25)
    assert converged.converged_settings == 0


def test_gamma_is_compared_within_one_border():
    """Tables turn into symmetric, and these into composed: two rows, no sum."""
    solutions = {0.2: 'memorizing', 0.6: 'symmetric', 1.0: 'other', 1.4: 'composed'}
    members = plant(lambda point: solutions[point['gamma']], gamma=tuple(solutions))
    table = effects.tabulate(members)
    rows = table[(table.factor == 'gamma') & (table.outcome == SYMMETRIC)]
    assert rows['mean'].tolist() == pytest.approx([0.68, -0.96])
    assert rows.lower.tolist() == ['0.2 (0.14)', '0.6 (0.42)']
    assert rows.upper.tolist() == ['0.6 (0.42)', '1.4 (0.97)']
    composed = table[(table.factor == 'gamma') & (table.outcome == COMPOSED)]
    assert composed['mean'].tolist() == pytest.approx([-0.19, 0.96])


def test_levels_are_compared_at_their_ends_and_between_neighbours():
    members = plant_members(let_seed_decide, anchors=(4, 6, 8), learning_rate=RATES)
    table = effects.tabulate(members)
    rows = table[(table.factor == 'anchors') & (table.outcome == COMPOSED)]
    levels = list(zip(rows.lower, rows.upper, strict=True))
    assert levels == [('lowest', 'highest'), ('4', '6'), ('6', '8')]


def test_names_are_in_the_order_of_the_design():
    solutions = {'noise': 'symmetric', 'any': 'other', 'pair': 'composed'}

    def decide(point):
        return solutions[point['last_token']]

    members = plant_members(decide, last_token=('any', 'noise', 'pair'))
    assert read(members, 'last_token')['mean'] == pytest.approx(0.96)
    assert read(members, 'last_token', SYMMETRIC)['mean'] == pytest.approx(-0.96)


def test_both_unseen_have_a_border_of_their_own_and_no_symmetric_answer():
    solutions = {1.0: 'memorizing', 1.4: 'composed'}
    members = plant(
        lambda point: solutions[point['gamma']],
        gamma=tuple(solutions),
        exception=('both unseen',),
    )
    table = effects.tabulate(members)
    assert not (table.outcome == SYMMETRIC).any()
    row = read(members, 'gamma')
    assert row['mean'] == pytest.approx(0.77) and row.block == 'both unseen'


def test_a_setting_without_an_answer_is_left_out():
    members = plant(let_batch_decide)
    whole = read(members, 'batch_size')
    members.loc[members.seq_len == 9, 'unseen_composed'] = np.nan
    part = read(members, 'batch_size')
    assert part['mean'] == pytest.approx(whole['mean'])
    assert part['settings'] == whole['settings'] / 2


def test_kinds_of_exception_are_compared_across_blocks():
    solutions = {'trained': 'symmetric', 'both unseen': 'composed'}
    members = plant(
        lambda point: solutions[point['exception']], exception=tuple(solutions)
    )
    row = read(members, 'exception')
    assert row['mean'] == pytest.approx(0.96) and row.block == effects.ALL
