"""Spectra put there by hand are found; what a run does not hold is named."""

import jax
import numpy as np

from analysis.p1 import eigenvalues
from analysis.p1.eigenvalues import list_labels, list_tokens, select_used
from analysis.spectra import covariance_spectrum, find_rises, participation_ratio
from anchorjax.grid import DATA, random_key
from tests.support import cases
from tests.support.planted_results import mark_converged


def planted(values):
    """[50, D] whose covariance has these eigenvalues; its mean is not zero."""
    rng = np.random.default_rng(0)
    drawn = rng.normal(size=(50, len(values)))
    U, _ = np.linalg.qr(drawn - drawn.mean(0))
    V, _ = np.linalg.qr(rng.normal(size=(len(values),) * 2))
    return U * np.sqrt(np.array(values) * 49) @ V.T + 7.0


def test_the_spectrum_of_the_covariance():
    values = [4.0, 2.0, 1.0, 0.5, 0.25]
    np.testing.assert_allclose(covariance_spectrum(planted(values)), values)
    expected = np.linalg.eigvalsh(np.cov(planted(values), rowvar=False))[::-1]
    np.testing.assert_allclose(covariance_spectrum(planted(values)), expected)


def test_eigenvalues_rise_when_they_were_made_to():
    steps = [0, 10, 20, 40, 80]
    values = np.array(
        [
            [1.0, 6.0, 10.0, 10.0, 4.0],  # half way by 10; the later fall is ignored
            [1.0, 1.0, 1.0, 5.4, 10.0],  # 5.4 is not half way from 1 to 10
            [1.0, 1.0, 1.0, 5.5, 10.0],  # 5.5 is
            [1.0, 1.2, 1.4, 1.6, 1.8],  # never doubles
            [1.0, 0.9, 0.8, 0.7, 0.6],
            [0.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 1.0, 1.0],
        ]
    )
    expected = [10, 80, 40, np.nan, np.nan, np.nan, 20]
    np.testing.assert_array_equal(find_rises(steps, values.T), expected)
    assert np.isnan(find_rises([5], values.T[:1])).all()


def test_a_finished_sweep(finished):
    result = eigenvalues.compute(finished, depth=2)
    W = finished.params(depth=2, gamma=0.3, seed=0)['W_embed']
    spectrum = covariance_spectrum(select_used(finished.experiment.task, 'W_embed', W))
    large = result.sel(gamma=0.3, size='large')
    np.testing.assert_allclose(large.eigenvalue, spectrum)
    np.testing.assert_allclose(large.share, spectrum[0] / spectrum.sum())
    assert result.followed == 0.8 and result.step.values.tolist() == [0, 1, 4, 15, 40]
    np.testing.assert_allclose(result.evolution[-1], result.eigenvalue[1])
    assert result.extreme.values.tolist() == [0.3, 0.8] and result.missing == ''
    assert result.selection == 'depth 2, learning rate 0.01, weight decay 0.01, seed 0'
    name = 'block_1/W_in'
    W = finished.params(depth=2, gamma=0.8, seed=0)['block_1']['W_in']
    singular = result.singular.sel(size='small', matrix=name).values
    np.testing.assert_allclose(singular[: min(W.shape)], np.linalg.svd(W)[1], rtol=1e-4)
    assert np.isnan(singular[min(W.shape) :]).all()


def test_tokens_and_labels_that_occur_are_those_of_the_data():
    """Of the tiny task: compared with a thousand batches' worth of examples."""
    config = cases.tiny().task
    task = config.make()
    data = jax.jit(task.make_data)(random_key(0, DATA))
    batch = jax.jit(task.batch)(data, np.arange(20_000))
    np.testing.assert_array_equal(np.unique(batch.tokens_BT), list_tokens(config))
    np.testing.assert_array_equal(np.unique(batch.targets_BQ), list_labels(config))


def test_rows_and_columns_without_data_are_left_out():
    config = cases.tiny(task__seq_len=3).task
    W = np.arange(400.0).reshape(20, 20)
    tokens, labels = list_tokens(config), list_labels(config)
    assert len(tokens) == 8 + 4 and len(labels) < 20
    np.testing.assert_array_equal(select_used(config, 'W_embed', W), W[tokens])
    np.testing.assert_array_equal(select_used(config, 'W_U', W), W[:, labels])
    np.testing.assert_array_equal(select_used(config, 'W_pos', W), W[:3])
    np.testing.assert_array_equal(select_used(config, 'block_0/W_Q', W), W)
    unused = W.copy()
    unused[0] = 1e6  # a token that never occurs
    np.testing.assert_array_equal(select_used(config, 'W_embed', unused), W[tokens])


def test_every_converged_seed_is_measured_beside_its_start(finished):
    """Of the depth that the figure is about, and of no other."""
    run = mark_converged(finished, finished.results.depth == 2)
    assert not eigenvalues.compute(run, depth=1).sizes['member']
    result = eigenvalues.compute(mark_converged(finished), depth=2)
    assert result.member_gamma.values.tolist() == [0.3, 0.3, 0.8, 0.8]
    assert result.member_seed.values.tolist() == [0, 1, 0, 1]
    config = finished.experiment.task
    point = {'depth': 2, 'gamma': 0.3, 'seed': 1}
    for step, column in ((40, 'participation'), (0, 'untrained')):
        W = finished.params(step, **point)['W_embed']
        spectrum = covariance_spectrum(select_used(config, 'W_embed', W))
        found = result[f'member_{column}'][1]
        np.testing.assert_allclose(found, participation_ratio(spectrum), 1e-4)
