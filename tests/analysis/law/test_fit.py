"""The regression: against statsmodels, and what it predicts of planted networks."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from analysis.law import fit
from tests.support.planted_law import (
    CELL,
    let_batch_decide,
    let_seed_decide,
    plant_members,
)

LEVELS = {
    'batch_size': (512, 2048),
    'learning_rate': (1e-3, 2e-3),
    'seq_len': (5, 9),
    'gamma': (0.4, 0.8, 1.2),
}


@pytest.fixture(scope='module')
def by_batch():
    return plant_members(let_batch_decide, **LEVELS)


@pytest.fixture(autouse=True)
def few_replicates(monkeypatch):
    monkeypatch.setattr(fit, 'REPLICATES', 20)


def test_without_a_penalty_it_is_the_regression_of_statsmodels(monkeypatch):
    """Solutions that the factors lean to, so that the largest likelihood is finite."""

    def decide(point):
        lean = 6 * (point['gamma'] > 0.5) + 3 * (point['batch_size'] == 2048)
        rank = (7 * point['seed'] + lean) % 20
        return ('memorizing', 'symmetric', 'inferential')[min(rank // 6, 2)]

    members = plant_members(decide, seeds=20, **LEVELS)
    factors = fit.measure_factors(members)
    factors = factors.loc[:, factors.nunique() > 1]
    monkeypatch.setattr(fit, 'PENALTY', 1e-6)
    monkeypatch.setattr(fit, 'PRODUCTS', ())
    weights = pd.Series(1.0, members.index)
    found = fit.fit_and_predict(members, weights, members)
    design = sm.add_constant((factors - factors.mean()) / factors.std())
    names = ['memorizing', 'symmetric', 'inferential']
    codes = members.solution.map(names.index)
    reference = sm.MNLogit(codes, design).fit(disp=False).predict(design)
    np.testing.assert_allclose(found[names], reference, atol=1e-4)
    assert (found['other'] == 0).all()


def test_a_setting_counts_once_however_many_networks_it_has(by_batch):
    is_first = (by_batch.seq_len == 9) & (by_batch.batch_size == 2048)
    repeated = [by_batch[is_first].assign(seed=seed) for seed in range(3, 12)]
    more = pd.concat([by_batch, *repeated], ignore_index=True)
    of_setting = fit.weigh_settings(more).groupby([more[key] for key in fit.SETTING])
    np.testing.assert_allclose(of_setting.sum(), len(more) / 8)


def test_it_predicts_what_was_left_out_where_a_factor_decides(by_batch):
    scores = fit.score(by_batch)
    assert scores.left_out.tolist() == ['cell', 'setting']
    assert (scores.low > 0).all() and (scores.accuracy > 0.9).all()
    text = fit.format_scores(scores)
    assert '| exception trained | setting (8) | 72 |' in text


def test_it_predicts_nothing_where_nothing_decides():
    scores = fit.score(plant_members(let_seed_decide, **LEVELS))
    assert (scores.low <= 0).all() and (scores.gain.abs() < 0.3).all()


def test_what_is_left_out_is_not_seen():
    """The only setting with third solutions: nothing else lets one expect them."""

    def decide(point):
        is_special = point['batch_size'] == 2048 and point['seq_len'] == 9
        is_special &= point['learning_rate'] == 2e-3
        return 'third' if is_special else 'symmetric'

    members = plant_members(decide, **LEVELS)
    scores = fit.score(members).set_index('left_out')
    surprise = np.log(9 + 4)  # of nine networks whose solution the rest does not have
    assert scores.loc['setting'].log_loss >= surprise / 8
    assert scores.loc['cell'].log_loss < scores.loc['setting'].log_loss


def test_a_cell_is_left_out_at_every_number_of_steps():
    """The fit cannot tell them apart, so that one would give away the other."""

    def decide(point):
        special = {'batch_size': 2048, 'seq_len': 9, 'learning_rate': 2e-3}
        is_special = (special | {'gamma': 1.2}).items() <= point.items()
        return 'third' if is_special else 'symmetric'

    members = plant_members(decide, num_steps=(4000, 8000), **LEVELS)
    cell = fit.score(members).set_index('left_out').loc['cell']
    assert cell.groups == 24
    surprise = np.log(len(members) + 4)  # of a third of one of eight settings
    assert cell.log_loss >= surprise / 24


def test_few_settings_have_no_fit():
    scores = fit.score(plant_members(let_seed_decide))
    assert not len(scores) and 'no fit' in fit.format_scores(scores)


def test_equal_standard_deviations_are_equal(by_batch):
    wide = pd.DataFrame([CELL | {'width': 256, 'gamma': 0.6}])
    narrow = pd.DataFrame([CELL | {'width': 64, 'gamma': 0.8}])
    assert fit.measure_factors(wide).gamma[0] == pytest.approx(
        fit.measure_factors(narrow).gamma[0]
    )


def test_rates_count_in_doublings_and_no_decay_as_a_small_one():
    cells = [CELL | {'learning_rate': 2e-4, 'weight_decay': 0.0}]
    cells += [CELL | {'learning_rate': 8e-4, 'weight_decay': 1e-3}]
    slow, fast = fit.measure_factors(pd.DataFrame(cells)).to_dict('records')
    assert fast['learning_rate'] - slow['learning_rate'] == pytest.approx(2)
    assert fast['weight_decay'] == slow['weight_decay']


def test_a_prediction_says_what_was_planted_and_how_far_it_is_outside(by_batch):
    point = fit.parse_point(
        'exception=trained, seq_len=9, batch_size=2048, learning_rate=2e-4, gamma=1.2,'
        'width=64, split=random'
    )
    lines = fit.predict_point(by_batch, point).splitlines()
    shares = {line.split()[0]: float(line.split()[1]) for line in lines[:4]}
    assert max(shares, key=shares.get) == 'inferential'
    assert sum(shares.values()) == pytest.approx(1, abs=0.02)
    assert lines[4:] == [
        'extrapolates: rate 0.0002, trained from 0.001 to 0.002',
        'extrapolates: split random, trained with code alone',
    ]
