"""Rates follow the official schedule, decay reaches every parameter (PAPERS 1.3)."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from anchorjax.config import OptimizerConfig
from anchorjax.training import optimizers
from tests.support import cases
from tests.support.first_steps import make_decaying_step

BASE, MULTIPLIER, WARMUP, COSINE = 1e-5, 25, 40, 200
PEAK = MULTIPLIER * BASE
STEPS = np.arange(WARMUP + COSINE + 1)


def compute_rates(
    shape: str, peak: float | jax.Array = PEAK, steps: Any = STEPS
) -> jax.Array:
    config = OptimizerConfig(
        shape=shape, warmup_steps=WARMUP, schedule_steps=WARMUP + COSINE, floor=BASE
    )
    return optimizers.learning_rate(config, peak, jnp.asarray(steps))


def official_rate(step: int) -> float:
    """GradualWarmupScheduler, then CosineAnnealingLR in closed form."""
    if step < WARMUP:
        return BASE * (1 + (MULTIPLIER - 1) * step / WARMUP)
    wave = 1 + math.cos(math.pi * (step - WARMUP) / COSINE)
    return BASE + (PEAK - BASE) * wave / 2


def test_warmup_cosine_is_the_official_formula():
    expected = [official_rate(step) for step in STEPS]
    np.testing.assert_allclose(compute_rates('warmup_cosine'), expected, rtol=1e-4)


def test_warmup_cosine_by_hand():
    steps = [0, 1, 39, 40, 140, 240, 999]
    expected = [1e-5, 1.6e-5, 2.44e-4, 2.5e-4, 1.3e-4, 1e-5, 1e-5]
    rates = compute_rates('warmup_cosine', steps=steps)
    np.testing.assert_allclose(rates, expected, rtol=1e-4)


def test_cosine_is_pytorchs():
    torch = pytest.importorskip('torch')
    optimizer = torch.optim.SGD([torch.zeros(1)], lr=PEAK)
    annealing = torch.optim.lr_scheduler.CosineAnnealingLR(
        optimizer, COSINE, eta_min=BASE
    )
    expected = []
    for _ in range(COSINE + 1):
        expected.append(annealing.get_last_lr()[0])
        optimizer.step()
        annealing.step()
    rates = compute_rates('warmup_cosine')[WARMUP:]
    np.testing.assert_allclose(rates, expected, rtol=1e-4)


def test_warmup_drop_falls_to_the_floor_and_stays():
    rates = compute_rates('warmup_drop')
    expected = [official_rate(step) for step in range(WARMUP)]
    np.testing.assert_allclose(rates[:WARMUP], expected, rtol=1e-5)
    np.testing.assert_allclose(rates[WARMUP:], BASE, rtol=1e-6)


def test_constant_is_the_peak():
    np.testing.assert_allclose(compute_rates('constant'), 2.5e-4, rtol=1e-6)


def test_no_warmup_starts_at_the_peak():
    config = OptimizerConfig(warmup_steps=0, schedule_steps=100, floor=0.0)
    rates = optimizers.learning_rate(config, 1.0, jnp.array([0, 50, 100]))
    np.testing.assert_allclose(rates, [1.0, 0.5, 0.0], atol=1e-6)


def test_a_cosine_longer_than_training_is_not_cut_short():
    experiment = cases.tiny(optimizer__schedule_steps=40)
    assert experiment.train.num_steps == 20
    # By default the schedule is as long as training.
    assert cases.tiny().optimizer.schedule_steps == 20
    rate = optimizers.learning_rate(experiment.optimizer, 1.0, jnp.int32(22))
    np.testing.assert_allclose(rate, (1 + 1e-4) / 2, rtol=1e-5)


def test_the_peak_may_be_traced():
    def compute(peak: jax.Array) -> jax.Array:
        return compute_rates('warmup_cosine', peak)

    peaks = jnp.array([1e-4, 3e-4])
    traced = jax.jit(jax.vmap(compute))(peaks)
    plain = [compute_rates('warmup_cosine', float(peak)) for peak in peaks]
    np.testing.assert_allclose(traced, jnp.stack(plain), rtol=1e-5)


def test_decay_reaches_every_parameter_biases_and_layer_norms_included():
    experiment = cases.tiny(model__biases=True, optimizer__shape='constant')
    params = cases.random_params(experiment)
    take_step = make_decaying_step(experiment, params)
    without = take_step(0)
    with_decay = take_step(20)

    def check(p: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
        np.testing.assert_allclose(a - b, 0.01 * 20 * p, rtol=1e-3, atol=1e-6)

    jax.tree.map(check, params, without, with_decay)


def test_clip_norm_is_that_of_all_parameters_together():
    # eps dwarfs the rest of Adam's denominator: the update is the clipped gradient.
    config = OptimizerConfig(b1=0.0, b2=0.0, eps=1e6)
    optimizer = optimizers.make_optimizer(config)
    grads = {'a': jnp.array([3.0, 0.0]), 'b': jnp.array([[4.0]])}
    updates, _ = optimizer.update(grads, optimizer.init(grads))
    np.testing.assert_allclose(updates['a'] * 1e6, [0.6, 0.0], rtol=1e-5)
    np.testing.assert_allclose(updates['b'] * 1e6, [[0.8]], rtol=1e-5)
    np.testing.assert_allclose(optimizers.global_norm(grads), 5.0, rtol=1e-6)


def test_an_update_by_hand():
    params = {'a': jnp.array([1.0, -2.0])}
    updates = {'a': jnp.array([0.5, 0.0])}
    rate, decay = jnp.float32(0.1), jnp.float32(0.3)
    updated = optimizers.apply_update(params, updates, rate, decay)
    np.testing.assert_allclose(updated['a'], [0.92, -1.94], rtol=1e-6)
