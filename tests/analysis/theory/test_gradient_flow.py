"""The predicted direction is the gradient of the true loss at a small start (P2)."""

from typing import Any

import jax
import numpy as np
import pytest

from analysis.theory import gradient_flow, label_law
from anchorjax import models
from anchorjax.tasks import MemoryReasoningConfig
from tests.support import cases, p2_theory
from tests.support.p2_tasks import loss_and_gradient, make_experiment, relative_error

REASONING = np.arange(11, 21)
MEMORY = np.arange(1, 11)


def predict_emb_mlp(laws: label_law.LabelLaws, params: Any, slope: float) -> np.ndarray:
    return gradient_flow.emb_mlp_velocity(laws, params['W_1'], params['W_2'], slope)


@pytest.mark.parametrize(
    ('activation', 'slope', 'tolerances'),
    [
        ('tanh', 1.0, (0.06, 1e-4)),
        ('identity', 1.0, (0.06, 1e-4)),
        ('gelu', 0.5, (0.2, 3e-3)),  # its second derivative is not 0
    ],
)
def test_emb_mlp_velocity_is_minus_the_gradient_at_a_small_start(
    activation, slope, tolerances
):
    """The relative error at weights of size 0.1 and 0.01: it vanishes with them."""
    experiment = make_experiment('emb_mlp', model__activation=activation)
    examples = label_law.read_examples(experiment.task, seed=1)
    laws = label_law.count_laws(*examples, vocab=20)
    for scale, tolerance in zip((0.1, 0.01), tolerances, strict=True):
        params = cases.random_params(experiment, scale=scale)
        loss, gradient = loss_and_gradient(experiment, params, examples)
        assert loss == pytest.approx(np.log(20), abs=scale)
        predicted = predict_emb_mlp(laws, params, slope)
        assert relative_error(-gradient['W_embed'], predicted) < tolerance
    assert relative_error(gradient['W_embed'], predicted) > 1.9  # the sign counts


def test_the_direction_is_that_of_finite_differences_too():
    experiment = make_experiment('emb_mlp')
    examples = label_law.read_examples(experiment.task, seed=1)
    laws = label_law.count_laws(*examples, vocab=20)
    params = cases.random_params(experiment, scale=0.05)
    velocity = predict_emb_mlp(laws, params, slope=1.0)
    step = 0.5 / np.linalg.norm(velocity)
    differences = []
    for sign in (1, -1):
        W_embed = params['W_embed'] + sign * step * velocity
        moved = params | {'W_embed': W_embed.astype(np.float32)}
        loss, _ = loss_and_gradient(experiment, moved, examples)
        differences.append(sign * loss)
    slope = sum(differences) / (2 * step)
    assert slope == pytest.approx(-(velocity**2).sum(), rel=0.03)


def split_one_layer(params: Any) -> tuple[np.ndarray, np.ndarray]:
    """W_V W_O and W_in W_out."""
    block = params['block_0']
    return block['W_V'] @ block['W_O'], block['W_in'] @ block['W_out']


def test_one_layer_velocity_is_minus_the_gradient_at_a_small_start():
    experiment = make_experiment('one_layer')
    examples = label_law.read_examples(experiment.task, seed=1)
    laws = label_law.count_laws(*examples, vocab=20)
    last_laws = label_law.count_laws(
        examples.tokens_BT[:, -1:], examples.label_B, vocab=20
    )
    for scale, tolerance in ((0.1, 0.1), (0.01, 1e-2)):
        params = cases.random_params(experiment, scale=scale)
        _, gradient = loss_and_gradient(experiment, params, examples)
        exact = gradient_flow.one_layer_exact_velocity(
            laws, last_laws, 5, *split_one_layer(params)
        )
        assert relative_error(-gradient['W_embed'], exact) < tolerance
    # P2's formula takes every position to be alike, which it is not.
    paper = p2_theory.one_layer_velocity(laws, 5, *split_one_layer(params))
    assert 0.05 < relative_error(paper, exact) < 1


def test_p2s_formula_is_exact_where_every_position_is_alike():
    """Planted: each token of a sequence is its last one equally often."""
    rng = np.random.default_rng(0)
    tokens_BT = rng.integers(0, 6, (40, 4))
    label_B = rng.integers(0, 6, 40)
    rotated = [np.roll(tokens_BT, i, axis=1) for i in range(4)]
    laws = label_law.count_laws(np.concatenate(rotated), np.tile(label_B, 4), 6)
    last = [rotation[:, -1:] for rotation in rotated]
    last_laws = label_law.count_laws(np.concatenate(last), np.tile(label_B, 4), 6)
    W_VO, W_f = rng.normal(size=(2, 6, 6))
    np.testing.assert_allclose(
        p2_theory.one_layer_velocity(laws, 4, W_VO, W_f),
        gradient_flow.one_layer_exact_velocity(laws, last_laws, 4, W_VO, W_f),
        atol=1e-12,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ('gamma', 'low', 'high'), [(0.8, 0, 2e-3), (0.5, 0.05, 0.2), (0.3, 0.5, 3)]
)
def test_at_p2s_sizes_the_theory_fits_the_start_of_a_large_gamma(gamma, low, high):
    """d_m = 200, d_f = 400, 20,000 examples: bounds of the relative error by gamma."""
    experiment = make_experiment(
        'emb_mlp', model__width=200, model__mlp_dim=400, task__vocab=161
    )
    config = MemoryReasoningConfig(seq_len=3, num_examples=20_000)
    params = models.init_params(experiment.model, 161, gamma, jax.random.key(0))
    examples = label_law.read_examples(config, seed=0)
    laws = label_law.count_laws(*examples, vocab=161)
    _, gradient = loss_and_gradient(experiment, params, examples)
    predicted = predict_emb_mlp(laws, params, slope=1.0)
    assert low < relative_error(-gradient['W_embed'], predicted) < high


def test_laws_planted_parallel_orthogonal_and_opposite():
    law_VV = np.array(
        [[1, 0, 0, 0], [0.55, 0.15, 0.15, 0.15], [0, 1 / 3, 1 / 3, 1 / 3]], float
    )
    law_VV = np.concatenate([law_VV, [[0.25, 0.75, 0, 0]]])
    laws = label_law.LabelLaws(np.array([0.1, 0.2, 0.3, 0.4]), law_VV)
    cosines = gradient_flow.law_cosines(laws, np.arange(4))
    assert cosines[0, 1] == pytest.approx(1)
    assert cosines[0, 2] == pytest.approx(-1)
    assert cosines[0, 3] == pytest.approx(0, abs=1e-12)


def test_p2s_laws_predict_its_figure_4():
    """Memory anchors are parallel; of reasoning anchors, near ones are more alike."""
    laws = p2_theory.expected_laws(MemoryReasoningConfig(masked=()))
    memory = gradient_flow.law_cosines(laws, MEMORY)
    np.testing.assert_allclose(memory, 1, atol=1e-9)
    reasoning = gradient_flow.law_cosines(laws, REASONING)
    of_first = reasoning[0]
    assert (np.diff(of_first) < 0).all() and of_first[0] == pytest.approx(1)
    assert of_first[-1] < 0.95


def test_predicted_cosines_start_at_the_embedding_and_end_at_the_velocity():
    rng = np.random.default_rng(0)
    W_embed, velocity = rng.normal(size=(2, 30, 8))
    tokens = np.array([3, 7, 20])
    ends = []
    for time in (0.0, 1e9):
        ends.append(gradient_flow.predict_cosines(velocity, tokens, W_embed, time))
    start = gradient_flow.predict_cosines(W_embed, tokens)
    np.testing.assert_allclose(ends[0], start, atol=1e-12)
    moved = gradient_flow.predict_cosines(velocity, tokens)
    np.testing.assert_allclose(ends[1], moved, atol=1e-6)


def test_p2s_closed_form_by_hand():
    anchor = gradient_flow.profile(np.array([15]), are_anchors=True, width=200)
    assert anchor.shape == (1, 200)
    assert anchor[0, 15] == pytest.approx(1 - 1 / 200)
    assert anchor[0, 18] == pytest.approx(np.exp(-9 / 12) - 1 / 200)
    assert anchor[0, 12] == anchor[0, 18]
    key = gradient_flow.profile(np.array([50]), are_anchors=False, width=200)
    assert key[0, 50] == 1 and key[0, 53] == pytest.approx(np.exp(-9 / 12))
