"""Rates follow the official schedule, decay reaches every parameter (PAPERS 1.3)."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax.traverse_util import flatten_dict

from anchorjax.config import OptimizerConfig
from anchorjax.grid import pad_window
from anchorjax.training import optimizers
from anchorjax.training.step import new_state
from tests.support import cases
from tests.support.first_steps import HPARAMS, make_step

BASE, MULTIPLIER, WARMUP, COSINE = 1e-5, 25, 40, 200
PEAK = MULTIPLIER * BASE
STEPS = np.arange(WARMUP + COSINE + 1)


@functools.partial(jax.jit, static_argnums=0)
def compute_rates(shape: str, steps: np.ndarray = STEPS) -> jax.Array:
    config = OptimizerConfig(
        shape=shape, warmup_steps=WARMUP, schedule_steps=WARMUP + COSINE, floor=BASE
    )
    return optimizers.learning_rate(config, PEAK, steps)


def official_rate(step: int) -> float:
    """GradualWarmupScheduler, then CosineAnnealingLR in closed form."""
    if step < WARMUP:
        return BASE * (1 + (MULTIPLIER - 1) * step / WARMUP)
    wave = 1 + math.cos(math.pi * (step - WARMUP) / COSINE)
    return BASE + (PEAK - BASE) * wave / 2


def test_warmup_cosine_is_the_official_formula():
    expected = [official_rate(step) for step in STEPS]
    np.testing.assert_allclose(compute_rates('warmup_cosine'), expected, rtol=1e-4)
    by_hand = {0: 1e-5, 1: 1.6e-5, 39: 2.44e-4, 40: 2.5e-4, 140: 1.3e-4, 999: 1e-5}
    rates = compute_rates('warmup_cosine', np.array(list(by_hand)))
    np.testing.assert_allclose(rates, list(by_hand.values()), rtol=1e-4)


def test_other_shapes_are_constant_or_drop_to_the_floor_after_the_warmup():
    np.testing.assert_allclose(compute_rates('constant'), PEAK, rtol=1e-6)
    dropped = [official_rate(step) if step < WARMUP else BASE for step in STEPS]
    np.testing.assert_allclose(compute_rates('warmup_drop'), dropped, rtol=1e-5)
    config = OptimizerConfig(warmup_steps=0, schedule_steps=100, floor=0.0)
    rates = optimizers.learning_rate(config, 1.0, jnp.array([0, 50, 100]))
    np.testing.assert_allclose(rates, [1.0, 0.5, 0.0], atol=1e-6)


CONSTANT = {'model__depth': 1, 'optimizer__shape': 'constant'}
ALL = cases.tiny(**CONSTANT, model__biases=True)
BUT_EMBEDDINGS = cases.tiny(**CONSTANT, model__decayed='all_but_embeddings')


@pytest.mark.parametrize(
    ('experiment', 'left_out', 'number'),
    [
        (ALL, ('nothing',), 0),
        (BUT_EMBEDDINGS, ('W_embed', 'W_pos'), 2),
        # As in P1's code (PAPERS 1.6); the scales of LayerNorm decay, too.
        (cases.tiny_gpt2(**CONSTANT), ('b_', 'bias'), (6 + 2) + 1),
    ],
    ids=['all', 'all but embeddings', 'gpt2'],
)
def test_decay_reaches_all_but_what_is_left_out(experiment, left_out, number):
    """LayerNorms and biases, too; what is left out by the beginning of its name."""
    params = cases.random_params(experiment)
    take_step, state = make_step(experiment), new_state(experiment, params)
    ends = []
    for decay in (0.0, 20.0):
        after, _, _ = take_step(state, HPARAMS.replace(weight_decay=decay))
        ends.append(flatten_dict(after.params))
    kept = [path for path in ends[0] if path[-1].startswith(left_out)]
    assert len(kept) == number
    for path, p in flatten_dict(params).items():
        expected = np.zeros_like(p) if path in kept else 0.01 * 20 * p
        difference = ends[0][path] - ends[1][path]
        np.testing.assert_allclose(difference, expected, rtol=1e-3, atol=1e-6)


# (bounds, steps of ten in which decay acts), by hand.
WINDOWS = {
    (): range(10),
    (0, 0): (),
    (0, 10): range(10),
    (2, 5): (2, 3, 4),
    (9, 10): (9,),
    (0, 2, 8, 9): (0, 1, 8),
    (1, 3, 3, 4): (1, 2, 3),
}


def shape_of(window: tuple[int, ...], equal_budget: bool) -> np.ndarray:
    """What decay is multiplied by in ten steps; the bounds are traced."""
    config = OptimizerConfig(equal_budget=equal_budget)

    @jax.jit
    def compute(bounds: jax.Array) -> jax.Array:
        steps = jnp.arange(10)
        return jax.vmap(lambda t: optimizers.decay_shape(config, bounds, t, 10))(steps)

    return np.asarray(compute(jnp.asarray(pad_window(window))))


@pytest.mark.parametrize('window', WINDOWS)
def test_decay_acts_inside_its_window_alone_with_an_equal_sum_if_so_configured(window):
    plain = shape_of(window, equal_budget=False)
    np.testing.assert_array_equal(plain, np.isin(np.arange(10), list(WINDOWS[window])))
    shape = shape_of(window, equal_budget=True)
    expected = 10 / max(1, plain.sum()) * plain
    np.testing.assert_allclose(shape, expected, rtol=1e-6)
    assert shape.sum() == pytest.approx(10 if plain.any() else 0)


def test_a_member_decays_in_its_window_alone():
    experiment = cases.tiny(**CONSTANT, optimizer__equal_budget=True)
    params = cases.random_params(experiment)
    start = new_state(experiment, params)
    take_step = make_step(experiment)
    window = jnp.asarray(pad_window((2, 7)))  # 5 of 20 steps, so decay is 4 times it

    for step, is_inside in [(1, False), (2, True), (6, True), (7, False)]:
        state = start.replace(step=jnp.int32(step))
        ends = []
        for decay in (0.0, 5.0):
            hparams = HPARAMS.replace(weight_decay=decay, decay_window=window)
            after, _, _ = take_step(state, hparams)
            ends.append(after.params['W_U'])
        found = ends[0] - ends[1]
        expected = 0.01 * 20 * params['W_U'] if is_inside else 0.0
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-6)


def test_sgd_with_momentum_by_hand():
    config = OptimizerConfig(method='sgd', b1=0.5, clip_norm=1e9)
    params = {'a': jnp.array([1.0, -2.0]), 'b': jnp.array([1.0])}  # not moved
    is_decayed = {'a': True, 'b': False}
    optimizer = optimizers.make_optimizer(config, is_decayed, 0.2, weight_decay=0.1)
    state = optimizer.init(params)
    update = jax.jit(optimizer.update)
    found = {'a': [], 'b': []}
    for grads in ([1.0, -2.0], [0.0, 4.0], [2.0, 0.0]):
        grads = {'a': jnp.array(grads), 'b': jnp.array(grads[:1])}
        updates, state = update(grads, state, params)
        for name, leaf in updates.items():
            found[name].append(-leaf / 0.2)
    expected = np.add([[1.0, -2.0], [0.5, 3.0], [2.25, 1.5]], [0.1, -0.2])
    np.testing.assert_allclose(found['a'], expected, rtol=1e-6)
    np.testing.assert_allclose(found['b'], [[1.0], [0.5], [2.25]], rtol=1e-6)


def test_clip_norm_is_that_of_all_parameters_together():
    # eps dwarfs the rest of Adam's denominator: the update is the clipped gradient.
    config = OptimizerConfig(b1=0.0, b2=0.0, eps=1e6)
    grads = {'a': jnp.array([3.0, 0.0]), 'b': jnp.array([[4.0]])}
    is_decayed = {'a': True, 'b': True}
    optimizer = optimizers.make_optimizer(config, is_decayed, rate=1e6)
    updates, _ = jax.jit(optimizer.update)(grads, optimizer.init(grads), grads)
    np.testing.assert_allclose(updates['a'], [-0.6, 0.0], rtol=1e-5)
    np.testing.assert_allclose(updates['b'], [[-0.8]], rtol=1e-5)
