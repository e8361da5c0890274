"""P2's label law, exact and counted, and the gradient at a small start (PAPERS 2.4)."""

import dataclasses

import jax
import numpy as np
import pytest

from analysis.spectra import cosines
from analysis.theory import label_law, predictions
from anchorjax import models
from anchorjax.network import Network
from anchorjax.tasks.memory_reasoning import MemoryReasoningConfig
from tests.support import cases
from tests.support.p2_tasks import loss_and_gradient, make_experiment, relative_error


def test_counting_by_hand():
    tokens_BT = np.array([[2, 1, 1], [0, 1, 2]])
    laws = label_law.count_laws(tokens_BT, np.array([3, 0]), vocab=4)
    assert laws.rate_V.tolist() == [0.5, 1.5, 1.0, 0.0]
    assert laws.law_VV[0].tolist() == [1, 0, 0, 0]
    np.testing.assert_allclose(laws.law_VV[1], [1 / 3, 0, 0, 2 / 3])
    assert laws.law_VV[2].tolist() == [0.5, 0, 0, 0.5]
    assert not laws.law_VV[3].any() and not laws.residual_VV[3].any()
    np.testing.assert_allclose(laws.residual_VV[1], [0.125, -0.375, -0.375, 0.625])
    last = label_law.count_laws(tokens_BT[:, -1:], np.array([3, 0]), vocab=4)
    assert last.rate_V.tolist() == [0, 0.5, 0.5, 0]


def predict(experiment, params):
    """The velocity of the embedding, for the data of seed 1."""
    return predictions.predict_velocity(Network(experiment, params, {'seed': 1}, 0))


@pytest.mark.parametrize(
    ('activation', 'tolerances'),
    [
        ('tanh', (0.06, 1e-4)),
        ('identity', (0.06, 1e-4)),
        ('gelu', (0.2, 3e-3)),  # its second derivative is not 0
    ],
)
def test_emb_mlp_velocity_is_minus_the_gradient_at_a_small_start(
    activation, tolerances
):
    """The relative error at weights of size 0.1 and 0.01: it vanishes with them."""
    experiment = make_experiment('emb_mlp', model__activation=activation)
    examples = label_law.read_examples(experiment.task, seed=1)
    for scale, tolerance in zip((0.1, 0.01), tolerances, strict=True):
        params = cases.random_params(experiment, scale=scale)
        loss, gradient = loss_and_gradient(experiment, params, examples)
        assert loss == pytest.approx(np.log(20), abs=scale)
        predicted = predict(experiment, params)
        assert relative_error(-gradient['W_embed'], predicted) < tolerance
    assert relative_error(gradient['W_embed'], predicted) > 1.9  # the sign counts
    start = Network(experiment, params, {'seed': 1}, 0)
    found = predictions.predict_cosines(start, np.arange(3, 5), 'reasoning')
    np.testing.assert_allclose(found['matrices'], cosines(predicted[3:5]))


def test_one_layer_velocity_is_minus_the_gradient_at_a_small_start():
    experiment = make_experiment('one_layer')
    examples = label_law.read_examples(experiment.task, seed=1)
    for scale, tolerance in ((0.1, 0.1), (0.01, 1e-2)):
        params = cases.random_params(experiment, scale=scale)
        _, gradient = loss_and_gradient(experiment, params, examples)
        exact = predict(experiment, params)
        assert relative_error(-gradient['W_embed'], exact) < tolerance


@pytest.mark.slow
@pytest.mark.parametrize(
    ('gamma', 'low', 'high'), [(0.8, 0, 2e-3), (0.5, 0.05, 0.2), (0.3, 0.5, 3)]
)
def test_at_p2s_sizes_the_theory_fits_the_start_of_a_large_gamma(gamma, low, high):
    """d_m = 200, d_f = 400, 20,000 examples: bounds of the relative error by gamma."""
    experiment = make_experiment('emb_mlp', model__width=200, model__mlp_dim=400)
    task = MemoryReasoningConfig(seq_len=3, num_examples=20_000)
    experiment = dataclasses.replace(experiment, task=task)
    params = models.init_params(experiment.model, 161, gamma, jax.random.key(0))
    params = jax.tree.map(np.asarray, params)
    examples = label_law.read_examples(experiment.task, seed=1)
    _, gradient = loss_and_gradient(experiment, params, examples)
    predicted = predict(experiment, params)
    assert low < relative_error(-gradient['W_embed'], predicted) < high


def test_p2s_closed_form_by_hand():
    anchor = predictions.profile(np.array([15]), are_anchors=True, width=200)
    assert anchor.shape == (1, 200)
    assert anchor[0, 15] == pytest.approx(1 - 1 / 200)
    assert anchor[0, 18] == pytest.approx(np.exp(-9 / 12) - 1 / 200)
    assert anchor[0, 12] == anchor[0, 18]
    key = predictions.profile(np.array([50]), are_anchors=False, width=200)
    assert key[0, 50] == 1 and key[0, 53] == pytest.approx(np.exp(-9 / 12))
