"""Planted embeddings: arcs, lines and heaps are found, and the label law itself."""

import itertools

import numpy as np
import pytest
from scipy import stats

from analysis import spectra
from analysis.p2 import anchor_cosines, embedding_pca, label_law
from analysis.p2.cosines import correlate, make_reference, measure_order, rank_pairs
from analysis.theory import predictions
from anchorjax.storage.reader import Run


@pytest.fixture
def plant(monkeypatch):
    """A function that replaces the embedding of every snapshot from step 1 on."""

    def plant_embedding(W_embed):
        params_of = Run.params

        def params(self, step='last', **point):
            found = params_of(self, step, **point)
            return found if step == 0 else found | {'W_embed': W_embed}

        monkeypatch.setattr(Run, 'params', params)

    return plant_embedding


def plant_arc():
    """64 rows: memory anchors 1 to 4 alike, anchor 11 + i at i * 0.3 on a circle."""
    rng = np.random.default_rng(0)
    W_embed = rng.normal(size=(64, 8)).astype(np.float32)
    W_embed[1:5] = W_embed[1] * np.array([[1], [2], [3], [0.5]])
    W_embed[11:15] = 0
    W_embed[11:15, 0] = np.cos(0.3 * np.arange(4))
    W_embed[11:15, 1] = np.sin(0.3 * np.arange(4))
    return W_embed


def test_the_correlation_is_that_of_scipy_over_the_pairs():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 7, 7))
    x, y = x + x.T, y + y.T
    pairs = list(itertools.combinations(range(7), 2))
    of_x = [x[pair] for pair in pairs]
    of_y = [y[pair] for pair in pairs]
    np.testing.assert_array_equal(spectra.list_pairs(x), of_x)
    found, by_chance = correlate(x, make_reference(y))
    assert found == pytest.approx(np.corrcoef(of_x, of_y)[0, 1])
    assert abs(by_chance.mean()) < 0.1
    ranked, _ = correlate(rank_pairs(x), make_reference(rank_pairs(y)))
    assert ranked == pytest.approx(stats.spearmanr(of_x, of_y).statistic)


def test_an_arc_is_in_order_and_a_shuffled_one_is_not():
    tokens = np.arange(11, 21)
    angles = 0.2 * np.arange(10)
    rows = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    order = measure_order(spectra.cosines(rows), tokens)
    # Equal distances are ties, which rounding breaks among the cosines.
    assert order['rho'] == pytest.approx(-1, abs=0.02) and order['rho_bound'] > -0.5
    by_hand = []
    for i, j in itertools.combinations(range(10), 2):
        by_hand.append(np.cos(0.2 * (j - i)))
    assert order['mean'] == pytest.approx(np.mean(by_hand))
    shuffled = rows[np.random.default_rng(3).permutation(10)]
    null = measure_order(spectra.cosines(shuffled), tokens)
    assert null['rho'] > null['rho_bound']


@pytest.mark.slow
def test_planted_cosines_are_found_in_a_sweep(open_sweep, plant):
    run = open_sweep('transformer')
    plant(plant_arc())
    result = anchor_cosines.compute(run)
    assert result.step.values.tolist() == [0, 1, 5, 10, 20]
    trained = result.sel(step=slice(1, None))
    np.testing.assert_allclose(trained.rho.sel(kind='reasoning'), -1, atol=0.1)
    np.testing.assert_allclose(trained['mean'].sel(kind='memory'), 1, atol=1e-6)
    by_hand = np.cos(0.3) * 3 + np.cos(0.6) * 2 + np.cos(0.9)
    found = trained['mean'].sel(kind='reasoning')
    np.testing.assert_allclose(found, by_hand / 6, rtol=1e-5)
    # The untrained network is the real one: its seeds differ.
    untrained = result.rho.sel(step=0, kind='reasoning').values
    assert len(set(untrained[:3].tolist())) == 3 and (untrained > -1).all()
    np.testing.assert_array_equal(untrained[3:], untrained[:3])


def plant_lines():
    """Keys along one axis, reasoning anchors along another, memory in a heap."""
    rng = np.random.default_rng(0)
    W_embed = 1e-3 * rng.normal(size=(64, 8)).astype(np.float32)
    W_embed[21:33, 0] += np.linspace(-3, 3, 12)
    W_embed[11:15, 1] += np.linspace(-2, 2, 4)
    return W_embed


@pytest.mark.slow
def test_planted_lines_are_in_order_and_the_heap_is_together(open_sweep, plant):
    run = open_sweep('transformer')
    plant(plant_lines())
    result = embedding_pca.compute(run, step=10)
    trained, untrained = result.sel(step=10), result.sel(step=0)
    np.testing.assert_allclose(trained.rho.sel(kind='keys')[:, 0], 1)
    np.testing.assert_allclose(trained.rho.sel(kind='reasoning')[:, 1], 1)
    assert (trained.spread.sel(kind='memory') < 0.01).all()
    assert (trained.spread.sel(kind='keys') > 1).all()
    assert trained.explained.sum('component').min() > 0.99
    # Before training they are real networks at random.
    assert (untrained.rho.sel(kind='keys').max('component') < 0.9).all()
    assert ((untrained.spread > 0.6) & (untrained.spread < 1.4)).all()


def test_the_bound_is_that_of_two_random_orders():
    bound = embedding_pca.bound_random_orders(100)
    # The larger of two |N(0, 1/99)|: 95 % are below 2.24 deviations.
    assert bound == pytest.approx(2.24 / np.sqrt(99), abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize('name', ['flow', 'transformer'])
def test_the_law_itself_is_predicted_perfectly(open_sweep, plant, name):
    """Of a single seed's data: only its own members correlate perfectly."""
    run = open_sweep(name)
    laws, _ = predictions.count_member_laws(run.experiment.task, 1)
    plant(laws.deviation_VV)
    result = label_law.compute(run)
    law = result.sel(prediction='label law')
    trained = law.sel(step=slice(1, None))
    is_own = result.seed == 1
    own = trained.correlation.where(is_own, drop=True)
    np.testing.assert_allclose(own, 1, atol=1e-5)
    others = trained.correlation.where(~is_own, drop=True)
    assert (others.sel(kind='memory') < 0.999).all()
    # P2 has no equation of the matrices of two layers.
    matrices = result.correlation.sel(prediction='matrices')
    assert (matrices.notnull() == (name == 'flow')).all()
    keys = law.sel(kind='keys')
    assert (abs(keys.correlation.sel(step=0)) < 0.6).all() and (keys.bound < 0.5).all()


@pytest.mark.slow
def test_the_closed_form_is_of_reasoning_anchors_and_keys_alone(open_sweep, plant):
    rows = np.zeros((64, 64))
    rows[21:33] = predictions.profile(np.arange(21, 33), False, 64)
    rows[11:15] = predictions.profile(np.arange(11, 15), True, 64)
    plant(rows)
    found = label_law.compute(open_sweep('transformer')).correlation
    closed = found.sel(prediction='closed form', step=slice(1, None))
    np.testing.assert_allclose(closed.sel(kind=['keys', 'reasoning']), 1, atol=1e-6)
    assert np.isnan(closed.sel(kind=['memory', 'both'])).all()


@pytest.mark.slow
def test_a_shuffled_line_has_no_order(open_sweep, plant):
    W_embed = plant_lines()
    W_embed[21:33] = W_embed[np.random.default_rng(5).permutation(np.arange(21, 33))]
    plant(W_embed)
    result = embedding_pca.compute(open_sweep('transformer'))
    keys = result.sel(step=20, kind='keys')
    assert (keys.rho < keys.bound).all()
