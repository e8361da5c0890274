"""The flow of the Emb-MLP in time: planted cases, and gradient descent itself."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from analysis.theory import label_law, trajectories
from analysis.theory.trajectories import FLOWS, Moments, Weights, integrate
from anchorjax import models
from anchorjax.errors import ConfigError
from anchorjax.training import optimizers
from tests.support import cases
from tests.support.p2_tasks import (
    PLAIN,
    loss_and_gradient,
    make_experiment,
    relative_error,
)

STEPS = (4, 20, 40)
RATE = 0.25


def take_weights(params: Any) -> Weights:
    return Weights(params['W_embed'], params['W_1'], params['W_2'])


def test_moments_by_hand():
    examples = label_law.Examples(np.array([[0, 1, 1], [2, 0, 1]]), np.array([2, 0]))
    moments = trajectories.measure_moments(examples, 3)
    assert moments.counts_VV.tolist() == [[1, 1.5, 0.5], [1.5, 2.5, 0.5], [0.5] * 3]
    np.testing.assert_allclose(moments.residual_VV[1], [0, -0.5, 0.5], atol=1e-12)


def test_the_frozen_flow_is_a_straight_line_along_p2s_direction():
    rng = np.random.default_rng(0)
    tokens_BT, label_B = rng.integers(0, 20, (50, 3)), rng.integers(0, 20, 50)
    examples = label_law.Examples(tokens_BT, label_B)
    moments = trajectories.measure_moments(examples, 20)
    laws = label_law.count_laws(tokens_BT, label_B, 20)
    shapes = ((20, 6), (6, 9), (9, 20))
    start = Weights(*[0.1 * rng.normal(size=shape) for shape in shapes])
    path = integrate(FLOWS['frozen'], moments, start, [0.0, 1.0, 7.0])
    direction = laws.residual_VV @ start.W_2.T @ start.W_1.T
    for weights, time in zip(path, (0, 1, 7), strict=True):
        expected = start.W_embed + time * direction
        np.testing.assert_allclose(weights.W_embed, expected, atol=1e-12)
        np.testing.assert_array_equal(weights.W_1, start.W_1)
        np.testing.assert_array_equal(weights.W_2, start.W_2)


def test_a_planted_direction_grows_as_one_over_the_time_left():
    """Rank one: all three sizes obey a' = c a^2, so that a = a_0 / (1 - c a_0 t)."""
    u, v = np.array([[0.6], [0.8]]), np.array([[0.8, -0.6]])
    moments = Moments(residual_VV=2.0 * u @ v, counts_VV=np.zeros((2, 2)))
    start = Weights(0.5 * u, np.array([[0.5]]), 0.5 * v)
    times = [0.0, 0.4, 0.8]
    path = integrate(FLOWS['coupled'], moments, start, times, 1e-4)
    for weights, time in zip(path, times, strict=True):
        size = 0.5 / (1 - 2.0 * 0.5 * time)
        np.testing.assert_allclose(weights.W_embed, size * u, rtol=1e-3)
        np.testing.assert_allclose(weights.W_1, [[size]], rtol=1e-3)
        np.testing.assert_allclose(weights.W_2, size * v, rtol=1e-3)
    late = integrate(FLOWS['coupled'], moments, start, [2.0], 1e-3)
    assert not np.isfinite(late[0].W_1).all()


def test_feedback_learns_a_single_planted_fact_and_stops():
    """Token 0 always has label 0, at V = 2: p = 1/2 + (z - mean z) / 2 reaches 1."""
    examples = label_law.Examples(np.array([[0]]), np.array([0]))
    moments = trajectories.measure_moments(examples, 2)
    start = Weights(np.full((2, 1), 0.3), np.full((1, 1), 0.3), np.array([[0.3, -0.3]]))
    flow = FLOWS['feedback']
    end, later = integrate(flow, moments, start, [200.0, 220.0], 0.01)
    logits = end.W_embed[0] @ end.W_1 @ end.W_2
    np.testing.assert_allclose(logits, [1, -1], atol=1e-3)
    np.testing.assert_allclose(later.W_embed, end.W_embed, atol=1e-3)
    assert end.W_embed[1] == 0.3  # it never occurs


def test_every_velocity_at_a_small_start_is_minus_the_gradient():
    experiment = make_experiment('emb_mlp', task__seq_len=3)
    params = cases.random_params(experiment, scale=0.03)
    examples = label_law.read_examples(experiment.task, seed=1)
    moments = trajectories.measure_moments(examples, 20)
    _, gradient = loss_and_gradient(experiment, params, examples)
    errors = {}
    for name in ('coupled', 'feedback'):
        velocity = FLOWS[name](take_weights(params), moments)
        for field, leaf in velocity._asdict().items():
            errors[name, field] = relative_error(-gradient[field], leaf)
    assert max(errors.values()) < 2e-3, errors
    # The first order in the logits is the better one, and tanh is odd.
    assert errors['feedback', 'W_embed'] < errors['coupled', 'W_embed']


def test_feedback_follows_gradient_descent_while_the_network_starts_to_learn():
    """The displacement of the embedding, of a tanh Emb-MLP at gamma 0.8.

    The loss falls from ln 20 = 3.00 by a quarter in 40 steps.
    """
    experiment = make_experiment(
        'emb_mlp', task__seq_len=3, model__width=16, model__mlp_dim=24
    )
    examples = label_law.read_examples(experiment.task, seed=1)
    moments = trajectories.measure_moments(examples, 20)
    params = models.init_params(experiment.model, 20, 0.8, jax.random.key(0))
    start = take_weights(jax.tree.map(np.asarray, params))
    measured_SVD = []
    for step in range(1, STEPS[-1] + 1):
        loss, gradient = loss_and_gradient(experiment, params, examples)
        params = jax.tree.map(lambda p, g: p - RATE * g, params, gradient)
        if step in STEPS:
            measured_SVD.append(params['W_embed'])
    assert 2.0 < loss < 2.5
    times = RATE * np.array(STEPS)
    errors = {}
    for name, flow in FLOWS.items():
        path = integrate(flow, moments, start, times, RATE)
        predicted_SVD = np.array([weights.W_embed for weights in path])
        errors[name] = trajectories.displacement_error(
            predicted_SVD, np.array(measured_SVD), start.W_embed
        )
    assert errors['feedback'][0] < 0.03 and errors['feedback'][2] < 0.25, errors
    assert errors['coupled'][0] < 0.06 and errors['coupled'][1] < 0.3, errors
    assert errors['coupled'][2] > 1 and errors['frozen'][1] > 0.4, errors


def test_the_displacement_error_by_hand():
    start = np.zeros((3, 2))
    measured = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 1.0]])
    wrong = measured + np.array([[0, 0], [0, 0], [0, 2.0]])
    infinite = np.full((3, 2), np.nan)
    predicted = np.array([measured, start, measured / 2, wrong, infinite])
    found = trajectories.displacement_error(predicted, measured[None], start)
    np.testing.assert_allclose(found, [0, 1, 0.5, 2 / np.sqrt(26), np.inf])


def test_training_with_a_huge_eps_is_gradient_descent_in_the_time_it_says():
    experiment = make_experiment('emb_mlp', **PLAIN)
    gradient = cases.random_params(experiment, scale=0.2)
    rate = optimizers.learning_rate(experiment.optimizer, 250.0, jnp.int32(7))
    is_decayed = jax.tree.map(lambda _: True, gradient)
    optimizer = optimizers.make_optimizer(experiment.optimizer, is_decayed, rate)
    state = optimizer.init(gradient)
    update, _ = jax.jit(optimizer.update)(gradient, state, gradient)
    assert trajectories.flow_time(experiment, 1, 250.0) == 0.25
    for name, leaf in gradient.items():
        assert relative_error(-update[name], 0.25 * leaf) < 2e-3, name


@pytest.mark.parametrize(
    ('field', 'value', 'line'),
    [
        ('optimizer__b1', 0.9, 'optimizer.b1 = 0.9: must be 0, as optimizer.b2'),
        ('optimizer__eps', 1e-8, 'optimizer.eps = 1e-08: must be at least 100'),
        ('optimizer__clip_norm', 1.0, 'optimizer.clip_norm = 1.0: must be at least'),
        ('optimizer__shape', 'warmup_cosine', "must be 'constant', for gradient"),
        ('grid__weight_decay', (0.1,), 'grid.weight_decay = (0.1,): must be (0.0,)'),
    ],
)
def test_another_optimizer_has_no_such_time(field, value, line):
    experiment = make_experiment('emb_mlp', **PLAIN | {field: value})
    with pytest.raises(ConfigError) as caught:
        trajectories.flow_time(experiment, 1, 250.0)
    assert line in str(caught.value)
